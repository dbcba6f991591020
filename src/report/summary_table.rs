//! The summary as a table that a person reads without a manual.

use std::fmt::Write;

use super::percent::{lengths, right, signed, typical};
use super::text_table;
use crate::configuration::Shape;
use crate::experiment::{Chosen, Group};
use crate::search::Objective;
use crate::stats::{Interval, Ratio};

/// A column: its head, what it means, and its cell. Columns that may be absent say when they are there.
struct TableColumn {
    head: &'static str,
    /// What stands below all tables: the word, and the lines that explain it.
    legend: (&'static str, &'static [&'static str]),
    is_there: fn(&Group) -> bool,
    cell: fn(&Group) -> String,
}

const COLUMNS: [TableColumn; 11] = [
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

/// What stands in front of the columns.
const CHOICE_LEGEND: (&str, &[&str]) = ("choice", &["workers × batch chosen most often"]);

/// More about the choice, where there are several VM types.
const VM_LEGEND: (&str, &[&str]) = (
    "",
    &["on how many VMs of which type, behind a slash the workers on each"],
);

/// One block per (workload, pricing, objective), one line per strategy; columns stand in the same
/// place in all blocks.
pub fn render(groups: &[Group]) -> String {
    let same = |a: &Group, b: &Group| {
        (&a.workload, &a.pricing, &a.objective) == (&b.workload, &b.pricing, &b.objective)
    };
    let with_vm = several_vm_types(groups);
    let is_there = |column: &&TableColumn| groups.iter().any(column.is_there);
    let columns: Vec<&TableColumn> = COLUMNS.iter().filter(is_there).collect();
    let mut head = vec!["strategy", "choice"];
    head.extend(columns.iter().map(|column| column.head));
    let row = |group: &Group| {
        let mut row = first_cells(group, with_vm);
        row.extend(columns.iter().map(|column| (column.cell)(group)));
        row
    };
    let rows: Vec<Vec<String>> = groups.iter().map(row).collect();
    let lines = text_table::lines(&head, &[0], &rows);
    let (header, mut rest) = lines.split_at(1);
    let mut text = String::new();
    for block in groups.chunk_by(same) {
        let (own, others) = rest.split_at(block.len());
        rest = others;
        text.push_str(&title(&block[0], with_vm));
        text.push_str(&header.concat());
        text.push_str(&own.concat());
        text.push('\n');
    }
    let mut legends = vec![CHOICE_LEGEND];
    legends.extend(with_vm.then_some(VM_LEGEND));
    legends.extend(columns.iter().map(|column| column.legend));
    for (word, lines) in legends {
        for (at, line) in lines.iter().enumerate() {
            let word = if at == 0 { word } else { "" };
            text.push_str(&format!("{word:<9}  {line}\n"));
        }
    }
    text
}

/// What a block is about, and the oracle's choice.
fn title(first: &Group, with_vm: bool) -> String {
    let replicas = match first.tallied.cases {
        1 => "1 replica".to_owned(),
        n => format!("{n} replicas"),
    };
    let mut title = format!(
        "{} · {} · {} · {replicas}",
        first.workload, first.pricing, first.objective
    );
    let mean = |metric| first.mean(metric).map(|m| m.mean);
    let oracle = match &first.oracle {
        Some(oracle) => place(oracle, with_vm),
        None => "of each VM type by itself, in the mean".to_owned(),
    };
    if let (Some(hours), Some(usd)) = (mean("oracle_time_h"), mean("oracle_cost_usd")) {
        // Writing to a string cannot fail.
        let _ = write!(
            title,
            " · oracle {oracle} ({}, {})",
            hours_text(hours),
            usd_text(usd)
        );
    }
    title.push('\n');
    title
}

pub(super) fn several_vm_types<'g>(groups: impl IntoIterator<Item = &'g Group>) -> bool {
    let mut vms = groups
        .into_iter()
        .flat_map(|g| [&g.choice, &g.oracle])
        .flatten()
        .map(|chosen| &chosen.vm);
    let first = vms.next();
    vms.any(|vm| Some(vm) != first)
}

pub(super) fn place(chosen: &Chosen, with_vm: bool) -> String {
    let (workers, batch) = (chosen.workers, chosen.batch);
    let counts: Vec<String> = [workers, batch]
        .iter()
        .flatten()
        .map(u32::to_string)
        .collect();
    let mut text = counts.join(" × ");
    let shown = with_vm || counts.is_empty();
    if let Some(vm) = chosen.vm.as_deref().filter(|vm| shown && !vm.is_empty()) {
        let shape = Shape::parse(vm).ok();
        let on = if text.is_empty() { "" } else { " on " };
        text.push_str(on);
        match shape
            .zip(workers)
            .and_then(|(shape, workers)| shape.vms(workers))
        {
            Some(vms) => text.push_str(&format!("{vms} {vm}")),
            None => text.push_str(vm),
        }
    }
    if let Some(other) = &chosen.other {
        let comma = if text.is_empty() { "" } else { ", " };
        text.push_str(&format!("{comma}{}", other.replace(';', ", ")));
    }
    text
}

/// Name and choice.
fn first_cells(group: &Group, with_vm: bool) -> Vec<String> {
    let choice = match &group.choice {
        Some(choice) => place(choice, with_vm),
        None => "none".to_owned(),
    };
    let mut name = group.strategy.clone();
    if group.tallied.failed > 0 {
        let _ = write!(name, " ({} failed)", group.tallied.failed);
    }
    vec![name, choice]
}

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

/// Hours as people write them.
pub fn hours_text(hours: f64) -> String {
    if hours < 0.1 {
        format!("{:.1} min", 60.0 * hours)
    } else {
        format!("{hours:.2} h")
    }
}

/// USD to the cent.
pub fn usd_text(usd: f64) -> String {
    format!("${usd:.2}")
}
