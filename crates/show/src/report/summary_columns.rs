//! The columns of the summary table, from left to right. A column is an entry of the list.

use std::fmt::Write;

use super::choices::builds_on_runs;
use super::percent::{ends, mean_of, right, right_alone, typical};
use scavsim_base::stats::{Interval, Ratio};
use scavsim_base::text::Column;
use scavsim_base::text::words::{NONE, hours, or_dash, signed, usd};
use scavsim_experiment::Group;
use scavsim_search::search::Objective;

/// A column: its head, its meaning, and its cell. Optional columns have a condition.
pub(super) struct TableColumn {
    pub(super) head: &'static str,
    /// The rank of the column if not all fit; see [`Column`](scavsim_base::text::Column).
    pub(super) rank: u8,
    /// The explanation below all tables.
    pub(super) meaning: &'static str,
    pub(super) is_there: fn(&Group) -> bool,
    pub(super) cell: fn(&Group) -> String,
    /// The cell without its intervals, if it has some.
    pub(super) short: Option<fn(&Group) -> String>,
}

impl TableColumn {
    pub(super) fn declared<'g>(&'static self) -> Column<'g, &'g Group> {
        let column = Column::number(self.head, |group: &&Group| (self.cell)(group)).rank(self.rank);
        match self.short {
            Some(short) => column.short(move |group| short(group)),
            None => column,
        }
    }

    pub(super) fn word(&self) -> &'static str {
        self.head.split(' ').next().unwrap_or(self.head)
    }
}

pub(super) const COLUMNS: [TableColumn; 11] = [
    TableColumn {
        head: "right",
        rank: 1,
        meaning: "share of replicas whose choice is worth what the oracle's is, with its 95 % interval",
        is_there: always,
        cell: |group| right(&group.tallied),
        short: Some(|group| right_alone(&group.tallied)),
    },
    TableColumn {
        head: "depth",
        rank: 5,
        meaning: "of the choice below the line between the ends of the oracle's front, over that of the knee",
        is_there: |group| group.mean("knee_depth").is_some(),
        cell: |group| or_dash(mean_of(group, "knee_depth").map(|depth| format!("{depth:.2}"))),
        short: None,
    },
    TableColumn {
        head: "regret t / $",
        rank: 5,
        meaning: "expected time (t) and cost ($) of the choice over the oracle's, both without search",
        is_there: always,
        cell: |group| {
            pair_text(group, ["regret_time", "regret_cost"], |group, metric| {
                Some(signed(group.mean(metric)?.mean))
            })
        },
        short: None,
    },
    TableColumn {
        head: "search",
        rank: 3,
        meaning: "time and cost until the choice begins to train",
        is_there: always,
        cell: |group| spent_text(group, ["search_time_h", "search_cost_usd"]),
        short: None,
    },
    TableColumn {
        head: "knowledge",
        rank: 8,
        meaning: "time and cost of the earlier runs behind the strategy",
        is_there: builds_on_runs,
        cell: known_text,
        short: None,
    },
    TableColumn {
        head: "gross t / $",
        rank: 7,
        meaning: "realised total over the oracle in the same replica, search steps lost",
        is_there: always,
        cell: |group| {
            pair_text(
                group,
                ["overhead_gross_time", "overhead_gross_cost"],
                |group, metric| Some(typical(group, metric)?.text()),
            )
        },
        short: None,
    },
    TableColumn {
        head: "net t / $",
        rank: 2,
        meaning: "realised total over the oracle in the same replica, search steps counted as training; in brackets the 95 % interval",
        is_there: always,
        cell: |group| {
            pair_text(
                group,
                ["overhead_net_time", "overhead_net_cost"],
                |group, metric| Some(typical(group, metric)?.text_with_interval()),
            )
        },
        short: Some(|group| {
            pair_text(
                group,
                ["overhead_net_time", "overhead_net_cost"],
                |group, metric| Some(typical(group, metric)?.text()),
            )
        }),
    },
    TableColumn {
        head: "kept c/g/n",
        rank: 4,
        meaning: "share of replicas within all limits: choice alone, gross, net; regret, gross, net are of these",
        is_there: |group| group.tallied.share("kept_net").is_some(),
        cell: |group| {
            three_text(["kept_choice", "kept_gross", "kept_net"].map(|kept| {
                let share = group.tallied.share(kept)?.share()?;
                Some(format!("{:.0}", 100.0 * share))
            }))
        },
        short: None,
    },
    TableColumn {
        head: "excess c/g/n",
        rank: 9,
        meaning: "how far the others are beyond a limit, in the mean",
        is_there: |group| group.tallied.share("kept_net").is_some(),
        cell: |group| {
            three_text(
                ["excess_choice", "excess_gross", "excess_net"]
                    .map(|excess| Some(format!("{:.1}", 100.0 * group.mean(excess)?.mean))),
            )
        },
        short: None,
    },
    TableColumn {
        head: "repaid",
        rank: 6,
        meaning: "jobs after which search and knowledge have paid for themselves against `default`, mean over mean; in brackets the share of replicas whose choice saves nothing",
        is_there: always,
        cell: |group| repaid_text(group, true),
        short: Some(|group| repaid_text(group, false)),
    },
    TableColumn {
        head: "error (max)",
        rank: 10,
        meaning: "mean over configurations of |predicted - expected time| / expected time",
        is_there: always,
        cell: |group| match (mean_of(group, "error_mean"), mean_of(group, "error_max")) {
            (Some(mean), Some(max)) => format!("{:.1} ({:.1}) %", 100.0 * mean, 100.0 * max),
            _ => NONE.to_owned(),
        },
        short: None,
    },
];

fn always(_: &Group) -> bool {
    true
}

/// Percent of time and of cost.
fn pair_text(
    group: &Group,
    metrics: [&str; 2],
    text: fn(&Group, &str) -> Option<String>,
) -> String {
    match metrics.map(|metric| text(group, metric)) {
        [Some(time), Some(cost)] => format!("{time} / {cost} %"),
        _ => NONE.to_owned(),
    }
}

/// Percent for the choice alone, gross and net.
fn three_text(parts: [Option<String>; 3]) -> String {
    let parts = parts.map(or_dash);
    format!("{} %", parts.join("/"))
}

/// Hours and USD of earlier runs; large values are rounded.
pub(super) fn known_text(group: &Group) -> String {
    match (
        mean_of(group, "known_time_h"),
        mean_of(group, "known_cost_usd"),
    ) {
        (Some(0.0), _) => "none".to_owned(),
        (Some(time), Some(cost)) if time >= 10.0 => format!("{time:.0} h, ${cost:.0}"),
        _ => spent_text(group, ["known_time_h", "known_cost_usd"]),
    }
}

/// Hours and USD of two metrics.
pub(super) fn spent_text(group: &Group, metrics: [&str; 2]) -> String {
    match metrics.map(|metric| mean_of(group, metric)) {
        [Some(time), Some(cost)] if time > 0.0 => {
            format!("{}, {}", hours(time), usd(cost))
        }
        [Some(time), None] if time > 0.0 => hours(time),
        [Some(_), _] => "none".to_owned(),
        _ => NONE.to_owned(),
    }
}

fn repaid_text(group: &Group, with_interval: bool) -> String {
    let never = group.tallied.share("never_repaid");
    let Some(Ratio { ratio, low, high }) = group.tallied.repaid else {
        let saved = if group.objective == Objective::Time.name() {
            group.mean("saved_time_h")
        } else {
            group.mean("saved_cost_usd")
        };
        return match saved {
            Some(saved) if never.is_some() && saved.mean <= 0.0 => "never".to_owned(),
            _ => NONE.to_owned(),
        };
    };
    let decimals = match ratio {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    let mut text = format!("{ratio:.decimals$}");
    if let Some(low) = low.filter(|_| with_interval) {
        let high = high.unwrap_or(f64::INFINITY);
        let interval = (Interval { low, high }, group.tallied.repaid_holds);
        text += &ends(interval, 1.0, decimals);
    }
    text += " ×";
    if let Some(never) = never.filter(|never| never.yes > 0) {
        let share = never.yes as f64 / never.count as f64;
        let _ = write!(text, " ({:.0} %)", (100.0 * share).max(1.0));
    }
    text
}
