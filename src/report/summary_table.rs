//! The summary as a table that a person reads without a manual.

use std::fmt::Write;

use super::text_table;
use crate::configuration::Shape;
use crate::experiment::summary::Aggregate;
use crate::experiment::{Chosen, Group};

const HEADER: [&str; 9] = [
    "strategy",
    "choice",
    "right",
    "regret t / $",
    "search",
    "gross t / $",
    "net t / $",
    "repaid",
    "error (max)",
];

/// What the columns mean, once below all tables.
pub const LEGEND: &str = "\
choice   workers × batch chosen most often; right: share of replicas that chose as the oracle did
regret   expected time (t) and cost ($) of the choice over the oracle's choice, both without search
search   time and cost until the choice begins to train
gross    realised total over the oracle in the same replica, search steps lost; ± 95 % interval
net      the same, search steps counted as training
repaid   repetitions of the job after which the search has paid for itself against `default`
error    mean over configurations of |predicted - expected time| / expected time
";

/// More about the choice, where there are several VM types.
const VM_LEGEND: &str =
    "         on how many VMs of which type, behind a slash the workers on each\n";

/// One block per (workload, pricing, objective), one line per strategy; columns stand in the same
/// place in all blocks.
pub fn render(groups: &[Group]) -> String {
    let same = |a: &Group, b: &Group| {
        (&a.workload, &a.pricing, &a.objective) == (&b.workload, &b.pricing, &b.objective)
    };
    let with_vm = several_vm_types(groups);
    let rows: Vec<Vec<String>> = groups.iter().map(|g| row(g, with_vm)).collect();
    let lines = text_table::lines(&HEADER, &[0], &rows);
    let (header, mut rest) = lines.split_at(1);
    let mut text = String::new();
    for block in groups.chunk_by(same) {
        let (own, others) = rest.split_at(block.len());
        rest = others;
        text.push_str(&title(&block[0], with_vm));
        text.push_str(&header.concat());
        text.push_str(&own.concat());
        text.push_str(&reached_in_search(block));
        text.push('\n');
    }
    let (choice, others) = LEGEND.split_at(LEGEND.find('\n').map_or(0, |end| end + 1));
    text.push_str(choice);
    if with_vm {
        text.push_str(VM_LEGEND);
    }
    text.push_str(others);
    text
}

/// A line on the cases of a block in which the search itself came to the target; empty where there are none.
fn reached_in_search(block: &[Group]) -> String {
    let told = |group: &Group| {
        let reached = group.aggregate("reached_in_search")?;
        let percent = 100.0 * reached.mean;
        (percent > 0.0).then(|| format!("{} {percent:.0} %", group.strategy))
    };
    let all: Vec<String> = block.iter().filter_map(told).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(
            "target reached during the search, where net ends: {}\n",
            all.join(", ")
        ),
    }
}

/// What a block is about, and the oracle's choice.
fn title(first: &Group, with_vm: bool) -> String {
    let replicas = match first.replicas {
        1 => "1 replica".to_owned(),
        n => format!("{n} replicas"),
    };
    let mut title = format!(
        "{} · {} · {} · {replicas}",
        first.workload, first.pricing, first.objective
    );
    let mean = |metric| first.aggregate(metric).map(|a| a.mean);
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

fn row(group: &Group, with_vm: bool) -> Vec<String> {
    let choice = match &group.choice {
        Some(choice) => place(choice, with_vm),
        None => "none".to_owned(),
    };
    let mut name = group.strategy.clone();
    if group.failed > 0 {
        let _ = write!(name, " ({} failed)", group.failed);
    }
    let mean = |metric| group.aggregate(metric).map(|a| a.mean);
    let search = match (mean("search_time_h"), mean("search_cost_usd")) {
        (Some(hours), Some(usd)) if hours > 0.0 => {
            format!("{}, {}", hours_text(hours), usd_text(usd))
        }
        (Some(_), _) => "none".to_owned(),
        _ => "–".to_owned(),
    };
    let pair = |time, cost| match (group.aggregate(time), group.aggregate(cost)) {
        (Some(time), Some(cost)) => {
            let percent = |a: &Aggregate| percent(a.mean, a.half_interval);
            format!("{} / {} %", percent(time), percent(cost))
        }
        _ => "–".to_owned(),
    };
    let regret = match (mean("regret_time"), mean("regret_cost")) {
        (Some(time), Some(cost)) => format!("{} / {} %", signed(time), signed(cost)),
        _ => "–".to_owned(),
    };
    let break_even = match mean("break_even_jobs") {
        Some(jobs) if search == "none" && jobs == 0.0 => "–".to_owned(),
        Some(jobs) => format!("{jobs:.2} ×"),
        None if search == "none" => "–".to_owned(),
        None => "never".to_owned(),
    };
    let error = match (mean("error_mean"), mean("error_max")) {
        (Some(mean), Some(max)) => format!("{:.1} ({:.1}) %", 100.0 * mean, 100.0 * max),
        _ => "–".to_owned(),
    };
    vec![
        name,
        choice,
        format!("{:.0} %", 100.0 * group.right),
        regret,
        search,
        pair("overhead_gross_time", "overhead_gross_cost"),
        pair("overhead_net_time", "overhead_net_cost"),
        break_even,
        error,
    ]
}

/// A fraction in percent, with half its interval where there is one.
pub(super) fn percent(fraction: f64, half_interval: Option<f64>) -> String {
    let mean = signed(fraction);
    match half_interval {
        Some(half) if is_many_times(fraction) => format!("{mean} ±{:.0}", 100.0 * half),
        Some(half) => format!("{mean} ±{:.1}", 100.0 * half),
        None => mean,
    }
}

/// Percent with a sign; beyond ten times as much, tenths say nothing.
pub(super) fn signed(fraction: f64) -> String {
    match is_many_times(fraction) {
        true => format!("{:+.0}", 100.0 * fraction),
        false => format!("{:+.1}", no_minus_zero(fraction)),
    }
}

fn is_many_times(fraction: f64) -> bool {
    fraction.abs() >= 10.0
}

/// In percent, and −0.0 as 0.0.
pub(super) fn no_minus_zero(fraction: f64) -> f64 {
    let rounded = (1000.0 * fraction).round() / 10.0;
    if rounded == 0.0 { 0.0 } else { rounded }
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
