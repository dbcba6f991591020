//! MLPerf Training: epochs from reference convergence points, steps from published results.
//!
//! In: one or more RCP files of one benchmark, and optionally a table of runs of which one
//! submitter, accelerator and round is taken. A run tells the whole step only: nothing tells
//! compute from communication.
//!
//! - [`benchmarks`]: what the files do not say about a benchmark.
//! - [`rcp`]: epochs or samples to the target by batch.
//! - [`runs`]: seconds per step of systems.

pub mod benchmarks;
pub mod rcp;
pub mod runs;

use std::path::PathBuf;

use super::draft::{Constant, Draft, EpochLine, Law, StepLine};
use super::figure::rounded;
use super::report::{Report, basis};
use super::{COLD_START_STEPS, ImportResult, PROBE_STEPS, shape};
use benchmarks::{Benchmark, ProgressUnit};
use rcp::Point;
use scavsim_data::fit::epochs::noise_scale;
use scavsim_data::fit::steps::{
    Growth, StepFit, StepPoint, additive_non_negative, affine, compute_only,
};
use scavsim_data::workload::Origin;
use scavsim_data::workload::law::{EpochLaw, NoiseLaw};
use scavsim_read::input::{Diagnostic, Diagnostics};

#[derive(Debug, Clone)]
pub struct MlperfOptions {
    /// RCP files of one benchmark.
    pub rcps: Vec<PathBuf>,
    /// Table of runs.
    pub runs: Option<PathBuf>,
    pub choice: runs::RunFilter,
    /// VM type instead of the one named after system or accelerator.
    pub vm: Option<String>,
    pub name: String,
}

/// Reads the files. Whatever is wrong goes to `diagnostics`.
pub fn read(options: &MlperfOptions, diagnostics: &mut Diagnostics) -> Option<ImportResult> {
    let mut report = Report::default();
    let points = rcp::read_all(&options.rcps, diagnostics);
    let benchmark = points
        .as_ref()
        .and_then(|p| benchmarks::find(p, diagnostics));
    let (points, benchmark) = (points?, benchmark?);
    let kept = rcp::fastest(&points);
    report.rows(
        "reference convergence points",
        points.len(),
        &[(
            "slower than another at its batch",
            points.len() - kept.len(),
        )],
    );
    let mut draft = described(&options.name, benchmark);
    epochs(&kept, benchmark, &mut draft, &mut report);
    if let Some(path) = &options.runs {
        let expected = runs::ConvergenceKnowledge {
            benchmark,
            points: &kept,
            law: draft.epoch_law.as_ref().map(|l| l.law),
        };
        let found = runs::read(path, &options.choice, &expected, &mut report, diagnostics)?;
        for point in &found.points {
            let vm = options.vm.clone().unwrap_or_else(|| point.vm.clone());
            draft.steps.push(StepLine {
                vm: shape(&vm, point.per_vm),
                workers: point.workers,
                batch: point.batch,
                step_s: point.step_s,
                communication_s: None,
                origin: Origin::Derived,
                source: format!("{} {}: {} runs", found.round, point.system, point.runs),
            });
        }
        step_laws(&mut draft, &mut report);
    } else {
        report.note("no runs given: the folder has no steps.csv to simulate with");
    }
    if draft.steps.is_empty() && options.runs.is_some() {
        diagnostics.push(Diagnostic::general("no run is left of those chosen"));
        return None;
    }
    report.note(format!(
        "samples per epoch: {} ({})",
        rounded(benchmark.samples_per_epoch, 9),
        benchmark.samples_source
    ));
    report.note(format!(
        "assumed: cold_start_steps {COLD_START_STEPS}, probe_steps {PROBE_STEPS}, restore_s {} (own choice)",
        benchmark.restore_s
    ));
    report.note("assumed: φ is Bn at all times; it is so only on average over training");
    report.note("unofficial: not verified by MLCommons");
    Some(ImportResult { draft, report })
}

/// What is known of a benchmark before anything is measured.
fn described(name: &str, benchmark: &Benchmark) -> Draft {
    let own = |name, value, source: &str| Constant {
        name,
        value,
        origin: Origin::Derived,
        source: source.into(),
    };
    let constants = vec![
        Constant {
            name: "samples_per_epoch",
            value: benchmark.samples_per_epoch,
            origin: benchmark.samples_origin,
            source: benchmark.samples_source.into(),
        },
        own(
            "cold_start_steps",
            COLD_START_STEPS,
            "own choice; no source",
        ),
        own("probe_steps", PROBE_STEPS, "own choice; no source"),
        own(
            "restore_s",
            benchmark.restore_s,
            "own choice, inside the 15 to 250 s of the Sia simulator's constants",
        ),
    ];
    Draft {
        name: name.to_owned(),
        model: benchmark.model.into(),
        data_set: benchmark.data_set.into(),
        target: benchmark.target.into(),
        citation: "MLPerf Training, MLCommons: reference convergence points of mlcommons/logging, commit 7bbf792, and result logs".into(),
        accuracy: "unofficial: recomputed here, not verified by MLCommons; steps are run time over steps and contain evaluation; every batch was tuned on its own".into(),
        licence: "Apache-2.0, MLCommons Association; MLPerf is a trademark of MLCommons".into(),
        communication_unknown: true,
        constants,
        ..Draft::default()
    }
}

/// Epochs by batch, and their law where they rise with it, which gives the noise scale, too.
fn epochs(kept: &[&Point], benchmark: &Benchmark, draft: &mut Draft, report: &mut Report) {
    let unit = match benchmark.unit {
        ProgressUnit::Epochs => 1.0,
        ProgressUnit::Samples => benchmark.samples_per_epoch,
    };
    draft.epochs = kept
        .iter()
        .map(|p| EpochLine {
            batch: p.batch,
            epochs: p.mean() / unit,
            // A mean of measurements, possibly in another unit.
            origin: Origin::Measured,
            source: format!("{}: mean of {} runs", p.name, p.values.len()),
        })
        .collect();
    let pairs: Vec<(f64, f64)> = (draft.epochs.iter())
        .map(|line| (f64::from(line.batch), line.epochs))
        .collect();
    match noise_scale(&pairs).map(|fit| (fit, fit.law)) {
        Some((
            fit,
            EpochLaw::NoiseScale {
                base_epochs,
                noise_scale_samples,
            },
        )) if noise_scale_samples > 0.0 && base_epochs > 0.0 => {
            report.fit("epochs", "e*(1 + B/Bn)", &fit.quality);
            draft.epoch_law = Some(Law::fitted(fit.law, basis(&fit.quality)));
            let noise = NoiseLaw::ConstantScale {
                noise_scale_samples,
            };
            let basis = "derived: the Bn of the epochs, φ averaged over training; φ at one moment is another";
            draft.noise_law = Some(Law::fitted(noise, basis.into()));
        }
        _ => report.note("no law of epochs: they do not rise with the batch"),
    }
}

/// Fewest points from which compute and a tree are told apart.
const ENOUGH: usize = 4;

/// A law per VM shape: a + b·x + d·log₂ K, or a + b·x alone where points are few.
fn step_laws(draft: &mut Draft, report: &mut Report) {
    let mut shapes: Vec<String> = draft.steps.iter().map(|s| s.vm.clone()).collect();
    shapes.sort_unstable();
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
                exposed_s: None,
            })
            .collect();
        let (name, law) = if points.len() >= ENOUGH {
            let law = additive_non_negative(&points, Growth::Tree);
            ("a + b·x + d·log2 K", law)
        } else {
            let compute = affine(points.iter().map(|p| (p.local_batch, p.step_s)));
            let law = compute.filter(|c| c.iter().all(|&c| c >= 0.0));
            ("a + b·x", law.map(compute_only))
        };
        let fit = law.and_then(|law| StepFit::judged(law, &points));
        let Some(fit) = fit else {
            report.note(format!("no law for {shape}: too few points"));
            continue;
        };
        report.fit(&shape, name, &fit.quality);
        if points.len() < ENOUGH {
            report.note(format!(
                "{shape}: {} points do not tell communication; its law has none",
                points.len()
            ));
        }
        let basis = basis(&fit.quality);
        draft.step_laws.push(Law::fitted((shape, fit.law), basis));
    }
}
