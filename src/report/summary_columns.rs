//! The columns of the summary table, from left to right. A column is an entry of the list.

use std::fmt::Write;

use super::percent::{lengths, right, signed, typical};
use super::summary_table::{hours_text, usd_text};
use crate::experiment::Group;
use crate::search::Objective;
use crate::stats::{Interval, Ratio};

/// A column: its head, what it means, and its cell. Columns that may be absent say when they are there.
pub(super) struct TableColumn {
    pub(super) head: &'static str,
    /// What stands below all tables: the word, and the lines that explain it.
    pub(super) legend: (&'static str, &'static [&'static str]),
    pub(super) is_there: fn(&Group) -> bool,
    pub(super) cell: fn(&Group) -> String,
}

pub(super) const COLUMNS: [TableColumn; 11] = [
    TableColumn {
        head: "right",
        legend: (
            "right",
            &[
                "share of replicas whose choice is worth what the oracle's is, with its 95 % interval",
            ],
        ),
        is_there: always,
        cell: |group| right(&group.tallied),
    },
    TableColumn {
        head: "depth",
        legend: (
            "depth",
            &[
                "of the choice below the line between the ends of the oracle's front, over that of the knee",
            ],
        ),
        is_there: |group| group.mean("knee_depth").is_some(),
        cell: |group| mean_text(group, "knee_depth", |depth| format!("{depth:.2}")),
    },
    TableColumn {
        head: "regret t / $",
        legend: (
            "regret",
            &[
                "expected time (t) and cost ($) of the choice over the oracle's, both without search",
            ],
        ),
        is_there: always,
        cell: |group| {
            pair_text(group, ["regret_time", "regret_cost"], |group, metric| {
                Some(signed(group.mean(metric)?.mean))
            })
        },
    },
    TableColumn {
        head: "search",
        legend: (
            "search",
            &["time and cost until the choice begins to train"],
        ),
        is_there: always,
        cell: |group| spent_text(group, ["search_time_h", "search_cost_usd"]),
    },
    TableColumn {
        head: "knowledge",
        legend: (
            "knowledge",
            &["time and cost of the earlier runs behind the strategy"],
        ),
        is_there: |group| {
            group
                .mean("known_time_h")
                .is_some_and(|hours| hours.mean > 0.0)
        },
        cell: known_text,
    },
    TableColumn {
        head: "gross t / $",
        legend: (
            "gross",
            &["realised total over the oracle in the same replica, search steps lost"],
        ),
        is_there: always,
        cell: |group| {
            pair_text(
                group,
                ["overhead_gross_time", "overhead_gross_cost"],
                |group, metric| Some(typical(group, metric)?.text()),
            )
        },
    },
    TableColumn {
        head: "net t / $",
        legend: (
            "net",
            &[
                "the same, search steps counted as training; ± 95 % interval",
                "~: median, where few replicas carry the mean",
            ],
        ),
        is_there: always,
        cell: |group| {
            pair_text(
                group,
                ["overhead_net_time", "overhead_net_cost"],
                |group, metric| Some(typical(group, metric)?.text_with_interval()),
            )
        },
    },
    TableColumn {
        head: "kept c/g/n",
        legend: (
            "kept",
            &[
                "share of replicas within all limits: choice alone, gross, net; regret, gross, net are of these",
            ],
        ),
        is_there: |group| group.tallied.share("kept_net").is_some(),
        cell: |group| {
            three_text(["kept_choice", "kept_gross", "kept_net"].map(|kept| {
                let share = group.tallied.share(kept)?.share()?;
                Some(format!("{:.0}", 100.0 * share))
            }))
        },
    },
    TableColumn {
        head: "excess c/g/n",
        legend: (
            "excess",
            &["how far the others are beyond a limit, in the mean"],
        ),
        is_there: |group| group.tallied.share("kept_net").is_some(),
        cell: |group| {
            three_text(
                ["excess_choice", "excess_gross", "excess_net"]
                    .map(|excess| Some(format!("{:.1}", 100.0 * group.mean(excess)?.mean))),
            )
        },
    },
    TableColumn {
        head: "repaid",
        legend: (
            "repaid",
            &[
                "jobs after which search and knowledge have paid for themselves against `default`, mean over",
                "mean; in brackets the share of replicas whose choice saves nothing",
            ],
        ),
        is_there: always,
        cell: repaid_text,
    },
    TableColumn {
        head: "error (max)",
        legend: (
            "error",
            &["mean over configurations of |predicted - expected time| / expected time"],
        ),
        is_there: always,
        cell: |group| {
            let mean = |metric| Some(group.mean(metric)?.mean);
            match (mean("error_mean"), mean("error_max")) {
                (Some(mean), Some(max)) => format!("{:.1} ({:.1}) %", 100.0 * mean, 100.0 * max),
                _ => none(),
            }
        },
    },
];

fn always(_: &Group) -> bool {
    true
}

/// Where there is no figure.
fn none() -> String {
    "–".to_owned()
}

fn mean_text(group: &Group, metric: &str, text: fn(f64) -> String) -> String {
    group.mean(metric).map_or_else(none, |mean| text(mean.mean))
}

/// Percent of time and of cost.
fn pair_text(
    group: &Group,
    metrics: [&str; 2],
    text: fn(&Group, &str) -> Option<String>,
) -> String {
    match metrics.map(|metric| text(group, metric)) {
        [Some(time), Some(cost)] => format!("{time} / {cost} %"),
        _ => none(),
    }
}

/// Percent of the choice, gross and net.
fn three_text(parts: [Option<String>; 3]) -> String {
    let parts = parts.map(|part| part.unwrap_or_else(none));
    format!("{} %", parts.join("/"))
}

/// Hours and USD that had been spent on earlier runs, which are long.
fn known_text(group: &Group) -> String {
    let round = |metric| Some(group.mean(metric)?.mean);
    match (round("known_time_h"), round("known_cost_usd")) {
        (Some(0.0), _) => "none".to_owned(),
        (Some(hours), Some(usd)) if hours >= 10.0 => format!("{hours:.0} h, ${usd:.0}"),
        _ => spent_text(group, ["known_time_h", "known_cost_usd"]),
    }
}

/// Hours and USD that were spent on something.
fn spent_text(group: &Group, metrics: [&str; 2]) -> String {
    match metrics.map(|metric| group.mean(metric).map(|mean| mean.mean)) {
        [Some(hours), Some(usd)] if hours > 0.0 => {
            format!("{}, {}", hours_text(hours), usd_text(usd))
        }
        [Some(hours), None] if hours > 0.0 => hours_text(hours),
        [Some(_), _] => "none".to_owned(),
        _ => none(),
    }
}

fn repaid_text(group: &Group) -> String {
    let never = group.tallied.share("never_repaid");
    let Some(Ratio { ratio, low, high }) = group.tallied.repaid else {
        let saved = match group.objective == Objective::Time.name() {
            true => group.mean("saved_time_h"),
            false => group.mean("saved_cost_usd"),
        };
        return match saved {
            Some(saved) if never.is_some() && saved.mean <= 0.0 => "never".to_owned(),
            _ => none(),
        };
    };
    let decimals = match ratio {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    let mut text = format!("{ratio:.decimals$}");
    if let Some(low) = low {
        let high = high.unwrap_or(f64::INFINITY);
        text += &lengths(Interval { low, high }, ratio, 1.0, decimals).replace("inf", "∞");
    }
    text += " ×";
    if let Some(never) = never.filter(|never| never.yes > 0) {
        let share = never.yes as f64 / never.count as f64;
        let _ = write!(text, " ({:.0} %)", (100.0 * share).max(1.0));
    }
    text
}
