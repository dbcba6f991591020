//! Predictions of the law of layers for measured plans: errors of predicted steps without their data, and with constants
//! fitted to all others; coverage of the 90 % intervals; the constants that change.

pub mod pace;
pub mod runs;

use std::sync::Arc;

use rayon::prelude::*;

use scavsim_parallel::gpu;
use scavsim_parallel::law::constants::{Constant, Constants};
use scavsim_parallel::law::fit::{FittedConstants, MeasuredRun, fit};
use scavsim_parallel::memory::GIB;
use scavsim_parallel::runtime::{Errors, PredictedPlan, preset};
use scavsim_parallel::runtime::{Runtime, RuntimePreset};

use runs::PlanRow;

/// Number of parts for holding out many runs; fewer are held out one by one.
const PARTS: usize = 10;
/// Maximum number of runs that are held out one by one.
const ONE_BY_ONE: usize = 20;
/// Numbers of given runs in the curve; the rest is predicted.
pub const GIVEN: [usize; 5] = [0, 5, 10, 20, 50];
/// Number of draws over which the curve is averaged.
const DRAWS: usize = 8;
/// Normal quantile of the ends of a 90 % interval.
const NINETY: f64 = 1.645;
/// Minimum number of runs for an error estimate of their own.
const FEWEST: usize = 8;
/// Weight of the prior errors, in runs.
const BEFORE: f64 = 2.0;
/// A fitted spread is at least this share of the prior's: another cluster differs from the measured one.
const FORGOTTEN: f64 = 0.5;
/// The name of the split by the largest runs.
const MOST: &str = "the most GPUs";

/// A hold-out, and its prediction from the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSplit {
    pub left_out: &'static str,
    /// Number of groups that were held out.
    pub groups: usize,
    /// Number of runs in them.
    pub runs: usize,
    /// Mean of |predicted / measured − 1|.
    pub mean: f64,
    /// Median of |predicted / measured − 1|.
    pub median: f64,
    /// Largest |predicted / measured − 1|, with the line of that run.
    pub worst: (f64, usize),
    /// Share of 90 % intervals that contain the measured step.
    pub covered: f64,
    /// Ninth decile of |ln(measured / predicted)|, over that of a normal: a standard deviation.
    pub spread: f64,
}

/// Errors with this number of given runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Number of given runs.
    pub given: usize,
    pub mean: f64,
    pub covered: f64,
}

#[derive(Debug, Clone)]
pub struct JudgedPlans {
    /// By the kind of hold-out.
    pub splits: Vec<PlanSplit>,
    /// By the number of given runs.
    pub curve: Vec<CurvePoint>,
    pub fitted: FittedConstants,
    pub memory: Option<MemoryError>,
}

/// The errors of predicted peak memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryError {
    /// Number of runs with a measured peak.
    pub runs: usize,
    /// Mean of |predicted / measured − 1|.
    pub mean: f64,
    /// Largest of them.
    pub worst: f64,
    /// Number of runs with a prediction below the measurement.
    pub under: usize,
    /// Share of runs whose interval contains the measured peak.
    pub covered: f64,
}

/// A measured run and its prediction.
#[derive(Debug, Clone)]
pub struct PredictedRun<'r> {
    pub row: &'r PlanRow,
    /// Predicted seconds of a step; `None` if its numbers make no plan.
    pub step_s: Option<f64>,
    /// The ends of the 90 % interval of the step are it times and over this.
    pub factor: f64,
    /// Predicted GiB of the fullest GPU.
    pub peak_gib: Option<f64>,
}

/// A run that needs more memory by the law than its GPUs have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdedRun {
    pub line: usize,
    pub gib: f64,
    /// GiB by its data sheet.
    pub has: f64,
}

type Group = fn(&PlanRow) -> String;

const GROUPS: [(&str, Group); 5] = [
    ("a model", |row| row.measured.run.model.name.to_string()),
    ("a GPU", |row| row.measured.run.node.gpu.to_string()),
    ("a number of GPUs", |row| row.measured.run.gpus.to_string()),
    ("a tensor degree", |row| row.measured.run.tensor.to_string()),
    ("a method", |row| row.measured.run.training.to_string()),
];

/// Predicted over measured, in logarithms, of rows.
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

/// Predictions of runs by a runtime without fitting.
pub fn foretold(preset: &RuntimePreset, rows: &[PlanRow]) -> PlanSplit {
    let fold = PlanFold {
        residuals: residuals(preset, &preset.prior.medians, rows),
        errors: preset.errors.clone(),
        out: rows.iter().collect(),
    };
    split("nothing fitted", &[fold])
}

/// Runs by the runtime as it is, in their order.
pub fn predicted_runs<'r>(preset: &RuntimePreset, rows: &'r [PlanRow]) -> Vec<PredictedRun<'r>> {
    let constants = &preset.prior.medians;
    let settings = preset.with(constants);
    let predicted = |row: &'r PlanRow| PredictedRun {
        row,
        step_s: row.measured.foretold_s(&preset.settings, constants),
        factor: libm::exp(NINETY * log_sd(&preset.errors, row)),
        peak_gib: foretold_gib(row, &settings, constants),
    };
    rows.iter().map(predicted).collect()
}

/// Standard deviation of ln(measured / predicted) of a run.
fn log_sd(errors: &Errors, row: &PlanRow) -> f64 {
    let run = &row.measured.run;
    errors.log_sd(&PredictedPlan {
        gpus: &[&run.node.gpu],
        count: run.gpus,
        precision: &row.precision,
        tensor: run.tensor,
        is_unlike: false,
        forms: &row.forms(),
    })
}

/// Judges a runtime by runs; `None` if a fit is impossible.
pub fn judge(preset: &RuntimePreset, rows: &[PlanRow]) -> Option<JudgedPlans> {
    let all: Vec<&PlanRow> = rows.iter().collect();
    let fitted = fitted_to(preset, &all, None)?;
    let constants = fitted.constants;
    let mut splits = vec![foretold(preset, rows)];
    if rows.len() >= 3 {
        let (name, parts) = match rows.len() {
            few if few <= ONE_BY_ONE => ("a run", few),
            _ => ("a tenth", PARTS),
        };
        // Neighbours in a table are alike, so they are dealt to different parts.
        let labels: Vec<String> = (0..rows.len()).map(|n| (n % parts).to_string()).collect();
        splits.extend(left_out(preset, &all, name, &labels, &fitted));
        for (name, group) in GROUPS {
            let labels: Vec<String> = rows.iter().map(group).collect();
            splits.extend(left_out(preset, &all, name, &labels, &fitted));
        }
        splits.extend(most_left_out(preset, &all, &fitted));
    }
    Some(JudgedPlans {
        splits,
        curve: curve(preset, rows),
        fitted,
        memory: memory(preset, &constants, rows),
    })
}

fn fitted_to(
    preset: &RuntimePreset,
    rows: &[&PlanRow],
    start: Option<&FittedConstants>,
) -> Option<FittedConstants> {
    let measured: Vec<MeasuredRun> = rows.iter().map(|row| row.measured.clone()).collect();
    fit(&preset.prior, &preset.settings, &measured, start)
}

/// A hold-out, its prediction from the rest, and the stated error.
struct PlanFold<'r> {
    residuals: Vec<(usize, f64)>,
    errors: Errors,
    out: Vec<&'r PlanRow>,
}

/// Predicts the held-out runs from the kept ones; `start`: the fit to both, from which a fit to one converges sooner.
fn fold<'r>(
    preset: &RuntimePreset,
    kept: &[&PlanRow],
    out: Vec<&'r PlanRow>,
    start: Option<&FittedConstants>,
) -> Option<PlanFold<'r>> {
    let fitted = fitted_to(preset, kept, start)?;
    Some(PlanFold {
        residuals: residuals(preset, &fitted.constants, out.iter().copied()),
        errors: told_errors(preset, kept, &fitted),
        out,
    })
}

/// Holds out the rows of each label in turn; `None` if all have one label.
fn left_out(
    preset: &RuntimePreset,
    rows: &[&PlanRow],
    name: &'static str,
    labels: &[String],
    whole: &FittedConstants,
) -> Option<PlanSplit> {
    let mut groups: Vec<&String> = labels.iter().collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.len() < 2 {
        return None;
    }
    let folds: Vec<PlanFold<'_>> = (groups.par_iter())
        .filter_map(|group| {
            let of = |is_out: bool| -> Vec<&PlanRow> {
                let pairs = rows.iter().zip(labels);
                pairs
                    .filter(|(_, label)| (label == group) == is_out)
                    .map(|(row, _)| *row)
                    .collect()
            };
            fold(preset, &of(false), of(true), Some(whole))
        })
        .collect();
    Some(split(name, &folds))
}

/// Holds out the runs with the most GPUs; `None` if all have as many, or too few have fewer.
fn most_left_out(
    preset: &RuntimePreset,
    rows: &[&PlanRow],
    whole: &FittedConstants,
) -> Option<PlanSplit> {
    let gpus = |row: &&PlanRow| row.measured.run.gpus;
    let most = rows.iter().map(gpus).max()?;
    let (out, kept): (Vec<&PlanRow>, Vec<&PlanRow>) =
        rows.iter().copied().partition(|row| gpus(row) == most);
    if kept.len() < 3 {
        return None;
    }
    Some(split(MOST, &[fold(preset, &kept, out, Some(whole))?]))
}

/// The errors of a runtime fitted to some runs: their own scatter, wider if many constants are fitted to few runs; and its
/// stated errors on unseen GPUs, numbers and precisions.
fn told_errors(preset: &RuntimePreset, kept: &[&PlanRow], fitted: &FittedConstants) -> Errors {
    let mut off: Vec<f64> = (residuals(preset, &fitted.constants, kept.iter().copied()).iter())
        .map(|(_, residual)| residual.abs())
        .collect();
    off.sort_unstable_by(f64::total_cmp);
    let runs = off.len() as f64;
    let scatter = ninth_decile(&off) / NINETY;
    let wider = (runs + fitted.told) / (runs - fitted.told).max(1.0);
    let (own, before) = (
        scatter * scatter * wider,
        preset.errors.step * preset.errors.step,
    );
    // A pace of their own is common to all of them.
    let pace = if preset.prior.spreads[Constant::Pace as usize] > 0.0 {
        fitted.spreads[Constant::Pace as usize]
    } else {
        0.0
    };
    let step = ((runs * own + BEFORE * before) / (runs + BEFORE) + pace * pace).sqrt();
    errors_with_runs(preset, kept, step)
}

/// The ninth decile of numbers in ascending order; 0 if empty.
fn ninth_decile(sorted: &[f64]) -> f64 {
    let at = (0.9 * sorted.len() as f64) as usize;
    sorted.get(at).or(sorted.last()).copied().unwrap_or(0.0)
}

/// Errors of a runtime with some measured runs in addition to its prior.
fn errors_with_runs(preset: &RuntimePreset, kept: &[&PlanRow], step: f64) -> Errors {
    let known = &preset.errors;
    let distinct = |before: &[String], own: &dyn Fn(&PlanRow) -> String| -> Vec<String> {
        let mut all: Vec<String> = before.to_vec();
        all.extend(kept.iter().map(|row| own(row)));
        all.sort_unstable();
        all.dedup();
        all
    };
    let most = kept
        .iter()
        .map(|row| row.measured.run.gpus)
        .max()
        .unwrap_or(1);
    let mut tensors = known.tensors.clone();
    tensors.extend(kept.iter().map(|row| row.measured.run.tensor));
    tensors.sort_unstable();
    tensors.dedup();
    let mut forms = known.forms.clone();
    forms.extend(kept.iter().flat_map(|row| row.forms()));
    forms.sort_unstable();
    forms.dedup();
    Errors {
        step,
        forms,
        cluster: 0.0,
        gpus: distinct(&known.gpus, &|row| row.measured.run.node.gpu.to_string()),
        most_gpus: known.most_gpus.max(most),
        precisions: distinct(&known.precisions, &|row| row.precision.clone()),
        tensors,
        ..known.clone()
    }
}

fn split(left_out: &'static str, folds: &[PlanFold<'_>]) -> PlanSplit {
    let mut errors: Vec<(f64, usize)> = Vec::new();
    let mut logarithms: Vec<f64> = Vec::new();
    let mut held = 0_usize;
    for fold in folds {
        for &(line, residual) in &fold.residuals {
            errors.push(((libm::exp(residual) - 1.0).abs(), line));
            logarithms.push(residual.abs());
            let Some(row) = fold.out.iter().find(|row| row.line == line) else {
                continue;
            };
            let spread = log_sd(&fold.errors, row);
            held += usize::from(residual.abs() <= NINETY * spread);
        }
    }
    errors.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    logarithms.sort_unstable_by(f64::total_cmp);
    let count = errors.len().max(1) as f64;
    PlanSplit {
        left_out,
        groups: folds.len(),
        runs: errors.len(),
        mean: errors.iter().map(|(error, _)| error).sum::<f64>() / count,
        median: errors
            .get(errors.len() / 2)
            .map_or(0.0, |(error, _)| *error),
        worst: errors.last().copied().unwrap_or_default(),
        covered: held as f64 / count,
        spread: ninth_decile(&logarithms) / NINETY,
    }
}

/// Errors of the rest if some runs are given: drawn in a fixed order, eight times.
fn curve(preset: &RuntimePreset, rows: &[PlanRow]) -> Vec<CurvePoint> {
    let counts = GIVEN
        .into_iter()
        .filter(|given| given + FEWEST <= rows.len());
    let of = |given: usize| -> Option<CurvePoint> {
        let draws = if given == 0 { 1 } else { DRAWS };
        let means: Vec<(f64, f64)> = (0..draws)
            .into_par_iter()
            .filter_map(|draw| {
                let order = shuffled_numbers(rows.len(), draw as u64);
                let (some, others) = order.split_at(given);
                let of = |numbers: &[usize]| numbers.iter().map(|n| &rows[*n]).collect::<Vec<_>>();
                let told = split("", &[fold(preset, &of(some), of(others), None)?]);
                Some((told.mean, told.covered))
            })
            .collect();
        let draws = means.len().max(1) as f64;
        Some(CurvePoint {
            given,
            mean: means.iter().map(|(mean, _)| mean).sum::<f64>() / draws,
            covered: means.iter().map(|(_, covered)| covered).sum::<f64>() / draws,
        })
    };
    counts.filter_map(of).collect()
}

/// Numbers up to `count` in an order of its own for each draw.
fn shuffled_numbers(count: usize, draw: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_cached_key(|n| {
        // SplitMix64's finaliser: the order is equal on all machines.
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

/// Maximum GiB that a GPU holds in a run by the law.
fn foretold_gib(row: &PlanRow, settings: &Runtime, constants: &Constants) -> Option<f64> {
    let prepared = row.measured.run.prepared(settings, constants).ok()?;
    let stages = 0..prepared.stages();
    let peak = stages
        .map(|stage| prepared.peak_memory_bytes(stage))
        .max()?;
    Some(peak as f64 / GIB)
}

/// Runs that need more memory by the law than their GPUs have. They did run, so their description must be wrong.
pub fn crowded(preset: &RuntimePreset, rows: &[PlanRow]) -> Vec<CrowdedRun> {
    let constants = &preset.prior.medians;
    let settings = preset.with(constants);
    let surely = 1.0 - NINETY * settings.memory_spread;
    let of = |row: &PlanRow| {
        let gib = foretold_gib(row, &settings, constants)?;
        let has = gpu::named(&row.measured.run.node.gpu)?.memory_gib;
        (gib * surely > has).then_some(CrowdedRun {
            line: row.line,
            gib,
            has,
        })
    };
    rows.iter().filter_map(of).collect()
}

/// Errors of the peaks that were measured; `None` if none was.
pub fn memory(
    preset: &RuntimePreset,
    constants: &Constants,
    rows: &[PlanRow],
) -> Option<MemoryError> {
    let settings = preset.with(constants);
    let error = |row: &PlanRow| {
        let peak_gib = row.peak_gib?;
        Some(foretold_gib(row, &settings, constants)? / peak_gib - 1.0)
    };
    let errors: Vec<f64> = rows.iter().filter_map(error).collect();
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

/// The runtime with constants fitted to runs, and with errors of held-out runs. The spread of a fitted constant is at least
/// half of the prior's: the next cluster may differ.
pub fn calibrated(preset: &RuntimePreset, rows: &[PlanRow], judged: &JudgedPlans) -> RuntimePreset {
    let all: Vec<&PlanRow> = rows.iter().collect();
    let fitted = &judged.fitted;
    let mut own = preset.clone();
    if preset::names().contains(&&*preset.name) {
        own.base = Some(Arc::clone(&preset.name));
    }
    own.prior.medians = fitted.constants;
    // A norm below 1 is invalid: 1 adds both up.
    let hiding = &mut own.prior.medians.0[Constant::Hiding as usize];
    *hiding = hiding.max(1.0);
    for (spread, told) in own.prior.spreads.iter_mut().zip(fitted.spreads) {
        *spread = told.max(FORGOTTEN * *spread);
    }
    own.settings = preset.with(&fitted.constants);
    own.errors = told_errors(preset, &all, fitted);
    // The cluster's error is estimated from its runs, which may be few.
    own.errors.cluster = preset.errors.cluster / (rows.len().max(1) as f64).sqrt();
    let by = |name: &str| judged.splits.iter().find(|split| split.left_out == name);
    if rows.len() >= FEWEST
        && let Some(split) = by("a run").or(by("a tenth"))
    {
        own.errors.step = split.spread;
    }
    let step = own.errors.step;
    let added = |split: &PlanSplit| added_deviation(split.spread, step);
    if let Some(split) = by("a GPU") {
        own.errors.gpu = added(split);
    }
    if let Some(split) = by("a tensor degree") {
        own.errors.tensor = added(split);
    }
    if let Some(split) = by(MOST) {
        let counts = rows.iter().map(|row| row.measured.run.gpus);
        let most = counts.clone().max().unwrap_or(1);
        let next = counts.filter(|gpus| *gpus < most).max().unwrap_or(1);
        let doublings = libm::log2(f64::from(most) / f64::from(next));
        own.errors.doubling = added(split) / doublings.sqrt();
    }
    own
}

/// The deviation that has to be added in squares.
fn added_deviation(whole: f64, part: f64) -> f64 {
    (whole * whole - part * part).max(0.0).sqrt()
}
