//! Parallel plans in a ranking: their short names, their figures, and the legend.

use super::ranking_layout::{INTERVAL, Layout, figure, interval};
use scavsim_base::text::Column;
use scavsim_base::text::words::{or_dash, whole_share};
use scavsim_experiment::Ranked;

/// Replaces communication that is part of the seconds of measured layers.
const IN_THE_PROFILE: &str = "in the profile";
/// Marks a plan that may not fit.
const MAY_NOT_FIT: &str = "(?)";

/// The configuration's values on its other axes, each with its name.
fn axes(row: &Ranked) -> impl Iterator<Item = (&str, &str)> {
    let other = row.other.as_deref().unwrap_or_default();
    other.split(';').filter_map(|axis| axis.split_once('='))
}

/// A parallel plan in short form; its market has a column, or is shared by all.
pub(super) fn plan(row: &Ranked, with_batch: bool) -> String {
    let batch = row.batch.filter(|_| with_batch);
    let batch = batch.map(|batch| format!("b{batch}"));
    let axes = axes(row).filter_map(|(name, value)| in_short(name, value));
    let may_not_fit = row.plan.as_ref().is_some_and(|plan| plan.may_not_fit);
    let mark = may_not_fit.then(|| MAY_NOT_FIT.to_owned());
    let parts: Vec<String> = batch.into_iter().chain(axes).chain(mark).collect();
    parts.join(" ")
}

/// An axis of a plan in common notation: degrees by letters, forms by words. Usual values are left out.
fn in_short(name: &str, value: &str) -> Option<String> {
    match (name, value) {
        ("market", _)
        | ("virtual_stages" | "context" | "expert" | "compress", "1")
        | ("recompute" | "shard", "none")
        | ("sequence_parallel" | "offload", "no") => None,
        ("data" | "pipeline" | "tensor" | "micro_batch", _)
        | ("virtual_stages" | "context" | "expert", _) => Some(format!("{}{value}", &name[..1])),
        ("schedule", _) => Some(value.trim_end_matches("-1f1b").to_owned()),
        ("recompute" | "shard", _) => Some(format!("{}:{value}", &name[..2])),
        ("sequence_parallel", _) => Some("sp".to_owned()),
        ("offload", _) => Some(name.to_owned()),
        ("compress", _) => Some(format!("{name}:{value}")),
        _ => Some(format!("{name}={value}")),
    }
}

/// A figure of parallel plans.
struct PlanFigure {
    head: &'static str,
    what: &'static str,
    /// The first layout that leaves it out.
    without: Layout,
    text: fn(&Ranked) -> Option<String>,
}

/// From left to right.
const FIGURES: [PlanFigure; 6] = [
    PlanFigure {
        head: "GiB",
        what: "most that a GPU holds",
        without: Layout::NoPlanFigures,
        text: |row| Some(figure(row.plan.as_ref()?.peak_gib)),
    },
    PlanFigure {
        head: "bubble",
        what: "share of a step in which the last stage waits for others",
        without: Layout::FewPlanFigures,
        text: |row| Some(whole_share(row.plan.as_ref()?.bubble)),
    },
    PlanFigure {
        head: "comm.",
        what: "share of a step that is communication which nothing hides; `in the profile`: measured layers hold some, untold",
        without: Layout::FewPlanFigures,
        text: |row| {
            let share = row.plan.as_ref()?.communication;
            Some(share.map_or_else(|| IN_THE_PROFILE.to_owned(), whole_share))
        },
    },
    PlanFigure {
        head: "token/s",
        what: "tokens of a second of training, without luck and losses",
        without: Layout::FewPlanFigures,
        text: |row| Some(figure(row.plan.as_ref()?.tokens_per_s)),
    },
    PlanFigure {
        head: "MFU",
        what: "FLOPs of the model's tokens over those of all GPUs at their peak; none of a profile",
        without: Layout::NoPlanFigures,
        text: |row| row.plan.as_ref()?.mfu.map(whole_share),
    },
    PlanFigure {
        head: "$/10⁹",
        what: "expected cost of 10⁹ tokens",
        without: Layout::NoPlanFigures,
        text: |row| row.usd_per_1e9_tokens().map(figure),
    },
];

/// The figures that a layout shows.
fn figures(layout: Layout) -> impl Iterator<Item = &'static PlanFigure> {
    const { &FIGURES }
        .iter()
        .filter(move |one| layout < one.without)
}

pub(super) fn plan_columns<'r>(layout: Layout, varies: bool) -> Vec<Column<'r, &'r Ranked>> {
    let column = |one: &'static PlanFigure| {
        Column::number(one.head, |row: &&Ranked| or_dash((one.text)(row)))
    };
    let mut columns: Vec<_> = figures(layout).map(column).collect();
    if layout < Layout::FewPlanFigures && varies {
        columns.push(Column::number(INTERVAL, |row: &&Ranked| {
            let per_usd = row
                .usd_per_1e9_tokens()
                .map(|usd| usd / row.expected.cost_usd);
            or_dash(per_usd.map(|per| interval(row.cost_interval_usd(), |usd| figure(per * usd))))
        }));
    }
    columns
}

/// Lines of the legend.
pub(super) fn plan_lines(layout: Layout, may_not_fit: bool) -> Vec<(&'static str, &'static str)> {
    let mark = may_not_fit.then_some((
        MAY_NOT_FIT,
        "may not fit: a GPU is counted to hold nearly what it has, or a little more",
    ));
    let left_out = match layout {
        layout if layout < Layout::FewPlanFigures => None,
        Layout::FewPlanFigures => {
            Some("no room for bubble, communication, tokens a second: see --wide, or --format csv")
        }
        _ => Some(
            "no room for memory, bubble, communication, tokens, MFU: see --wide, or --format csv",
        ),
    };
    let lines = figures(layout).map(|one| (one.head, one.what));
    (mark.into_iter().chain(lines))
        .chain(left_out.map(|line| ("", line)))
        .collect()
}
