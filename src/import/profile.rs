//! A table of the user's own measurements.
//!
//! In: `vm,workers,batch,step_s` and, where known, `compute_s`, `communication_s`, `noise` (γ/K)
//! and `epochs`; cells of these may be empty. Rows of one configuration are repeats.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::draft::{Constant, Draft, EpochLine, Law, NoiseLine, StepLine};
use super::report::{Report, basis};
use super::{COLD_START_STEPS, Imported, PROBE_STEPS};
use crate::fit::epochs::{EpochFit, affine_noise, noise_scale};
use crate::fit::noise::scale_of_noise;
use crate::fit::steps::{StepPoint, best};
use crate::input::csv::{Row, Table};
use crate::input::{Diagnostic, Diagnostics, Source};
use crate::workload::Origin;
use crate::workload::law::{EpochLaw, NoiseLaw, Overlap};

/// What is imported, and what the table does not hold.
#[derive(Debug, Clone)]
pub struct Options {
    /// The table.
    pub file: PathBuf,
    /// Name of the workload.
    pub name: String,
    /// D.
    pub samples_per_epoch: u64,
    /// Epochs for every batch, where the table has none.
    pub epochs: Option<f64>,
    /// Steps until the noise reading settles.
    pub cold_start_steps: Option<u64>,
    /// Steps of one probe.
    pub probe_steps: Option<u64>,
    /// Seconds to restore a checkpoint.
    pub restore_s: Option<f64>,
}

/// Seconds to restore a checkpoint, where the user does not say.
const RESTORE_S: f64 = 60.0;
/// Compute and communication may exceed their step by this share: they were rounded.
const ROUNDING: f64 = 0.01;
/// Most workers and largest batch; beyond, it is a slip of the pen.
const LARGEST: u64 = 1_000_000_000;

/// A row of the table.
struct Measured {
    step_s: f64,
    communication_s: Option<f64>,
    noise: Option<f64>,
    epochs: Option<f64>,
    line: std::ops::Range<usize>,
}

/// VM shape, K, batch.
type Key = (String, u32, u32);

/// Reads the table. Whatever is wrong goes to `diagnostics`.
pub fn read(options: &Options, diagnostics: &mut Diagnostics) -> Option<Imported> {
    check(options, diagnostics);
    let source = Source::read(&options.file, diagnostics)?;
    let required = ["vm", "workers", "batch", "step_s"];
    let optional = ["compute_s", "communication_s", "noise", "epochs"];
    let table = Table::read(&source, &required, &optional, diagnostics)?;
    let mut points: BTreeMap<Key, Vec<Measured>> = BTreeMap::new();
    let mut read = 0;
    for row in table.rows() {
        read += 1;
        if let Some((key, measured)) = measured(&row, &source, diagnostics) {
            points.entry(key).or_default().push(measured);
        }
    }
    one_split(&source, &points, diagnostics);
    let any_epochs = points.values().flatten().any(|m| m.epochs.is_some());
    if !any_epochs && options.epochs.is_none() {
        let title = format!("{}: no row has `epochs`", source.name);
        let help = "give `epochs` in at least one row, or for all batches with --epochs";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    if !diagnostics.is_empty() {
        return None;
    }
    let mut report = Report::default();
    report.rows("rows", read, &[]);
    let file = options.file.file_name();
    let file = file.map_or_else(String::new, |f| f.to_string_lossy().into_owned());
    let mut draft = head(options, &file);
    steps(&points, &file, &mut draft, &mut report);
    noise(&points, &file, &mut draft);
    epochs(&points, options, &file, &mut draft, &mut report);
    laws(&mut draft, &mut report);
    Some(Imported { draft, report })
}

fn check(options: &Options, diagnostics: &mut Diagnostics) {
    let mut refuse = |option: &str, legal: &str| {
        let title = format!("--{option} is not possible");
        diagnostics.push(Diagnostic::general(title).with_help(format!("expected {legal}")));
    };
    if options.samples_per_epoch == 0 || options.samples_per_epoch > 1_000_000_000_000 {
        refuse("samples-per-epoch", "a whole number between 1 and 10^12");
    }
    if options.epochs.is_some_and(|e| !e.is_finite() || e <= 0.0) {
        refuse("epochs", "a number above 0");
    }
    if options.restore_s.is_some_and(|s| !s.is_finite() || s < 0.0) {
        refuse("restore-s", "a number of at least 0");
    }
    if options.probe_steps == Some(0) {
        refuse("probe-steps", "a whole number of at least 1");
    }
}

fn measured(
    row: &Row<'_>,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<(Key, Measured)> {
    use std::ops::Bound::{Excluded, Unbounded};
    let before = diagnostics.len();
    let above = (Excluded(0.0), Unbounded);
    let whole = |column, d: &mut Diagnostics| {
        let value = row.whole(column, 1..=LARGEST, d)?;
        u32::try_from(value).ok()
    };
    let vm = row.name("vm", diagnostics);
    let workers = whole("workers", diagnostics);
    let batch = whole("batch", diagnostics);
    let step_s = row.number("step_s", above, diagnostics);
    let compute_s = row.optional_number("compute_s", above, diagnostics);
    let given_s = row.optional_number("communication_s", 0.0.., diagnostics);
    let noise = row.optional_number("noise", above, diagnostics);
    let epochs = row.optional_number("epochs", above, diagnostics);
    if diagnostics.len() > before {
        return None;
    }
    let (vm, workers, batch, step_s) = (vm?, workers?, batch?, step_s?);
    if batch < workers {
        diagnostics.error_at(
            source,
            row.span("batch"),
            format!("a global batch of {batch} cannot be shared by {workers} workers"),
            "at least one sample for each",
        );
    }
    let communication_s = exposed(row, source, step_s, (compute_s, given_s), diagnostics);
    if let Some(noise) = noise {
        check_noise(row, source, workers, noise, diagnostics);
    }
    (diagnostics.len() == before).then(|| {
        let measured = Measured {
            step_s,
            communication_s,
            noise,
            epochs,
            line: row.line_span(),
        };
        ((vm.to_owned(), workers, batch), measured)
    })
}

/// Communication that shows in a step, of which compute and communication may be given.
fn exposed(
    row: &Row<'_>,
    source: &Arc<Source>,
    step_s: f64,
    (compute_s, given_s): (Option<f64>, Option<f64>),
    diagnostics: &mut Diagnostics,
) -> Option<f64> {
    let parts = compute_s.unwrap_or(0.0) + given_s.unwrap_or(0.0);
    if parts > step_s * (1.0 + ROUNDING) {
        let column = if compute_s.is_some() {
            "compute_s"
        } else {
            "communication_s"
        };
        diagnostics.error_at(
            source,
            row.span(column),
            format!(
                "compute and communication of {parts} s are longer than the step of {step_s} s"
            ),
            "together at most `step_s`",
        );
    }
    // What compute does not take is communication that shows.
    let communication_s = match (compute_s, given_s) {
        (Some(compute), given) if parts > step_s || given.is_none() => {
            Some((step_s - compute).max(0.0))
        }
        (_, given) => given,
    };
    if communication_s.is_some_and(|c| c >= step_s) && parts <= step_s * (1.0 + ROUNDING) {
        diagnostics.error_at(
            source,
            row.span("communication_s"),
            "communication leaves nothing of the step for compute",
            "must be less than `step_s`",
        );
    }
    communication_s
}

fn check_noise(
    row: &Row<'_>,
    source: &Arc<Source>,
    workers: u32,
    noise: f64,
    diagnostics: &mut Diagnostics,
) {
    let least = 1.0 / f64::from(workers);
    if noise <= least || noise >= 1.0 {
        diagnostics.push(
            Diagnostic::at(
                source,
                row.span("noise"),
                format!("a normalised noise of {noise} is not possible"),
                format!("γ/K lies between 1/K = {least:.4} and 1"),
            )
            .with_help("leave the cell empty with a single worker"),
        );
    }
}

/// Either no VM type has its steps split, or every one has in a row: what is split is known per
/// type and not to be guessed from another.
fn one_split(
    source: &Arc<Source>,
    points: &BTreeMap<Key, Vec<Measured>>,
    diagnostics: &mut Diagnostics,
) {
    let mut types: BTreeMap<&str, (bool, std::ops::Range<usize>)> = BTreeMap::new();
    for ((vm, ..), rows) in points {
        for m in rows {
            let entry = types.entry(vm).or_insert((false, m.line.clone()));
            entry.0 |= m.communication_s.is_some();
        }
    }
    if types.values().all(|t| !t.0) {
        return;
    }
    for (vm, (_, line)) in types.into_iter().filter(|(_, t)| !t.0) {
        diagnostics.error_at(
            source,
            line,
            format!("no row of `{vm}` tells compute from communication, while others do"),
            "give `compute_s` or `communication_s` in one row, or leave them out everywhere",
        );
    }
}

fn head(options: &Options, file: &str) -> Draft {
    let option = |given: Option<f64>, default: f64| match given {
        Some(value) => (value, "given when it was imported".to_owned()),
        None => (default, "default of the import; no measurement".to_owned()),
    };
    let constant = |name, (value, source): (f64, String)| Constant {
        name,
        value,
        origin: if source.starts_with("given") {
            Origin::Stated
        } else {
            Origin::Derived
        },
        source,
    };
    let number = |n: Option<u64>| n.map(|n| n as f64);
    Draft {
        name: options.name.clone(),
        model: "not stated".into(),
        data_set: "not stated".into(),
        target: "the one to which `epochs` were counted".into(),
        citation: format!("own measurements, {file}"),
        accuracy: "means over the repeats of each configuration".into(),
        licence: "as the measurements".into(),
        constants: vec![
            constant(
                "samples_per_epoch",
                option(Some(options.samples_per_epoch as f64), 1.0),
            ),
            constant(
                "cold_start_steps",
                option(number(options.cold_start_steps), COLD_START_STEPS),
            ),
            constant(
                "probe_steps",
                option(number(options.probe_steps), PROBE_STEPS),
            ),
            constant("restore_s", option(options.restore_s, RESTORE_S)),
        ],
        ..Draft::default()
    }
}

fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum) = (0_u32, 0.0);
    for value in values {
        n += 1;
        sum += value;
    }
    (n > 0).then(|| sum / f64::from(n))
}

fn steps(
    points: &BTreeMap<Key, Vec<Measured>>,
    file: &str,
    draft: &mut Draft,
    report: &mut Report,
) {
    let mut widest: Option<(f64, &Key)> = None;
    for (key, rows) in points {
        let (vm, workers, batch) = key;
        let Some(step_s) = mean(rows.iter().map(|m| m.step_s)) else {
            continue;
        };
        let least = rows.iter().map(|m| m.step_s).fold(f64::INFINITY, f64::min);
        let greatest = rows.iter().map(|m| m.step_s).fold(0.0, f64::max);
        let spread = (greatest - least) / step_s;
        if rows.len() > 1 && widest.is_none_or(|(w, _)| spread > w) {
            widest = Some((spread, key));
        }
        // As a share, for repeats that were not split count too.
        let share = mean(
            rows.iter()
                .filter_map(|m| Some(m.communication_s? / m.step_s)),
        );
        draft.steps.push(StepLine {
            vm: vm.clone(),
            workers: *workers,
            batch: *batch,
            step_s,
            communication_s: share.map(|share| share * step_s),
            origin: Origin::Measured,
            source: match rows.len() {
                1 => file.to_owned(),
                n => format!("{file}: mean of {n}"),
            },
        });
    }
    draft.communication_unknown = draft.steps.iter().all(|s| s.communication_s.is_none());
    report.note(format!("{} configurations", points.len()));
    if let Some((spread, (vm, workers, batch))) = widest {
        report.note(format!(
            "repeats of a step differ by up to {:.1} % (at {workers} x {vm}, batch {batch})",
            100.0 * spread
        ));
    }
    if draft.communication_unknown {
        report.note("no row tells compute from communication: the whole step counts as one");
    }
}

fn noise(points: &BTreeMap<Key, Vec<Measured>>, file: &str, draft: &mut Draft) {
    let mut noises: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for ((_, workers, batch), rows) in points {
        let known = rows.iter().filter_map(|m| m.noise);
        noises.entry((*workers, *batch)).or_default().extend(known);
    }
    for ((workers, batch), values) in noises {
        if let Some(noise_normalised) = mean(values) {
            draft.noise.push(NoiseLine {
                workers,
                batch,
                noise_normalised,
                origin: Origin::Measured,
                source: file.to_owned(),
            });
        }
    }
}

/// Epochs by batch: over the same batch, other workers and VM types are repeats too.
fn epochs(
    points: &BTreeMap<Key, Vec<Measured>>,
    options: &Options,
    file: &str,
    draft: &mut Draft,
    report: &mut Report,
) {
    let mut known: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for ((_, _, batch), rows) in points {
        let given = rows.iter().filter_map(|m| m.epochs);
        known.entry(*batch).or_default().extend(given);
    }
    let mut widest = 0.0_f64;
    for (&batch, values) in &known {
        let line = |epochs, origin, source: String| EpochLine {
            batch,
            epochs,
            origin,
            source,
        };
        if let Some(epochs) = mean(values.iter().copied()) {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(0.0, f64::max);
            widest = widest.max((greatest - least) / epochs);
            let source = format!("{file}: mean of {}", values.len());
            draft.epochs.push(line(epochs, Origin::Measured, source));
        } else if let Some(epochs) = options.epochs {
            let source = "given when it was imported".to_owned();
            draft.epochs.push(line(epochs, Origin::Stated, source));
        }
    }
    if widest > 0.0 {
        report.note(format!(
            "epochs of one batch differ by up to {:.1} % and were averaged",
            100.0 * widest
        ));
    }
    let missing = known.len() - draft.epochs.len();
    if missing > 0 {
        report.note(format!(
            "{missing} batches have no epochs of their own: between others they are interpolated"
        ));
    }
}

fn laws(draft: &mut Draft, report: &mut Report) {
    let mut shapes: Vec<String> = draft.steps.iter().map(|s| s.vm.clone()).collect();
    shapes.dedup();
    for shape in shapes {
        let points: Vec<StepPoint> = draft
            .steps
            .iter()
            .filter(|s| s.vm == shape)
            .map(|s| StepPoint {
                workers: s.workers,
                local_batch: f64::from(s.batch) / f64::from(s.workers),
                step_s: s.step_s,
                exposed_s: s.communication_s,
            })
            .collect();
        match best(&points) {
            Some(fit) => {
                let name = match fit.law.overlap {
                    Overlap::Additive => "compute and communication added",
                    Overlap::PNorm { .. } => "compute and communication overlapped",
                };
                report.fit(&shape, name, &fit.quality);
                let basis = basis(&fit.quality);
                draft.step_laws.push(Law::fitted((shape, fit.law), basis));
            }
            None => report.note(format!("no law for {shape}: too few points")),
        }
    }
    let fit = epoch_law(draft);
    let name = match fit.map(|f| f.law) {
        Some(EpochLaw::AffineNoise { .. }) => "e* + θ·γ/K",
        _ => "e*(1 + B/Bn)",
    };
    match fit {
        Some(fit) => {
            report.fit("epochs", name, &fit.quality);
            draft.epoch_law = Some(Law::fitted(fit.law, basis(&fit.quality)));
        }
        None => {
            report.note("no law of epochs: fewer than three batches, or no trend that one fits")
        }
    }
    noise_law(draft, report);
}

/// Epochs that rise with the batch follow the noise scale; those that fall, the noise.
fn epoch_law(draft: &Draft) -> Option<EpochFit> {
    if draft.epochs.len() < 3 {
        return None;
    }
    let by_batch: Vec<(f64, f64)> = draft
        .epochs
        .iter()
        .map(|e| (f64::from(e.batch), e.epochs))
        .collect();
    let rising = noise_scale(&by_batch).filter(|fit| match fit.law {
        EpochLaw::NoiseScale {
            base_epochs,
            noise_scale_samples,
        } => base_epochs > 0.0 && noise_scale_samples > 0.0 && noise_scale_samples.is_finite(),
        _ => false,
    });
    if rising.is_some() {
        return rising;
    }
    let by_noise: Vec<(f64, f64)> = draft
        .noise
        .iter()
        .filter_map(|n| {
            let epochs = draft.epochs.iter().find(|e| e.batch == n.batch)?;
            Some((n.noise_normalised, epochs.epochs))
        })
        .collect();
    affine_noise(&by_noise).filter(|_| by_noise.len() >= 3)
}

/// One φ for all: the geometric mean of what the measured noise gives, else the B_n of the epochs.
fn noise_law(draft: &mut Draft, report: &mut Report) {
    let scales = draft.noise.iter().filter_map(|n| {
        let scale = scale_of_noise(n.workers, f64::from(n.batch), n.noise_normalised)?;
        Some(libm::log(scale)).filter(|s| s.is_finite())
    });
    let measured = mean(scales).map(libm::exp);
    let of_epochs = match draft.epoch_law.as_ref().map(|l| l.law) {
        Some(EpochLaw::NoiseScale {
            noise_scale_samples,
            ..
        }) => Some(noise_scale_samples),
        _ => None,
    };
    let (scale, basis) = match (measured, of_epochs) {
        (Some(scale), _) => (scale, "derived: geometric mean over the measured noise"),
        (None, Some(scale)) => (
            scale,
            "derived: the Bn of the epochs, φ averaged over training",
        ),
        (None, None) => {
            report.note("no noise was given or follows: what reads it cannot run");
            return;
        }
    };
    report.note(format!("noise scale {scale:.0} samples, {basis}"));
    let law = NoiseLaw::ConstantScale {
        noise_scale_samples: scale,
    };
    draft.noise_law = Some(Law::fitted(law, basis.into()));
}
