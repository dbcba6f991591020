//! A comparison for spreadsheets, data frames and programs.

use std::io;

use serde_json::{Value, json};

use super::curve::SPENT;
use super::judge::judge;
use super::{Block, Comparison, CompetitionUnit, NotedCase};
use scavsim_search::search::Objective;

/// Cells of a row with the names of their columns.
pub(crate) type DataRow = Vec<(&'static str, Value)>;

macro_rules! row {
    ($($column:ident: $value:expr),* $(,)?) => {
        vec![$((stringify!($column), serde_json::json!($value))),*]
    };
}
pub(crate) use row;

/// The columns of a strategy in a block.
fn in_block(objective: Objective, repeats: u64, strategy: &str) -> DataRow {
    row! { objective: objective.name(), repeats: repeats, strategy: strategy }
}

/// The columns of a unit, and of a strategy on it.
fn on(unit: &CompetitionUnit, strategy: DataRow, own: DataRow) -> DataRow {
    let unit = row! {
        scenario: unit.scenario,
        workload: unit.workload,
        pricing: unit.policy,
        part: unit.part,
    };
    [unit, strategy, own].concat()
}

pub struct Cases<W: io::Write>(DataTable<W>);

impl<W: io::Write> Cases<W> {
    pub fn new(writer: W) -> Cases<W> {
        Cases(DataTable::new(writer))
    }

    pub fn write_case(&mut self, case: &NotedCase<'_>) -> io::Result<()> {
        let NotedCase { unit, seen, .. } = *case;
        let own = row! {
            replica: case.replica,
            net: seen.net,
            gross: seen.gross,
            regret: seen.regret,
            reason: seen.reason,
        };
        let strategy = in_block(case.objective, case.repeats, case.strategy);
        self.0.write(on(unit, strategy, own))
    }

    pub fn done(self) -> io::Result<W> {
        self.0.writer.into_inner().map_err(|e| e.into_error())
    }
}

/// Reasons of cases that failed, or had no figure, and their number; `None` if there are none.
pub fn failures(comparison: &Comparison) -> io::Result<Option<String>> {
    let blocks = comparison.blocks.iter();
    let rows: Vec<DataRow> = blocks.flat_map(of_block).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    table(rows.into_iter()).map(Some)
}

fn of_block(block: &Block) -> impl Iterator<Item = DataRow> {
    let units = block.units.iter().enumerate();
    units.flat_map(move |(at, unit)| {
        block.entries.iter().flat_map(move |entry| {
            let tally = &entry.units[at];
            tally.reasons.iter().map(move |(reason, count)| {
                let strategy = in_block(block.objective, block.repeats, &entry.strategy);
                let share = *count as f64 / tally.cases.max(1) as f64;
                on(
                    unit,
                    strategy,
                    row! { cases: count, share: share, reason: reason },
                )
            })
        })
    })
}

pub fn units(comparison: &Comparison) -> io::Result<String> {
    table(on_units(comparison))
}

fn on_units(comparison: &Comparison) -> impl Iterator<Item = DataRow> {
    comparison.blocks.iter().flat_map(|block| {
        let pairs =
            (0..block.units.len()).flat_map(|at| (0..block.entries.len()).map(move |of| (at, of)));
        pairs.map(move |(at, of)| on_unit(block, at, of))
    })
}

fn on_unit(block: &Block, at: usize, of: usize) -> DataRow {
    let (unit, entry) = (&block.units[at], &block.entries[of]);
    let tally = &entry.units[at];
    let share = |count: u64| count as f64 / tally.cases.max(1) as f64;
    let own = row! {
        cases: tally.cases,
        failed: tally.failed,
        without_figure: tally.without,
        net: tally.net(),
        gross: tally.gross(),
        regret: tally.regret(),
        exact: share(tally.exact),
        within_tenth: share(tally.near),
        failed_choices: tally.failed_choices(),
        history: tally.history(),
    };
    on(
        unit,
        in_block(block.objective, block.repeats, &entry.strategy),
        own,
    )
}

pub fn strategies(comparison: &Comparison) -> io::Result<String> {
    table(in_blocks(comparison))
}

fn in_blocks(comparison: &Comparison) -> impl Iterator<Item = DataRow> {
    comparison.blocks.iter().flat_map(|block| {
        let verdict = judge(block);
        let reference = verdict.reference;
        (block.entries.iter().zip(verdict.standings))
            .enumerate()
            .map(|(at, (entry, standing))| {
                let mut net = entry.net.clone();
                let against = standing.against;
                let own = row! {
                    net_mean: entry.mean(super::Tally::net),
                    net_median: net.median(),
                    net_p90: net.quantile(0.9),
                    rank: standing.rank,
                    rank_low: standing.rank_interval.map(|i| i.low),
                    rank_high: standing.rank_interval.map(|i| i.high),
                    reference: reference.map(|at| &block.entries[at].strategy),
                    ratio_to_reference: against.map(|against| against.ratio),
                    p: against.and_then(|against| against.p),
                    losses: standing.losses.len(),
                    failed_share: entry.share(|tally| tally.failed),
                    without_figure_share: entry.share(|tally| tally.without),
                    history_mean: entry.mean(super::Tally::history),
                    pays_after_jobs: block.pays_after(at),
                };
                [
                    in_block(block.objective, block.repeats, &entry.strategy),
                    own,
                ]
                .concat()
            })
            .collect::<Vec<_>>()
    })
}

pub fn curves(comparison: &Comparison) -> io::Result<String> {
    table(at_spent(comparison))
}

fn at_spent(comparison: &Comparison) -> impl Iterator<Item = DataRow> {
    comparison.blocks.iter().flat_map(|block| {
        (block.entries.iter()).flat_map(move |entry| {
            let medians = entry.curve.clone().medians();
            (SPENT.into_iter().zip(medians))
                .map(|(spent, median)| {
                    let own = row! { spent: spent, regret_median: median };
                    [
                        in_block(block.objective, block.repeats, &entry.strategy),
                        own,
                    ]
                    .concat()
                })
                .collect::<Vec<_>>()
        })
    })
}

/// The whole comparison for programs, as in the tables, with the prior knowledge of each strategy. `schema` counts incompatible changes.
pub fn value(comparison: &Comparison) -> Value {
    let object = |row: DataRow| row.into_iter().map(|(name, cell)| (name.to_owned(), cell));
    let objects = |rows: &mut dyn Iterator<Item = DataRow>| -> Value {
        rows.map(|row| Value::Object(object(row).collect()))
            .collect()
    };
    let told = (comparison.told.iter()).map(|told| {
        json!({
            "strategy": told.strategy,
            "objective": told.depends.objective,
            "prices": told.depends.prices,
            "known_runs": told.known_runs,
        })
    });
    json!({
        "schema": 1,
        "replicas": comparison.replicas,
        "told": told.collect::<Vec<_>>(),
        "strategies": objects(&mut in_blocks(comparison)),
        "units": objects(&mut on_units(comparison)),
        "curves": objects(&mut at_spent(comparison)),
    })
}

struct DataTable<W: io::Write> {
    writer: csv::Writer<W>,
    has_header: bool,
}

impl<W: io::Write> DataTable<W> {
    fn new(writer: W) -> DataTable<W> {
        DataTable {
            writer: csv::Writer::from_writer(writer),
            has_header: false,
        }
    }

    fn write(&mut self, row: DataRow) -> io::Result<()> {
        let (names, cells): (Vec<_>, Vec<_>) = row.into_iter().unzip();
        if !std::mem::replace(&mut self.has_header, true) {
            self.writer.write_record(names)?;
        }
        self.writer.serialize(cells).map_err(io::Error::other)
    }
}

pub(crate) fn table(rows: impl Iterator<Item = DataRow>) -> io::Result<String> {
    let mut table = DataTable::new(Vec::new());
    for row in rows {
        table.write(row)?;
    }
    let bytes = table.writer.into_inner();
    let bytes = bytes.map_err(|e| io::Error::other(e.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
