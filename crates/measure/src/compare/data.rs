//! A comparison for spreadsheets and data frames.

use std::io;

use serde::Serialize;

use super::curve::SPENT;
use super::judge::judge;
use super::{Block, Comparison};

/// A row: a strategy on a unit.
#[derive(Serialize)]
struct OnUnit<'a> {
    scenario: &'a str,
    workload: &'a str,
    pricing: &'a str,
    part: u32,
    objective: &'a str,
    repeats: u64,
    strategy: &'a str,
    cases: u64,
    without_figure: u64,
    net: Option<f64>,
    gross: Option<f64>,
    regret: Option<f64>,
    exact: f64,
    within_tenth: f64,
    failed_choices: Option<f64>,
}

/// A row: a strategy in a block.
#[derive(Serialize)]
struct InBlock<'a> {
    objective: &'a str,
    repeats: u64,
    strategy: &'a str,
    net_mean: Option<f64>,
    net_median: Option<f64>,
    net_p90: Option<f64>,
    rank: f64,
    rank_low: Option<f64>,
    rank_high: Option<f64>,
    ratio_to_best: Option<f64>,
    p: Option<f64>,
    losses: usize,
}

/// A row: median regret of a strategy at an amount spent.
#[derive(Serialize)]
struct AtSpent<'a> {
    objective: &'a str,
    repeats: u64,
    strategy: &'a str,
    spent: f64,
    regret_median: Option<f64>,
}

/// Every strategy on every unit.
///
/// # Errors
/// As a writer of CSV has them.
pub fn units(comparison: &Comparison) -> io::Result<String> {
    table(comparison.blocks.iter().flat_map(|block| {
        let pairs =
            (0..block.units.len()).flat_map(|at| (0..block.entries.len()).map(move |of| (at, of)));
        pairs.map(move |(at, of)| on_unit(block, at, of))
    }))
}

/// The row of strategy `of` on unit `at`.
fn on_unit(block: &Block, at: usize, of: usize) -> OnUnit<'_> {
    let (unit, entry) = (&block.units[at], &block.entries[of]);
    let tally = &entry.units[at];
    let share = |count: u64| count as f64 / tally.cases.max(1) as f64;
    OnUnit {
        scenario: &unit.scenario,
        workload: &unit.workload,
        pricing: &unit.policy,
        part: unit.part,
        objective: block.objective.name(),
        repeats: block.repeats,
        strategy: &entry.strategy,
        cases: tally.cases,
        without_figure: tally.without,
        net: tally.net(),
        gross: tally.gross(),
        regret: tally.regret(),
        exact: share(tally.exact),
        within_tenth: share(tally.near),
        failed_choices: tally.failed_choices(),
    }
}

/// Every strategy in every block.
///
/// # Errors
/// As a writer of CSV has them.
pub fn strategies(comparison: &Comparison) -> io::Result<String> {
    table(comparison.blocks.iter().flat_map(|block| {
        let verdict = judge(block);
        (block.entries.iter().zip(verdict.standings))
            .map(|(entry, standing)| {
                let mut net = entry.net.clone();
                let against = standing.against_best;
                InBlock {
                    objective: block.objective.name(),
                    repeats: block.repeats,
                    strategy: &entry.strategy,
                    net_mean: entry.mean(super::Tally::net),
                    net_median: net.median(),
                    net_p90: net.quantile(0.9),
                    rank: standing.rank,
                    rank_low: standing.rank_interval.map(|i| i.low),
                    rank_high: standing.rank_interval.map(|i| i.high),
                    ratio_to_best: against.map(|against| against.ratio),
                    p: against.and_then(|against| against.p),
                    losses: standing.losses.len(),
                }
            })
            .collect::<Vec<_>>()
    }))
}

/// Regret over what was spent.
///
/// # Errors
/// As a writer of CSV has them.
pub fn curves(comparison: &Comparison) -> io::Result<String> {
    table(comparison.blocks.iter().flat_map(|block| {
        (block.entries.iter()).flat_map(move |entry| {
            let medians = entry.curve.clone().medians();
            (SPENT.into_iter().zip(medians))
                .map(|(spent, regret_median)| AtSpent {
                    objective: block.objective.name(),
                    repeats: block.repeats,
                    strategy: &entry.strategy,
                    spent,
                    regret_median,
                })
                .collect::<Vec<_>>()
        })
    }))
}

/// Rows below their heads.
fn table<R: Serialize>(rows: impl Iterator<Item = R>) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(io::Error::other)?;
    }
    let bytes = writer.into_inner();
    let bytes = bytes.map_err(|e| io::Error::other(e.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
