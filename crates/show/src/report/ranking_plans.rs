//! Parallel plans in a ranking: their names in short, their figures, and what is said of these.

use super::ranking_layout::{INTERVAL, Layout, figure, interval};
use scavsim_base::text::Column;
use scavsim_base::text::words::{or_dash, whole_share};
use scavsim_lab::experiment::Ranked;
use scavsim_sim::plans::PlanMetrics;

/// In place of communication that is part of the seconds of measured layers.
const IN_THE_PROFILE: &str = "in the profile";
/// Marks a plan that may not fit.
const MAY_NOT_FIT: &str = "(?)";
pub(super) fn plan(row: &Ranked, with_batch: bool) -> String {
    let batch = row.batch.filter(|_| with_batch);
    let batch = batch.map(|batch| format!("b{batch}"));
    let other = row.other.as_deref().unwrap_or_default();
    let axes = other.split(';').filter_map(in_short);
    let may_not_fit = row.plan.as_ref().is_some_and(|plan| plan.may_not_fit);
    let mark = may_not_fit.then(|| MAY_NOT_FIT.to_owned());
    let parts: Vec<String> = batch.into_iter().chain(axes).chain(mark).collect();
    parts.join(" ")
}

/// An axis of a plan, `name=value`, as people write plans: degrees by their letters, forms by their words. What is usual is left out.
fn in_short(axis: &str) -> Option<String> {
    let (name, value) = axis.split_once('=')?;
    let usual = |is_usual: bool, word: String| (!is_usual).then_some(word);
    match name {
        "market" => None,
        "data" | "pipeline" | "tensor" | "micro_batch" => Some(format!("{}{value}", &name[..1])),
        "virtual_stages" => usual(value == "1", format!("v{value}")),
        "context" => usual(value == "1", format!("c{value}")),
        "expert" => usual(value == "1", format!("e{value}")),
        "schedule" => Some(value.trim_end_matches("-1f1b").to_owned()),
        "recompute" => usual(value == "none", format!("re:{value}")),
        "shard" => usual(value == "none", format!("sh:{value}")),
        "sequence_parallel" => usual(value == "no", "sp".to_owned()),
        "offload" => usual(value == "no", "offload".to_owned()),
        _ => Some(axis.to_owned()),
    }
}

/// Figures of parallel plans, all or those that decide.
pub(super) fn plan_columns<'r>(all: bool, varies: bool) -> Vec<Column<'r, &'r Ranked>> {
    let of = |head, value: fn(&PlanMetrics) -> Option<String>| {
        Column::number(head, move |row: &&Ranked| {
            or_dash(row.plan.as_ref().and_then(value))
        })
    };
    let mut columns = vec![of("GiB", |plan| Some(figure(plan.peak_gib)))];
    if all {
        columns.extend([
            of("bubble", |plan| Some(whole_share(plan.bubble))),
            of("comm.", |plan| {
                Some(
                    plan.communication
                        .map_or_else(|| IN_THE_PROFILE.to_owned(), whole_share),
                )
            }),
            of("token/s", |plan| Some(figure(plan.tokens_per_s))),
        ]);
    }
    columns.push(of("MFU", |plan| plan.mfu.map(whole_share)));
    columns.push(Column::number("$/10⁹", |row: &&Ranked| {
        or_dash(row.usd_per_1e9_tokens().map(figure))
    }));
    if all && varies {
        columns.push(Column::number(INTERVAL, |row: &&Ranked| {
            let per_usd = row
                .usd_per_1e9_tokens()
                .map(|usd| usd / row.expected.cost_usd);
            or_dash(per_usd.map(|per| interval(row.cost_interval_usd(), |usd| figure(per * usd))))
        }));
    }
    columns
}

pub(super) fn plan_lines(
    layout: Layout,
    may_not_fit: bool,
    lines: &mut Vec<(&'static str, String)>,
) {
    let add = |word, line: &str| (word, line.to_owned());
    if may_not_fit {
        lines.push(add(
            MAY_NOT_FIT,
            "may not fit: a GPU is counted to hold nearly what it has, or a little more",
        ));
    }
    if layout >= Layout::NoPlanFigures {
        lines.push(add(
            "",
            "no room for memory, bubble, communication, tokens, MFU: see --wide, or --format csv",
        ));
        return;
    }
    lines.push(add("GiB", "most that a GPU holds"));
    if layout < Layout::FewPlanFigures {
        lines.extend([
            add(
                "bubble",
                "share of a step in which the last stage waits for others",
            ),
            add(
                "comm.",
                "share of a step that is communication which nothing hides; `in the profile`: measured layers hold some, untold",
            ),
            add(
                "token/s",
                "tokens of a second of training, without luck and losses",
            ),
        ]);
    }
    lines.extend([
        add(
            "MFU",
            "FLOPs of the model's tokens over those of all GPUs at their peak; none of a profile",
        ),
        add("$/10⁹", "expected cost of 10⁹ tokens"),
    ]);
    if layout >= Layout::FewPlanFigures {
        lines.push(add(
            "",
            "no room for bubble, communication, tokens a second: see --wide, or --format csv",
        ));
    }
}
