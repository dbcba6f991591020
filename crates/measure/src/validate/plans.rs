//! What the law of layers says of plans that somebody ran, and what runs that were left out say of it.
//!
//! In: a runtime and measured runs. Out: errors of foretold steps with nothing of them known, and with constants fitted to all
//! but those that are asked; how often 90 % intervals hold them; the constants that they move.
//!
//! - [`runs`]: the table of runs.

pub mod runs;

use rayon::prelude::*;

use scavsim_sim::parallel::law::constants::Constants;
use scavsim_sim::parallel::law::fit::{MeasuredRun, fit};
use scavsim_sim::parallel::runtime::RuntimePreset;
use scavsim_sim::parallel::runtime::preset::Errors;

use runs::PlanRow;

/// Parts into which many runs are cut to be left out; fewer are left out one by one.
const PARTS: usize = 10;
/// Runs up to which each is left out by itself.
const ONE_BY_ONE: usize = 20;
/// Numbers of runs that are given in the curve, the rest foretold.
pub const GIVEN: [usize; 5] = [0, 5, 10, 20, 50];
/// Draws of so many runs over which the curve is the mean.
const DRAWS: usize = 8;
/// Normal quantile of the ends of an interval that holds 90 of 100.
const NINETY: f64 = 1.645;
/// Fewest runs from which their own errors are told.
const FEWEST: usize = 8;

/// What was left out, and what the rest says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSplit {
    /// What was left out.
    pub left_out: &'static str,
    /// Groups that were, one after the other.
    pub groups: usize,
    /// Their runs.
    pub runs: usize,
    /// Mean of |foretold / measured − 1|.
    pub mean: f64,
    /// Its median.
    pub median: f64,
    /// Its largest, with the line of that run.
    pub worst: (f64, usize),
    /// Share of 90 % intervals that hold the measured step.
    pub covered: f64,
    /// Ninth decile of |ln(measured / foretold)|, over that of a normal: a standard deviation.
    pub spread: f64,
}

/// Errors where so many runs are given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// How many.
    pub given: usize,
    /// Mean of |foretold / measured − 1| of the others.
    pub mean: f64,
}

/// All that is told of runs.
#[derive(Debug, Clone)]
pub struct JudgedPlans {
    /// By what was left out.
    pub splits: Vec<PlanSplit>,
    /// By how many were given.
    pub curve: Vec<CurvePoint>,
    /// The constants fitted to all.
    pub constants: Constants,
    /// How far peak memory is off where it was measured: mean of |foretold / measured − 1|, worst, and the number of runs of which
    /// less was foretold.
    pub memory: Option<MemoryError>,
}

/// How far foretold peak memory is off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryError {
    /// Runs with a measured peak.
    pub runs: usize,
    /// Mean of |foretold / measured − 1|.
    pub mean: f64,
    /// Largest of them.
    pub worst: f64,
    /// Of how many less was foretold than measured.
    pub under: usize,
    /// Of how many the interval holds the measured peak.
    pub covered: f64,
}

/// What groups rows.
type Group = fn(&PlanRow) -> String;

/// Ways of leaving out groups.
const GROUPS: [(&str, Group); 4] = [
    ("a model", |row| row.measured.run.model.name.to_string()),
    ("a GPU", |row| row.measured.run.node.gpu.to_string()),
    ("a number of GPUs", |row| row.measured.run.gpus.to_string()),
    ("a tensor degree", |row| row.measured.run.tensor.to_string()),
];

/// Foretold over measured, in logarithms, of rows.
fn residuals<'r>(
    preset: &RuntimePreset,
    constants: &Constants,
    rows: impl IntoIterator<Item = &'r PlanRow>,
) -> Vec<(usize, f64)> {
    (rows.into_iter())
        .map(|row| (row.line, row.measured.residual(&preset.settings, constants)))
        .filter(|(_, residual)| residual.is_finite())
        .collect()
}

/// Judges a runtime by runs; `None` where a fit is not possible.
pub fn judge(preset: &RuntimePreset, rows: &[PlanRow]) -> Option<JudgedPlans> {
    let measured = |rows: &[&PlanRow]| -> Vec<MeasuredRun> {
        rows.iter().map(|row| row.measured.clone()).collect()
    };
    let all: Vec<&PlanRow> = rows.iter().collect();
    let constants = fit(&preset.prior, &preset.settings, &measured(&all))?;
    let mut splits = vec![split(
        "nothing fitted",
        vec![(
            residuals(preset, &preset.prior.medians, rows),
            &preset.errors,
            &all[..],
        )],
    )];
    if rows.len() >= 3 {
        let parts = if rows.len() <= ONE_BY_ONE {
            rows.len()
        } else {
            PARTS
        };
        let name = if rows.len() <= ONE_BY_ONE {
            "a run"
        } else {
            "a tenth"
        };
        // Neighbours in a table are alike: they are dealt out.
        let labels: Vec<String> = (0..rows.len()).map(|n| (n % parts).to_string()).collect();
        splits.extend(left_out(preset, &all, name, &labels));
        for (name, group) in GROUPS {
            let labels: Vec<String> = rows.iter().map(group).collect();
            splits.extend(left_out(preset, &all, name, &labels));
        }
    }
    Some(JudgedPlans {
        splits,
        curve: curve(preset, rows),
        constants,
        memory: memory(preset, &constants, rows),
    })
}

/// Residuals of runs that were left out, the errors that the rest tells, and which runs those were.
type Fold<'r> = (Vec<(usize, f64)>, &'r Errors, &'r [&'r PlanRow]);

/// Leaves out the rows of each label in turn; `None` where all have one.
fn left_out(
    preset: &RuntimePreset,
    rows: &[&PlanRow],
    name: &'static str,
    labels: &[String],
) -> Option<PlanSplit> {
    let mut groups: Vec<&String> = labels.iter().collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.len() < 2 {
        return None;
    }
    let folds: Vec<(Vec<(usize, f64)>, Errors, Vec<&PlanRow>)> = (groups.par_iter())
        .filter_map(|group| {
            let (out, kept): (Vec<_>, Vec<_>) =
                (rows.iter().zip(labels)).partition(|(_, label)| label == group);
            let kept: Vec<&PlanRow> = kept.into_iter().map(|(row, _)| *row).collect();
            let out: Vec<&PlanRow> = out.into_iter().map(|(row, _)| *row).collect();
            let measured: Vec<MeasuredRun> = kept.iter().map(|row| row.measured.clone()).collect();
            let constants = fit(&preset.prior, &preset.settings, &measured)?;
            let found = residuals(preset, &constants, out.iter().copied());
            Some((
                found,
                based_on(&preset.errors, &preset.precision, &kept),
                out,
            ))
        })
        .collect();
    let folds = folds
        .iter()
        .map(|(found, errors, out)| (found.clone(), errors, &out[..]));
    Some(split(name, folds.collect()))
}

/// Errors of a runtime where only some runs were measured.
fn based_on(errors: &Errors, precision: &str, kept: &[&PlanRow]) -> Errors {
    let mut gpus: Vec<String> = kept
        .iter()
        .map(|row| row.measured.run.node.gpu.to_string())
        .collect();
    gpus.sort_unstable();
    gpus.dedup();
    Errors {
        gpus,
        most_gpus: kept
            .iter()
            .map(|row| row.measured.run.gpus)
            .max()
            .unwrap_or(1),
        precisions: vec![precision.to_owned()],
        ..errors.clone()
    }
}

fn split(left_out: &'static str, folds: Vec<Fold<'_>>) -> PlanSplit {
    let mut errors: Vec<(f64, usize)> = Vec::new();
    let mut logarithms: Vec<f64> = Vec::new();
    let mut held = 0_usize;
    let groups = folds.len();
    for (found, spreads, rows) in folds {
        for (line, residual) in found {
            errors.push(((libm::exp(residual) - 1.0).abs(), line));
            logarithms.push(residual.abs());
            let Some(row) = rows.iter().find(|row| row.line == line) else {
                continue;
            };
            let run = &row.measured.run;
            let spread = spreads.spread(&[&run.node.gpu], run.gpus, &row.precision);
            held += usize::from(residual.abs() <= NINETY * spread);
        }
    }
    errors.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    logarithms.sort_unstable_by(f64::total_cmp);
    let count = errors.len().max(1) as f64;
    let at = |share: f64| (share * errors.len() as f64) as usize;
    PlanSplit {
        left_out,
        groups,
        runs: errors.len(),
        mean: errors.iter().map(|(error, _)| error).sum::<f64>() / count,
        median: errors.get(at(0.5)).map_or(0.0, |(error, _)| *error),
        worst: errors.last().copied().unwrap_or_default(),
        covered: held as f64 / count,
        spread: logarithms
            .get(at(0.9))
            .or(logarithms.last())
            .copied()
            .unwrap_or(0.0)
            / NINETY,
    }
}

/// Errors of the rest where some runs are given: drawn in a fixed order, eight times.
fn curve(preset: &RuntimePreset, rows: &[PlanRow]) -> Vec<CurvePoint> {
    let counts = GIVEN
        .into_iter()
        .filter(|given| given + FEWEST <= rows.len());
    let of = |given: usize| -> Option<CurvePoint> {
        let draws = if given == 0 { 1 } else { DRAWS };
        let means: Vec<f64> = (0..draws)
            .into_par_iter()
            .filter_map(|draw| {
                let order = dealt(rows.len(), draw as u64);
                let (some, others) = order.split_at(given);
                let measured: Vec<MeasuredRun> =
                    some.iter().map(|n| rows[*n].measured.clone()).collect();
                let constants = fit(&preset.prior, &preset.settings, &measured)?;
                let found = residuals(preset, &constants, others.iter().map(|n| &rows[*n]));
                let sum: f64 = found.iter().map(|(_, r)| (libm::exp(*r) - 1.0).abs()).sum();
                Some(sum / found.len().max(1) as f64)
            })
            .collect();
        let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
        Some(CurvePoint { given, mean })
    };
    counts.filter_map(of).collect()
}

/// Numbers up to `count` in an order of its own for each draw.
fn dealt(count: usize, draw: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_cached_key(|n| {
        // SplitMix64's finaliser: the order is the same everywhere.
        let mut z = (*n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (draw + 1);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27))
            .wrapping_mul(0x94d0_49bb_1331_11eb)
            .wrapping_add(draw);
        z ^ (z >> 31)
    });
    order
}

/// Why runs make no plan, by their lines.
pub fn misfits(preset: &RuntimePreset, rows: &[PlanRow]) -> Vec<String> {
    let of = |row: &PlanRow| {
        let run = &row.measured.run;
        let why = run
            .prepared(&preset.settings, &preset.prior.medians)
            .err()?;
        Some(format!("line {}: {why}", row.line))
    };
    rows.iter().filter_map(of).collect()
}

fn memory(preset: &RuntimePreset, constants: &Constants, rows: &[PlanRow]) -> Option<MemoryError> {
    let settings = preset.with(constants);
    let mut errors: Vec<f64> = Vec::new();
    for row in rows {
        let Some(peak_gib) = row.peak_gib else {
            continue;
        };
        let Ok(prepared) = row.measured.run.prepared(&settings, constants) else {
            continue;
        };
        let stages = 0..prepared.stages();
        let peak = stages
            .map(|stage| prepared.peak_memory_bytes(stage))
            .max()?;
        let gib = peak as f64 / scavsim_sim::parallel::memory::GIB;
        errors.push(gib / peak_gib - 1.0);
    }
    let runs = errors.len();
    (runs > 0).then(|| MemoryError {
        runs,
        mean: errors.iter().map(|e| e.abs()).sum::<f64>() / runs as f64,
        worst: errors
            .iter()
            .copied()
            .fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a }),
        under: errors.iter().filter(|e| **e < 0.0).count(),
        covered: errors
            .iter()
            .filter(|e| (1.0 / (1.0 + **e) - 1.0).abs() <= NINETY * preset.settings.memory_spread)
            .count() as f64
            / runs as f64,
    })
}

/// The runtime with the constants that runs tell, known as well as they tell them, and with errors of runs that were left out.
pub fn calibrated(preset: &RuntimePreset, rows: &[PlanRow], judged: &JudgedPlans) -> RuntimePreset {
    let all: Vec<&PlanRow> = rows.iter().collect();
    let mut own = preset.clone();
    own.prior.medians = judged.constants;
    own.settings = preset.with(&judged.constants);
    own.errors = based_on(&preset.errors, &preset.precision, &all);
    let by = |name: &str| judged.splits.iter().find(|split| split.left_out == name);
    if rows.len() >= FEWEST
        && let Some(split) = by("a run").or(by("a tenth"))
    {
        own.errors.step = split.spread;
    }
    if let Some(split) = by("a GPU") {
        own.errors.gpu = beside(split.spread, own.errors.step);
    }
    own
}

/// What has to be added in the square.
fn beside(whole: f64, part: f64) -> f64 {
    (whole * whole - part * part).max(0.0).sqrt()
}
