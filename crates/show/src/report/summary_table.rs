//! The summary as a table that a person reads without a manual.

use super::headline;
use super::percent::{signs_in, typical};
use super::places::Places;
use super::summary_columns::{COLUMNS, TableColumn};
use scavsim_base::text::Page;
use scavsim_base::text::text_table::{self, Column, Fitted};
use scavsim_lab::experiment::{Chosen, Group};
use scavsim_search::search::{CLAIRVOYANT, ORACLE, Objective};

/// What titles compare with.
const ORACLE_LEGEND: (&str, &str) = (
    "oracle",
    "best in expectation over what nobody can know beforehand; in a single replica luck can beat it",
);

/// What stands in front of the columns.
const CHOICE_LEGEND: (&str, &str) = (
    "choice",
    "workers × batch chosen most often, on how many VMs of which type, behind a slash the workers on each",
);

/// Marks of choices that were not measured.
const MARKS: [(&str, &str, &str); 2] = [
    ("interpolated", "(i)", "interpolated between measurements"),
    ("extrapolated", "(e)", "extrapolated by laws"),
];

/// What the tables come to, in words; then one block per (setting, workload, pricing, objective), one line per strategy; then what
/// the words mean. Columns stand in the same place in all blocks.
pub fn render(groups: &[Group], places: &Places, page: &Page) -> String {
    let blocks: Vec<&[Group]> = groups.chunk_by(are_of_a_block).collect();
    let mut text = headline::all(&blocks, places, page);
    let mut seen = Seen::default();
    for block in &blocks {
        if block
            .iter()
            .all(|group| group.tallied.failed == group.tallied.cases)
        {
            // A table would have no figure.
            text.push_str(&title(block, places, page));
            text.push_str(&failures(block, page));
            text.push('\n');
            continue;
        }
        let is_there = |column: &&TableColumn| block.iter().any(column.is_there);
        let all: Vec<&TableColumn> = COLUMNS.iter().filter(is_there).collect();
        let table = text_table::fit(&columns(block, &all, places), page);
        seen.take(&all, &table);
        text.push_str(&title(block, places, page));
        text.push_str(&page.bold(&table.header));
        for (group, line) in block.iter().zip(&table.rows) {
            text.push_str(&painted(group, block, line, page));
        }
        text.push_str(&failures(block, page));
        text.push_str(&reached_in_search(block, page));
        text.push('\n');
    }
    let legend = legend(groups, &seen, &text, page);
    text + &legend + &places.below(page)
}

/// What was shown of all tables.
#[derive(Default)]
struct Seen {
    shown: Vec<&'static str>,
    left_out: Vec<&'static str>,
    is_short: bool,
}

impl Seen {
    fn take(&mut self, all: &[&TableColumn], table: &Fitted) {
        self.is_short |= table.is_short;
        for (at, column) in all.iter().enumerate() {
            // The first two columns are strategy and choice.
            let list = match table.shown.contains(&(at + 2)) {
                true => &mut self.shown,
                false => &mut self.left_out,
            };
            if !list.contains(&column.head) {
                list.push(column.head);
            }
        }
    }
}

/// What columns are asked for by, beside strategy and choice.
pub fn words() -> Vec<&'static str> {
    COLUMNS.iter().map(TableColumn::word).collect()
}

/// The same with what they mean.
pub fn meanings() -> impl Iterator<Item = (&'static str, &'static str)> {
    COLUMNS.iter().map(|column| (column.word(), column.meaning))
}

/// Whether two groups stand in the same table.
pub fn are_of_a_block(a: &Group, b: &Group) -> bool {
    fn key(g: &Group) -> [&String; 4] {
        [&g.setting, &g.workload, &g.pricing, &g.objective]
    }
    key(a) == key(b)
}

/// A stacked choice with many axes has lines no longer than this, or other columns would find no room.
const STACKED_WIDTH: usize = 40;

/// `text` with its longer lines broken between axes.
fn folded(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut axes = line.split(", ");
        lines.push(axes.next().unwrap_or_default().to_owned());
        for axis in axes {
            match lines.last_mut() {
                Some(last) if last.chars().count() + 2 + axis.chars().count() < STACKED_WIDTH => {
                    last.push_str(", ");
                    last.push_str(axis);
                }
                Some(last) => {
                    last.push(',');
                    lines.push(format!("  {axis}"));
                }
                None => {}
            }
        }
    }
    lines.join("\n")
}

fn columns(groups: &[Group], all: &[&TableColumn], places: &Places) -> Vec<Column<'static>> {
    let cells = |cell: &dyn Fn(&Group) -> String| groups.iter().map(cell).collect::<Vec<String>>();
    let choice = |between: &'static str| {
        cells(&|group| match &group.choice {
            Some(choice) => marked(place(choice, places, between), group.provenance.as_deref()),
            None => "none".to_owned(),
        })
    };
    let mut choices = Column::new("choice", true, 0, choice(" on "));
    let stacked = choice("\non ");
    choices.stacked = Some(stacked.iter().map(|text| folded(text)).collect());
    let mut columns = vec![Column::new("strategy", true, 0, cells(&name)), choices];
    columns.extend(all.iter().map(|column| {
        let mut own = Column::new(column.head, false, column.rank, cells(&column.cell));
        own.short = column.short.map(|short| cells(&short));
        own
    }));
    columns
}

fn legend(groups: &[Group], seen: &Seen, text: &str, page: &Page) -> String {
    let mut entries = vec![ORACLE_LEGEND, CHOICE_LEGEND];
    let is_chosen = |word: &str| groups.iter().any(|g| g.provenance.as_deref() == Some(word));
    let marks = MARKS.iter().filter(|(word, ..)| is_chosen(word));
    entries.extend(marks.map(|(_, mark, meaning)| (*mark, *meaning)));
    let shown = || {
        COLUMNS
            .iter()
            .filter(|column| seen.shown.contains(&column.head))
    };
    entries.extend(shown().map(|column| (column.word(), column.meaning)));
    if shown().any(|column| column.is_typical) && groups.iter().any(has_medians) {
        entries.push(("~", "median, where few replicas carry the mean"));
    }
    entries.extend(signs_in(text));
    let is_hidden = |column: &&TableColumn| {
        seen.left_out.contains(&column.head) && !seen.shown.contains(&column.head)
    };
    let hidden = COLUMNS.iter().filter(is_hidden);
    let hidden: Vec<&str> = hidden.map(TableColumn::word).collect();
    page.legend(entries)
        + &text_table::remark(&hidden, seen.is_short.then_some("95 % intervals"), page)
}

/// Whether something of a group is shown as a median.
fn has_medians(group: &Group) -> bool {
    let metrics = [
        "overhead_gross_time",
        "overhead_gross_cost",
        "overhead_net_time",
        "overhead_net_cost",
    ];
    (metrics.iter()).any(|metric| typical(group, metric).is_some_and(|value| value.is_median()))
}

/// A line in its colour.
fn painted(group: &Group, block: &[Group], line: &str, page: &Page) -> String {
    if group.tallied.failed > 0 {
        return page.failed(line);
    }
    match headline::best(block)
        .iter()
        .any(|best| std::ptr::eq(*best, group))
    {
        true => page.best(line),
        false => line.to_owned(),
    }
}

/// Why cases of a block have no result, each reason once.
fn failures(block: &[Group], page: &Page) -> String {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for group in block {
        for (reason, count) in &group.reasons {
            let who = match *count == group.tallied.cases {
                true => group.strategy.clone(),
                false => format!("{} ({count})", group.strategy),
            };
            match all.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) => names.push(who),
                None => all.push((reason, vec![who])),
            }
        }
    }
    let line = |(reason, names): (&str, Vec<String>)| {
        let names = match names.len() == block.len() && block.len() > 2 {
            true => "all".to_owned(),
            false => names.join(", "),
        };
        page.failed(&page.prose(&format!("no result: {names}: {reason}"), 3))
    };
    all.into_iter().map(line).collect()
}

/// A line on the cases of a block in which the search itself came to the target; empty where there are none.
fn reached_in_search(block: &[Group], page: &Page) -> String {
    let told = |group: &Group| {
        let percent = 100.0 * group.tallied.share("reached_in_search")?.share()?;
        (percent > 0.0).then(|| format!("{} {percent:.0} %", group.strategy))
    };
    let all: Vec<String> = block.iter().filter_map(told).collect();
    match all.is_empty() {
        true => String::new(),
        false => page.prose(
            &format!(
                "target reached during the search, where net ends: {}",
                all.join(", ")
            ),
            3,
        ),
    }
}

/// What a block is about, and the oracle's choice.
fn title(block: &[Group], places: &Places, page: &Page) -> String {
    let first = &block[0];
    // Where each VM type is searched by itself, cases are not replicas of each other.
    let cases = with_commas(first.tallied.cases);
    let cases = match (first.tallied.cases, first.oracle.is_some()) {
        (1, _) => "1 replica".to_owned(),
        (_, true) => format!("{cases} replicas"),
        (_, false) if first.tallied.failed == first.tallied.cases => format!("{cases} replicas"),
        (_, false) => format!("{cases} cases"),
    };
    let own = [
        first.setting.clone(),
        first.workload.clone(),
        places.policy(&first.pricing),
        first.objective.clone(),
    ];
    let own = own.into_iter().filter(|name| !name.is_empty());
    let oracle = oracle(block, places).map(|oracle| format!("oracle {oracle}"));
    page.bold(&page.parts(own.chain([cases]).chain(oracle), 2))
}

/// The oracle's choice in a block, with its time and cost.
pub(super) fn oracle(block: &[Group], places: &Places) -> Option<String> {
    let first = &block[0];
    let mean = |metric| block.iter().find_map(|g| g.mean(metric)).map(|m| m.mean);
    let (hours, usd) = mean("oracle_time_h").zip(mean("oracle_cost_usd"))?;
    let (hours, usd) = (hours_text(hours), usd_text(usd));
    Some(match &first.oracle {
        Some(oracle) => {
            let same = block.iter().find(|g| g.choice.as_ref() == Some(oracle));
            let provenance = same.and_then(|g| g.provenance.as_deref());
            let oracle = marked(place(oracle, places, " on "), provenance);
            format!("{oracle} ({hours}, {usd})")
        }
        None => format!("{hours}, {usd} in the mean, each VM type by itself"),
    })
}

/// Whether it is told the truth.
pub(super) fn is_all_knowing(group: &Group) -> bool {
    [ORACLE, CLAIRVOYANT].contains(&group.strategy.as_str())
}

/// What a block is about, as an objective.
pub(super) fn objective(group: &Group) -> Option<Objective> {
    [Objective::Time, Objective::Cost, Objective::Knee]
        .into_iter()
        .find(|objective| objective.name() == group.objective)
}

/// A configuration in words: workers × batch, `between`, its VMs.
pub(super) fn place(chosen: &Chosen, places: &Places, between: &str) -> String {
    let (workers, batch) = (chosen.workers, chosen.batch);
    let counts: Vec<String> = [workers, batch]
        .iter()
        .flatten()
        .map(u32::to_string)
        .collect();
    let mut text = counts.join(" × ");
    if let Some(vm) = chosen.vm.as_deref().filter(|vm| !vm.is_empty()) {
        text.push_str(if text.is_empty() { "" } else { between });
        text.push_str(&places.held(vm, workers));
    }
    if let Some(other) = &chosen.other {
        let comma = if text.is_empty() { "" } else { ", " };
        text.push_str(&format!("{comma}{}", other.replace(';', ", ")));
    }
    text
}

/// With a mark where it was not measured.
fn marked(place: String, provenance: Option<&str>) -> String {
    match MARKS.iter().find(|(word, ..)| Some(*word) == provenance) {
        Some((_, mark, _)) => format!("{place} {mark}"),
        None => place,
    }
}

/// Name of a strategy, and how often it failed.
fn name(group: &Group) -> String {
    match group.tallied.failed {
        0 => group.strategy.clone(),
        failed => format!("{} ({} failed)", group.strategy, with_commas(failed)),
    }
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

/// A count with a comma before every three digits.
pub fn with_commas(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_many_axes_is_folded_between_them() {
        let text = "512\non a2-ultragpu-4g, market=on-demand, data=32, pipeline=2, tensor=1";
        let lines = "512\non a2-ultragpu-4g, market=on-demand,\n  data=32, pipeline=2, tensor=1";
        assert_eq!(folded(text), lines);
        assert_eq!(folded("8 × 64\non 8 vm"), "8 × 64\non 8 vm");
    }

    #[test]
    fn counts_have_a_comma_before_every_three_digits() {
        let all = [0, 999, 1000, 202_000, 1_010_000].map(with_commas);
        assert_eq!(all, ["0", "999", "1,000", "202,000", "1,010,000"]);
    }
}
