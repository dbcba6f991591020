//! The summary as a table for people.

use super::choices::{MARKS, all_on, marked, oracle, place, shared_vm, shown};
use super::closest::best;
use super::group_summary::{failed_tone, with_failed};
use super::places::Places;
use super::summary_columns::{COLUMNS, TableColumn};
use super::{headline_table, policies_table, sweep_table};
use scavsim_base::text::words::plural_with_commas;
use scavsim_base::text::{Column, Page, Sheet, TableLayout, Tone, remark};
use scavsim_experiment::Group;

/// One block per (setting, workload, pricing, objective), one line per strategy; if there are many pricing policies, a line
/// per policy. The headline comes last, on the last screen. Columns are in the same place in all blocks.
pub fn render(groups: &[Group], places: &Places, page: &Page) -> String {
    let blocks: Vec<&[Group]> = groups.chunk_by(are_of_a_block).collect();
    let is_sweep = sweep_table::is_of(&blocks, places);
    let details = if is_sweep && !page.is_wide {
        policies_table::tables(groups, places, page)
    } else {
        tables(&blocks, places, page)
    };
    let mut remarks = places.below(page);
    if !remarks.is_empty() {
        remarks.push('\n');
    }
    if is_sweep {
        // The table of policies and the answer share a screen.
        return remarks + &details + &sweep_table::render(&blocks, page);
    }
    let earlier = headline_table::with_earlier_runs(&blocks, places, page);
    details + &earlier + &remarks + &headline_table::render(&blocks, places, page)
}

fn tables(blocks: &[&[Group]], places: &Places, page: &Page) -> String {
    let mut text = String::new();
    let mut seen = DisplayedColumns::default();
    for block in blocks {
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
        let best = best(block);
        let with_vm = common_vm(block, places).is_none();
        let columns = columns(&all, places, with_vm);
        let sheet = Sheet::new(*block, columns).toned(|group| tone(group, &best));
        let table = sheet.fit(page);
        seen.add_table(&all, &table);
        text.push_str(&title(block, places, page));
        text.push_str(&table.text(page));
        text.push_str(&failures(block, page));
        text.push_str(&reached_in_search(block, page));
        text.push('\n');
    }
    match seen.remark(page) {
        remark if remark.is_empty() => text,
        remark => text + &remark + "\n",
    }
}

#[derive(Default)]
struct DisplayedColumns {
    shown: Vec<&'static str>,
    left_out: Vec<&'static str>,
    is_short: bool,
}

impl DisplayedColumns {
    /// Columns that do not fit into some table, and that no other table shows.
    fn remark(&self, page: &Page) -> String {
        let is_hidden = |column: &&TableColumn| {
            self.left_out.contains(&column.head) && !self.shown.contains(&column.head)
        };
        let hidden = COLUMNS.iter().filter(is_hidden);
        let hidden: Vec<&str> = hidden.map(TableColumn::word).collect();
        remark(&hidden, self.is_short.then_some("95 % intervals"), page)
    }

    fn add_table(&mut self, all: &[&TableColumn], table: &TableLayout) {
        self.is_short |= table.is_short;
        for (at, column) in all.iter().enumerate() {
            // The first two columns are strategy and choice.
            let list = if table.shown.contains(&(at + 2)) {
                &mut self.shown
            } else {
                &mut self.left_out
            };
            if !list.contains(&column.head) {
                list.push(column.head);
            }
        }
    }
}

/// Words for requesting columns, in addition to strategy and choice.
pub fn column_words() -> Vec<&'static str> {
    COLUMNS.iter().map(TableColumn::word).collect()
}

/// The heads of columns and the words for requesting them, with their meanings.
pub fn meanings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let marks = MARKS.iter().map(|(_, mark, meaning)| (*mark, *meaning));
    let columns = COLUMNS.iter().flat_map(|column| {
        let head = (column.head != column.word()).then_some((column.head, column.meaning));
        std::iter::once((column.word(), column.meaning)).chain(head)
    });
    columns.chain(marks)
}

pub fn are_of_a_block(a: &Group, b: &Group) -> bool {
    fn key(g: &Group) -> [&String; 4] {
        [&g.setting, &g.workload, &g.pricing, &g.objective]
    }
    key(a) == key(b)
}

/// Maximum line length of a stacked choice with many axes, so that other columns fit.
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

/// The VM type of all choices of a block and of its oracle's, if it is the same.
fn common_vm<'g>(block: &'g [Group], places: &Places) -> Option<&'g str> {
    let all = |group: &'g Group| group.choice.iter().chain(&group.oracle);
    shared_vm(block.iter().flat_map(all), places).filter(|_| block.len() > 1)
}

fn columns<'b>(
    all: &[&'static TableColumn],
    places: &'b Places,
    with_vm: bool,
) -> Vec<Column<'b, &'b Group>> {
    let choice = move |group: &Group, between: &str| match &group.choice {
        Some(choice) => {
            let choice = place(&shown(choice, with_vm), places, between);
            marked(choice, group.provenance.as_deref())
        }
        None => "none".to_owned(),
    };
    let mut columns = vec![
        Column::text("strategy", |group: &&Group| {
            with_failed(&group.strategy, &group.tallied)
        }),
        Column::text("choice", move |group: &&Group| choice(group, " on "))
            .rank(0)
            .stacked(move |group| folded(&choice(group, "\non "))),
    ];
    columns.extend(all.iter().map(|column| column.declared()));
    columns
}

fn tone(group: &Group, best: &[&Group]) -> Tone {
    if group.tallied.failed == 0 && best.iter().any(|best| std::ptr::eq(*best, group)) {
        Tone::Best
    } else {
        failed_tone(&group.tallied)
    }
}

/// Reasons of cases without a result in a block, each once.
pub(super) fn failures(block: &[Group], page: &Page) -> String {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for group in block {
        for (reason, count) in &group.reasons {
            let who = if *count == group.tallied.cases {
                group.strategy.clone()
            } else {
                format!("{} ({count})", group.strategy)
            };
            match all.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) => names.push(who),
                None => all.push((reason, vec![who])),
            }
        }
    }
    let line = |(reason, names): (&str, Vec<String>)| {
        let names = if names.len() == block.len() && block.len() > 2 {
            "all".to_owned()
        } else {
            names.join(", ")
        };
        page.failed(&page.prose(&format!("no result: {names}: {reason}"), 3))
    };
    all.into_iter().map(line).collect()
}

/// A line on the cases of a block whose search itself reached the target; empty if there are none.
fn reached_in_search(block: &[Group], page: &Page) -> String {
    let told = |group: &Group| {
        let percent = 100.0 * group.tallied.share("reached_in_search")?.share()?;
        (percent > 0.0).then(|| format!("{} {percent:.0} %", group.strategy))
    };
    let all: Vec<String> = block.iter().filter_map(told).collect();
    if all.is_empty() {
        String::new()
    } else {
        page.prose(
            &format!(
                "target reached during the search, where net ends: {}",
                all.join(", ")
            ),
            3,
        )
    }
}

/// The subject of a block, and the oracle's choice.
fn title(block: &[Group], places: &Places, page: &Page) -> String {
    let first = &block[0];
    // If each VM type is searched separately, cases are not replicas of each other.
    let are_replicas = first.oracle.is_some() || first.tallied.failed == first.tallied.cases;
    let cases = match first.tallied.cases {
        1 => "1 replica".to_owned(),
        cases if are_replicas => plural_with_commas(cases, "replica"),
        cases => plural_with_commas(cases, "case"),
    };
    let own = [
        first.setting.clone(),
        first.workload.clone(),
        places.policy(&first.pricing),
        first.objective.clone(),
    ];
    let own = own.into_iter().filter(|name| !name.is_empty());
    let vm = common_vm(block, places);
    let oracle = oracle(block, places, vm.is_none()).map(|oracle| format!("oracle {oracle}"));
    let all = own.chain([cases]).chain(vm.map(all_on)).chain(oracle);
    page.bold(&page.parts(all, 2))
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
}
