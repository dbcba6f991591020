//! A comparison for spreadsheets, data frames and programs.

use std::io;

use serde::Serialize;
use serde_json::{Value, json};

use super::curve::SPENT;
use super::judge::judge;
use super::{Block, Comparison, NotedCase};

#[derive(Serialize)]
struct StrategyUnitRow<'a> {
    scenario: &'a str,
    workload: &'a str,
    pricing: &'a str,
    part: u32,
    objective: &'a str,
    repeats: u64,
    strategy: &'a str,
    cases: u64,
    failed: u64,
    without_figure: u64,
    net: Option<f64>,
    gross: Option<f64>,
    regret: Option<f64>,
    exact: f64,
    within_tenth: f64,
    failed_choices: Option<f64>,
    history: Option<f64>,
}

#[derive(Serialize)]
struct StrategyBlockRow<'a> {
    objective: &'a str,
    repeats: u64,
    strategy: &'a str,
    net_mean: Option<f64>,
    net_median: Option<f64>,
    net_p90: Option<f64>,
    rank: f64,
    rank_low: Option<f64>,
    rank_high: Option<f64>,
    reference: Option<&'a str>,
    ratio_to_reference: Option<f64>,
    p: Option<f64>,
    losses: usize,
    failed_share: f64,
    without_figure_share: f64,
    history_mean: Option<f64>,
    pays_after_jobs: Option<f64>,
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

/// A row: a reason for which a strategy failed, or had no figure, on a unit.
#[derive(Serialize)]
struct OnFailure<'a> {
    scenario: &'a str,
    workload: &'a str,
    pricing: &'a str,
    part: u32,
    objective: &'a str,
    repeats: u64,
    strategy: &'a str,
    cases: u64,
    share: f64,
    reason: &'a str,
}

#[derive(Serialize)]
struct OfCase<'a> {
    scenario: &'a str,
    workload: &'a str,
    pricing: &'a str,
    part: u32,
    objective: &'a str,
    repeats: u64,
    strategy: &'a str,
    replica: u64,
    net: Option<f64>,
    gross: Option<f64>,
    regret: Option<f64>,
    reason: Option<&'a str>,
}

pub struct Cases<W: io::Write>(csv::Writer<W>);

impl<W: io::Write> Cases<W> {
    pub fn new(writer: W) -> Cases<W> {
        Cases(csv::Writer::from_writer(writer))
    }

    pub fn write_case(&mut self, case: &NotedCase<'_>) -> io::Result<()> {
        let NotedCase { unit, seen, .. } = *case;
        let row = OfCase {
            scenario: &unit.scenario,
            workload: &unit.workload,
            pricing: &unit.policy,
            part: unit.part,
            objective: case.objective.name(),
            repeats: case.repeats,
            strategy: case.strategy,
            replica: case.replica,
            net: seen.net,
            gross: seen.gross,
            regret: seen.regret,
            reason: seen.reason.as_deref(),
        };
        self.0.serialize(row).map_err(io::Error::other)
    }

    pub fn done(self) -> io::Result<W> {
        self.0.into_inner().map_err(|e| e.into_error())
    }
}

/// Why cases failed, or had no figure, and how many; `None` where none did.
pub fn failures(comparison: &Comparison) -> io::Result<Option<String>> {
    let blocks = comparison.blocks.iter();
    let rows: Vec<OnFailure<'_>> = blocks.flat_map(of_block).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    table(rows.into_iter()).map(Some)
}

fn of_block(block: &Block) -> impl Iterator<Item = OnFailure<'_>> {
    let units = block.units.iter().enumerate();
    units.flat_map(move |(at, unit)| {
        block.entries.iter().flat_map(move |entry| {
            let tally = &entry.units[at];
            tally.reasons.iter().map(move |(reason, count)| OnFailure {
                scenario: &unit.scenario,
                workload: &unit.workload,
                pricing: &unit.policy,
                part: unit.part,
                objective: block.objective.name(),
                repeats: block.repeats,
                strategy: &entry.strategy,
                cases: *count,
                share: *count as f64 / tally.cases.max(1) as f64,
                reason,
            })
        })
    })
}

pub fn units(comparison: &Comparison) -> io::Result<String> {
    table(on_units(comparison))
}

fn on_units(comparison: &Comparison) -> impl Iterator<Item = StrategyUnitRow<'_>> {
    comparison.blocks.iter().flat_map(|block| {
        let pairs =
            (0..block.units.len()).flat_map(|at| (0..block.entries.len()).map(move |of| (at, of)));
        pairs.map(move |(at, of)| on_unit(block, at, of))
    })
}

fn on_unit(block: &Block, at: usize, of: usize) -> StrategyUnitRow<'_> {
    let (unit, entry) = (&block.units[at], &block.entries[of]);
    let tally = &entry.units[at];
    let share = |count: u64| count as f64 / tally.cases.max(1) as f64;
    StrategyUnitRow {
        scenario: &unit.scenario,
        workload: &unit.workload,
        pricing: &unit.policy,
        part: unit.part,
        objective: block.objective.name(),
        repeats: block.repeats,
        strategy: &entry.strategy,
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
    }
}

pub fn strategies(comparison: &Comparison) -> io::Result<String> {
    table(in_blocks(comparison))
}

fn in_blocks(comparison: &Comparison) -> impl Iterator<Item = StrategyBlockRow<'_>> {
    comparison.blocks.iter().flat_map(|block| {
        let verdict = judge(block);
        let reference = verdict.reference;
        (block.entries.iter().zip(verdict.standings))
            .enumerate()
            .map(|(at, (entry, standing))| {
                let mut net = entry.net.clone();
                let against = standing.against;
                StrategyBlockRow {
                    objective: block.objective.name(),
                    repeats: block.repeats,
                    strategy: &entry.strategy,
                    net_mean: entry.mean(super::Tally::net),
                    net_median: net.median(),
                    net_p90: net.quantile(0.9),
                    rank: standing.rank,
                    rank_low: standing.rank_interval.map(|i| i.low),
                    rank_high: standing.rank_interval.map(|i| i.high),
                    reference: reference.map(|at| &*block.entries[at].strategy),
                    ratio_to_reference: against.map(|against| against.ratio),
                    p: against.and_then(|against| against.p),
                    losses: standing.losses.len(),
                    failed_share: entry.share(|tally| tally.failed),
                    without_figure_share: entry.share(|tally| tally.without),
                    history_mean: entry.mean(super::Tally::history),
                    pays_after_jobs: block.pays_after(at),
                }
            })
            .collect::<Vec<_>>()
    })
}

pub fn curves(comparison: &Comparison) -> io::Result<String> {
    table(at_spent(comparison))
}

fn at_spent(comparison: &Comparison) -> impl Iterator<Item = AtSpent<'_>> {
    comparison.blocks.iter().flat_map(|block| {
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
    })
}

/// All of it for programs, as the tables have it, with what each strategy was told. `schema` counts incompatible changes.
pub fn value(comparison: &Comparison) -> serde_json::Result<Value> {
    let strategies: Vec<StrategyBlockRow<'_>> = in_blocks(comparison).collect();
    let units: Vec<StrategyUnitRow<'_>> = on_units(comparison).collect();
    let curves: Vec<AtSpent<'_>> = at_spent(comparison).collect();
    let told = (comparison.told.iter()).map(|told| {
        json!({
            "strategy": told.strategy,
            "objective": told.depends.objective,
            "prices": told.depends.prices,
            "known_runs": told.known_runs,
        })
    });
    Ok(json!({
        "schema": 1,
        "replicas": comparison.replicas,
        "told": told.collect::<Vec<_>>(),
        "strategies": serde_json::to_value(strategies)?,
        "units": serde_json::to_value(units)?,
        "curves": serde_json::to_value(curves)?,
    }))
}

fn table<R: Serialize>(rows: impl Iterator<Item = R>) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(io::Error::other)?;
    }
    let bytes = writer.into_inner();
    let bytes = bytes.map_err(|e| io::Error::other(e.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
