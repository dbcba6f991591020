//! The summary as a table that a person reads without a manual.

use std::fmt::Write;

use super::places::Places;
use super::summary_columns::{COLUMNS, TableColumn};
use super::text_table;
use crate::experiment::{Chosen, Group};

/// What titles compare with.
const ORACLE_LEGEND: (&str, &[&str]) = (
    "oracle",
    &["best in expectation over what nobody can know beforehand; in a single replica luck can beat it"],
);

/// What stands in front of the columns.
const CHOICE_LEGEND: (&str, &[&str]) = ("choice", &["workers × batch chosen most often"]);

/// More about the choice, where there are several VM types.
const VM_LEGEND: (&str, &[&str]) = (
    "",
    &["on how many VMs of which type, behind a slash the workers on each"],
);

/// One block per (workload, pricing, objective), one line per strategy; columns stand in the same
/// place in all blocks.
pub fn render(groups: &[Group], places: &Places) -> String {
    let same = |a: &Group, b: &Group| {
        (&a.workload, &a.pricing, &a.objective) == (&b.workload, &b.pricing, &b.objective)
    };
    let shown = Shown::of(groups, places);
    let is_there = |column: &&TableColumn| groups.iter().any(column.is_there);
    let columns: Vec<&TableColumn> = COLUMNS.iter().filter(is_there).collect();
    let mut head = vec!["strategy", "choice"];
    head.extend(columns.iter().map(|column| column.head));
    let row = |group: &Group| {
        let mut row = first_cells(group, shown);
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
        text.push_str(&title(&block[0], shown));
        text.push_str(&header.concat());
        text.push_str(&own.concat());
        text.push_str(&reached_in_search(block));
        text.push('\n');
    }
    let mut legends = vec![ORACLE_LEGEND, CHOICE_LEGEND];
    legends.extend(shown.with_vm.then_some(VM_LEGEND));
    legends.extend(columns.iter().map(|column| column.legend));
    for (word, lines) in legends {
        for (at, line) in lines.iter().enumerate() {
            let word = if at == 0 { word } else { "" };
            text.push_str(&format!("{word:<9}  {line}\n"));
        }
    }
    text
}

/// A line on the cases of a block in which the search itself came to the target; empty where there are none.
fn reached_in_search(block: &[Group]) -> String {
    let told = |group: &Group| {
        let percent = 100.0 * group.tallied.share("reached_in_search")?.share()?;
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
fn title(first: &Group, shown: Shown<'_>) -> String {
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
        Some(oracle) => place(oracle, shown),
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

/// Whether and how choices are shown with their VMs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'p> {
    with_vm: bool,
    places: &'p Places,
}

impl<'p> Shown<'p> {
    /// With them where there was more than one VM type to choose from, whatever was chosen.
    pub(super) fn of<'g>(
        groups: impl IntoIterator<Item = &'g Group>,
        places: &'p Places,
    ) -> Shown<'p> {
        let mut vms = groups
            .into_iter()
            .flat_map(|g| [&g.choice, &g.oracle])
            .flatten()
            .map(|chosen| &chosen.vm);
        let first = vms.next();
        let with_vm = places.several || vms.any(|vm| Some(vm) != first);
        Shown { with_vm, places }
    }
}

pub(super) fn place(chosen: &Chosen, shown: Shown<'_>) -> String {
    let (workers, batch) = (chosen.workers, chosen.batch);
    let counts: Vec<String> = [workers, batch]
        .iter()
        .flatten()
        .map(u32::to_string)
        .collect();
    let mut text = counts.join(" × ");
    let with_vm = shown.with_vm || counts.is_empty();
    if let Some(vm) = chosen.vm.as_deref().filter(|vm| with_vm && !vm.is_empty()) {
        let on = if text.is_empty() { "" } else { " on " };
        text.push_str(on);
        match workers.and_then(|workers| shown.places.vms(vm, workers)) {
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
fn first_cells(group: &Group, shown: Shown<'_>) -> Vec<String> {
    let choice = match &group.choice {
        Some(choice) => place(choice, shown),
        None => "none".to_owned(),
    };
    let mut name = group.strategy.clone();
    if group.tallied.failed > 0 {
        let _ = write!(name, " ({} failed)", group.tallied.failed);
    }
    vec![name, choice]
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
