//! The page of a leaderboard.

use std::path::PathBuf;

use super::contents::{Contents, Fact};
use super::sources::Source;
use super::tables::Table;
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_measure::bench::board::Board;
use scavsim_measure::bench::{Refusal, Suite, Verified};
use scavsim_measure::compare::{Block, Tally};

/// The page of folders that were verified; those that were refused are named.
pub fn contents(
    board: &Board,
    verified: &[Verified],
    refused: &[(PathBuf, Refusal)],
    suite: &Suite,
) -> Contents {
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    let cases = verified.first().map_or(0, |own| own.submission.cases);
    let source = |grid: &scavsim_measure::bench::suite::SuiteGrid| Source {
        name: grid.name.clone(),
        what: "measured grid".to_owned(),
        from: "scavsim bench cards".to_owned(),
        licence: grid.licence.clone(),
        hash: grid.rows.clone(),
    };
    let of_refused = |(folder, refusal): &(PathBuf, Refusal)| {
        let first = refusal.why.first().map_or("", String::as_str);
        // Where it lies is nobody's business.
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        format!("Refused: {name}: {first}")
    };
    let note = "Net overhead over the oracle, search included: mean over jobs, in percent. Ranks are means over jobs and blocks.";
    Contents {
        title: format!("Leaderboard of the suite {}", suite.name),
        facts: vec![
            fact("suite", format!("{} version {}", suite.name, suite.version)),
            fact("hash of the suite", suite.hash.clone()),
            fact("seed", suite.seed.to_string()),
            fact("searches of each", cases.to_string()),
            fact("scavsim", env!("CARGO_PKG_VERSION").to_owned()),
        ],
        sources: suite.grids.iter().map(source).collect(),
        headlines: board.headlines(),
        warnings: refused.iter().map(of_refused).collect(),
        figures: Vec::new(),
        missing: Vec::new(),
        tables: vec![
            Table::of("board", "Leaderboard", note.to_owned(), &board.sheet()),
            blocks(board),
        ],
        details: "{}".to_owned(),
    }
}

/// Every entry in every block.
fn blocks(board: &Board) -> Table {
    let all: Vec<(&Block, usize)> = (board.blocks.iter())
        .flat_map(|block| (0..block.entries.len()).map(move |at| (block, at)))
        .collect();
    type EntryRow<'b> = (&'b Block, usize);
    let percent = |head, of: fn(&Tally) -> Option<f64>| {
        Column::number(head, move |(block, at): &EntryRow<'_>| {
            let mean = block.entries[*at].mean(of);
            Cell::number(mean.map(|mean| 100.0 * mean), 1)
        })
    };
    let columns = [
        Column::text("objective", |(block, _): &EntryRow<'_>| {
            block.objective.name().to_owned()
        }),
        Column::number("R", |(block, _): &EntryRow<'_>| {
            Cell::number(Some(block.repeats as f64), 0)
        }),
        Column::text("name", |(block, at): &EntryRow<'_>| {
            block.entries[*at].strategy.clone()
        }),
        percent("net %", Tally::net),
        percent("gross %", Tally::gross),
        percent("regret %", Tally::regret),
        Column::number("fails %", |(block, at): &EntryRow<'_>| {
            let share = block.entries[*at].share(|tally| tally.failed + tally.without);
            Cell::number(Some(100.0 * share), 1)
        }),
    ];
    let note = "Each of them by each objective and number of runs.".to_owned();
    Table::of(
        "blocks",
        "By objective and runs",
        note,
        &Sheet::new(all, columns),
    )
}
