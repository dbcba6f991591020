//! Step times and gradient noise of the Pollux artifact (Qiao et al., OSDI 2021).
//!
//! In: the folder of one application: `placements.csv`, `scalability.csv` and a
//! `validation-B.csv` per global batch B. Step times come as placement of workers on VMs; a
//! validation run gives steps, and gradient noise per statistical epoch.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::draft::{Constant, Draft, EpochLine, Law, NoiseLaw, PhiLine, StepLine};
use super::report::{Report, basis};
use super::{COLD_START_STEPS, Imported, PROBE_STEPS};
use crate::fit::noise::power_scale;
use crate::fit::steps::{StepPoint, p_norm};
use crate::input::csv::{Row, Table};
use crate::input::{Diagnostic, Diagnostics, Source};
use crate::workload::Origin;
use crate::workload::law::{EpochLaw, goodput};

/// VM type of the measurements.
pub const VM: &str = "g4dn.12xlarge";

/// What is imported, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of one application.
    pub folder: PathBuf,
    /// Application; by default the name of the folder.
    pub application: Option<String>,
    /// VM type that the shapes are named after.
    pub vm: String,
    /// Name of the workload.
    pub name: String,
}

/// What the files do not say about an application.
struct Application {
    name: &'static str,
    model: &'static str,
    data_set: &'static str,
    target: &'static str,
    initial_batch: u32,
    samples_per_epoch: f64,
    samples_origin: Origin,
    samples_source: &'static str,
    restore_s: f64,
}

const APPLICATIONS: [Application; 3] = [
    Application {
        name: "bert",
        model: "BERT fine-tuning",
        data_set: "SQuAD",
        target: "the statistical progress of 14,774 steps at batch 12 (2 epochs); F1 88.1 to 88.6",
        initial_batch: 12,
        samples_per_epoch: 88_644.0,
        samples_origin: Origin::Derived,
        samples_source: "14,774 steps of 12 samples over 2 epochs (validation-12.csv)",
        restore_s: 120.0,
    },
    Application {
        name: "cifar10",
        model: "ResNet-18",
        data_set: "CIFAR-10",
        target: "the statistical progress of 39,062 steps at batch 128 (100 epochs); accuracy 0.941 to 0.947",
        initial_batch: 128,
        samples_per_epoch: 50_000.0,
        samples_origin: Origin::Stated,
        samples_source: "size of the training set",
        restore_s: 50.0,
    },
    Application {
        name: "imagenet",
        model: "ResNet-50",
        data_set: "ImageNet",
        target: "the statistical progress of 576,525 steps at batch 200 (90 epochs); top-1 accuracy 0.749 to 0.756",
        initial_batch: 200,
        samples_per_epoch: 1_281_167.0,
        samples_origin: Origin::Stated,
        samples_source: "size of the training set",
        restore_s: 250.0,
    },
];

/// Workers on VMs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Placement {
    /// The same number on each VM.
    Even { vms: u32, each: u32 },
    /// One number per VM.
    Uneven(Vec<u32>),
    /// Workers spread over VMs in an unknown way.
    Spread { vms: u32, workers: u32 },
}

impl Placement {
    /// From one digit per VM.
    fn from_digits(text: &str) -> Option<Placement> {
        let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(10)).collect();
        let digits = digits.filter(|d| !d.contains(&0))?;
        let first = *digits.first()?;
        if digits.iter().all(|&d| d == first) {
            let vms = u32::try_from(digits.len()).ok()?;
            return Some(Placement::Even { vms, each: first });
        }
        Some(Placement::Uneven(digits))
    }

    /// From the two totals.
    fn from_totals(vms: u32, workers: u32) -> Placement {
        if workers.is_multiple_of(vms) {
            let each = workers / vms;
            Placement::Even { vms, each }
        } else {
            Placement::Spread { vms, workers }
        }
    }

    fn workers(&self) -> u32 {
        match self {
            // Both are far below the largest number: see where they are read.
            Placement::Even { vms, each } => vms * each,
            Placement::Uneven(each) => each.iter().sum(),
            Placement::Spread { workers, .. } => *workers,
        }
    }

    /// The VM shape.
    fn shape(&self, vm: &str) -> String {
        match self {
            Placement::Even { each: 1, .. } => vm.to_owned(),
            Placement::Even { each, .. } => format!("{vm}/{each}"),
            Placement::Uneven(each) => {
                let each: Vec<String> = each.iter().map(u32::to_string).collect();
                format!("{vm}/{}", each.join("-"))
            }
            Placement::Spread { vms, workers } => format!("{vm}/{workers}@{vms}"),
        }
    }
}

/// A measured step.
struct Step {
    placement: Placement,
    local_batch: u32,
    step_s: f64,
    sync_s: f64,
    file: &'static str,
}

/// A run at one batch.
struct Run {
    batch: u32,
    /// Progress, steps so far, φ if the row has one.
    rows: Vec<(f64, f64, Option<f64>)>,
}

/// Reads the folder. Whatever is wrong goes to `diagnostics`.
pub fn read(options: &Options, diagnostics: &mut Diagnostics) -> Option<Imported> {
    let application = application(options, diagnostics);
    let mut report = Report::default();
    let steps = steps(&options.folder, &mut report, diagnostics);
    let runs = runs(&options.folder, diagnostics);
    let (application, mut steps, mut runs) = (application?, steps?, runs?);
    let initial = application.initial_batch;
    let Some(first) = runs.iter().find(|r| r.batch == initial) else {
        let title = format!(
            "{} has no validation-{initial}.csv",
            options.folder.display()
        );
        let help = "progress and target are counted in the steps of that run";
        diagnostics.push(Diagnostic::general(title).with_help(help));
        return None;
    };
    let target_progress = first.rows.last()?.1;
    // What stopped short says nothing about the way to the target.
    runs.retain(|run| {
        let end = run.rows.last().map_or(0.0, |r| r.0);
        if end < target_progress {
            report.note(format!(
                "batch {} dropped: it ended at progress {end}, before the target",
                run.batch
            ));
        }
        end >= target_progress
    });

    let mut draft = Draft {
        name: options.name.clone(),
        model: application.model.into(),
        data_set: application.data_set.into(),
        target: application.target.into(),
        citation: "Qiao et al., Pollux, OSDI 2021; artifact petuum/adaptdl, branch osdi21-artifact, commit c793c70".into(),
        accuracy: "steps: means over a short profile, which differ by 3 to 8 % between equal placements; epochs: one run per batch".into(),
        licence: "Apache-2.0 by the headers of the artifact's files; copyright Petuum, Inc.; unit conversions and laws are this project's".into(),
        ..Draft::default()
    };
    draft.constants = vec![
        Constant {
            name: "samples_per_epoch",
            value: application.samples_per_epoch,
            origin: application.samples_origin,
            source: application.samples_source.into(),
        },
        Constant {
            name: "cold_start_steps",
            value: COLD_START_STEPS,
            origin: Origin::Derived,
            source: "own choice; the artifact does not say".into(),
        },
        Constant {
            name: "probe_steps",
            value: PROBE_STEPS,
            origin: Origin::Derived,
            source: "own choice; the artifact does not say".into(),
        },
        Constant {
            name: "restore_s",
            value: application.restore_s,
            origin: Origin::Stated,
            source: "constant of the Sia simulator (SOSP 2023); no raw log behind it".into(),
        },
    ];
    steps.sort_by_cached_key(|s| {
        let shape = s.placement.shape(&options.vm);
        let rank = match s.placement {
            Placement::Even { each, .. } => (0, each),
            Placement::Uneven(_) => (1, 0),
            Placement::Spread { .. } => (2, 0),
        };
        (rank, shape, s.placement.workers(), s.local_batch)
    });
    draft.steps = steps.iter().map(|s| step_line(s, &options.vm)).collect();
    step_laws(&steps, options, &mut draft, &mut report);
    epochs(&runs, &application.samples_per_epoch, &mut draft);
    draft.epoch_law = Some(Law {
        law: EpochLaw::Goodput {
            initial_batch: initial,
            target_progress,
        },
        basis: replay(&runs, initial, &mut report),
    });
    noise(&runs, initial, target_progress, &mut draft, &mut report);
    report.note(format!(
        "samples per epoch: {} ({})",
        application.samples_per_epoch, application.samples_source
    ));
    report.note(format!(
        "assumed: cold_start_steps {COLD_START_STEPS}, probe_steps {PROBE_STEPS} (own choice); restore_s {} (Sia simulator)",
        application.restore_s
    ));
    report.note("step laws hold from two VMs on; one VM with several workers is only in steps.csv");
    Some(Imported { draft, report })
}

fn application(options: &Options, diagnostics: &mut Diagnostics) -> Option<&'static Application> {
    let from_folder = || options.folder.file_name()?.to_str().map(str::to_owned);
    let name = options
        .application
        .clone()
        .or_else(from_folder)
        .unwrap_or_default();
    let found = APPLICATIONS.iter().find(|a| a.name == name);
    if found.is_none() {
        let known: Vec<&str> = APPLICATIONS.iter().map(|a| a.name).collect();
        let title = format!("unknown Pollux application `{name}`");
        let help = format!(
            "known: {}; name it with --app if the folder is called otherwise",
            known.join(", ")
        );
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    found
}

/// Most workers, VMs and samples that a row may name; beyond, it is a slip of the pen.
const LARGEST: u64 = 60_000;

fn whole(row: &Row<'_>, column: &str, diagnostics: &mut Diagnostics) -> Option<u32> {
    let value = row.whole(column, 1..=LARGEST, diagnostics)?;
    u32::try_from(value).ok()
}

fn steps(folder: &Path, report: &mut Report, diagnostics: &mut Diagnostics) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut complete = true;
    let mut seen = std::collections::BTreeSet::new();
    let files = [
        ("placements.csv", &["placement"][..]),
        ("scalability.csv", &["num_nodes", "num_replicas"][..]),
    ];
    for (file, keys) in files {
        let Some(source) = Source::read(&folder.join(file), diagnostics) else {
            complete = false;
            continue;
        };
        let required = [keys, &["local_bsz", "step_time", "sync_time"]].concat();
        let before = diagnostics.len();
        let Some(table) = Table::read(&source, &required, &[], diagnostics) else {
            complete = false;
            continue;
        };
        let mut read = 0;
        for row in table.rows() {
            read += 1;
            let placement = match keys {
                ["placement"] => digits(&row, &source, diagnostics),
                _ => totals(&row, &source, diagnostics),
            };
            let Some(step) = step(&row, &source, placement, diagnostics) else {
                continue;
            };
            let key = (
                step.placement.shape(""),
                step.placement.workers(),
                step.local_batch,
            );
            if !seen.insert(key) {
                let label = "keep one of the two rows";
                let title = "this placement and batch were given before";
                diagnostics.error_at(&source, row.line_span(), title, label);
                continue;
            }
            steps.push(Step {
                file: file.trim_end_matches(".csv"),
                ..step
            });
        }
        report.rows(file, read, &[]);
        complete &= diagnostics.len() == before;
    }
    complete.then_some(steps)
}

fn digits(row: &Row<'_>, source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Placement> {
    let text = row.text("placement", diagnostics)?;
    // Nine each on nine thousand VMs would still be below the largest.
    let placement = Some(text)
        .filter(|t| t.len() < 6_000)
        .and_then(Placement::from_digits);
    if placement.is_none() {
        diagnostics.error_at(
            source,
            row.span("placement"),
            format!("`{text}` is no placement"),
            "expected one digit from 1 to 9 per VM",
        );
    }
    placement
}

fn totals(row: &Row<'_>, source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Placement> {
    let vms = whole(row, "num_nodes", diagnostics);
    let workers = whole(row, "num_replicas", diagnostics);
    let (vms, workers) = (vms?, workers?);
    if workers < vms {
        diagnostics.error_at(
            source,
            row.span("num_replicas"),
            format!("{workers} workers cannot be on {vms} VMs"),
            "at least one on each",
        );
        return None;
    }
    Some(Placement::from_totals(vms, workers))
}

fn step(
    row: &Row<'_>,
    source: &Arc<Source>,
    placement: Option<Placement>,
    diagnostics: &mut Diagnostics,
) -> Option<Step> {
    use std::ops::Bound::{Excluded, Unbounded};
    let local_batch = whole(row, "local_bsz", diagnostics);
    let step_s = row.number("step_time", (Excluded(0.0), Unbounded), diagnostics);
    let sync_s = row.number("sync_time", 0.0.., diagnostics);
    let (step_s, sync_s) = (step_s?, sync_s?);
    if sync_s >= step_s {
        diagnostics.error_at(
            source,
            row.span("sync_time"),
            format!("a synchronisation of {sync_s} s is not part of a step of {step_s} s"),
            "must be less than `step_time`",
        );
        return None;
    }
    Some(Step {
        placement: placement?,
        local_batch: local_batch?,
        step_s,
        sync_s,
        file: "",
    })
}

fn step_line(step: &Step, vm: &str) -> StepLine {
    let workers = step.placement.workers();
    StepLine {
        vm: step.placement.shape(vm),
        workers,
        batch: workers * step.local_batch,
        step_s: step.step_s,
        communication_s: Some(step.sync_s),
        origin: Origin::Measured,
        source: step.file.into(),
    }
}

impl Step {
    fn point(&self) -> StepPoint {
        StepPoint {
            workers: self.placement.workers(),
            local_batch: f64::from(self.local_batch),
            step_s: self.step_s,
            exposed_s: Some(self.sync_s),
        }
    }
}

/// A p-norm per even shape: its rows on two VMs and more, and the single worker, which fixes the
/// compute. One VM with several workers has no Ethernet between them and is on another line.
fn step_laws(steps: &[Step], options: &Options, draft: &mut Draft, report: &mut Report) {
    let mut per_vm: Vec<u32> = steps
        .iter()
        .filter_map(|s| match s.placement {
            Placement::Even { each, .. } => Some(each),
            _ => None,
        })
        .collect();
    per_vm.sort_unstable();
    per_vm.dedup();
    for n in per_vm {
        let points: Vec<StepPoint> = steps
            .iter()
            .filter(|s| match s.placement {
                Placement::Even { vms, each } => (each == n && vms > 1) || vms * each == 1,
                _ => false,
            })
            .map(Step::point)
            .collect();
        let shape = Placement::Even { vms: 1, each: n }.shape(&options.vm);
        match p_norm(&points) {
            Some(fit) => {
                report.fit(&shape, "p-norm", &fit.quality);
                draft.step_laws.push(Law {
                    basis: format!("{}; one worker, or two VMs and more", basis(&fit.quality)),
                    law: (shape, fit.law),
                });
            }
            None => report.note(format!("no law for {shape}: too few points")),
        }
    }
}

/// The validation runs by rising batch.
fn runs(folder: &Path, diagnostics: &mut Diagnostics) -> Option<Vec<Run>> {
    let names = match fs::read_dir(folder) {
        Ok(entries) => entries
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .collect::<Vec<_>>(),
        Err(error) => {
            let title = format!("cannot read {}: {error}", folder.display());
            diagnostics.push(Diagnostic::general(title));
            return None;
        }
    };
    let batch_of = |name: &String| {
        let batch = name.strip_prefix("validation-")?.strip_suffix(".csv")?;
        batch.parse().ok().filter(|&batch: &u32| batch > 0)
    };
    let mut batches: Vec<u32> = names.iter().filter_map(batch_of).collect();
    batches.sort_unstable();
    batches.dedup();
    if batches.is_empty() {
        let title = format!("{} has no validation-B.csv", folder.display());
        let help = "expected one per global batch B, such as validation-128.csv";
        diagnostics.push(Diagnostic::general(title).with_help(help));
        return None;
    }
    let runs: Vec<Option<Run>> = batches
        .into_iter()
        .map(|batch| run(folder, batch, diagnostics))
        .collect();
    runs.into_iter().collect()
}

fn run(folder: &Path, batch: u32, diagnostics: &mut Diagnostics) -> Option<Run> {
    use std::ops::Bound::{Excluded, Unbounded};
    let before = diagnostics.len();
    let path = folder.join(format!("validation-{batch}.csv"));
    let source = Source::read(&path, diagnostics)?;
    let required = ["progress", "iteration", "grad_sqr", "grad_var"];
    let table = Table::read(&source, &required, &["metric"], diagnostics)?;
    let mut rows: Vec<(f64, f64, Option<f64>)> = Vec::new();
    for row in table.rows() {
        let rising = (Excluded(0.0), Unbounded);
        let progress = row.number("progress", rising, diagnostics);
        let iteration = row.number("iteration", rising, diagnostics);
        let square = row.number("grad_sqr", 0.0.., diagnostics);
        let variance = row.number("grad_var", 0.0.., diagnostics);
        let (Some(progress), Some(iteration)) = (progress, iteration) else {
            continue;
        };
        if rows
            .last()
            .is_some_and(|l| l.0 >= progress || l.1 >= iteration)
        {
            diagnostics.error_at(
                &source,
                row.line_span(),
                "progress or iteration does not rise",
                "must be above the row before",
            );
        }
        let phi = square
            .zip(variance)
            .map(|(square, variance)| variance / square);
        rows.push((
            progress,
            iteration,
            phi.filter(|p| p.is_finite() && *p > 0.0),
        ));
    }
    (diagnostics.len() == before && !rows.is_empty()).then_some(Run { batch, rows })
}

/// Passes over the data that each run took to the same statistical progress.
fn epochs(runs: &[Run], samples_per_epoch: &f64, draft: &mut Draft) {
    for run in runs {
        let Some(&(_, steps, _)) = run.rows.last() else {
            continue;
        };
        draft.epochs.push(EpochLine {
            batch: run.batch,
            epochs: steps * f64::from(run.batch) / samples_per_epoch,
            // A measurement in another unit.
            origin: Origin::Measured,
            source: format!("validation-{}: {steps} steps", run.batch),
        });
    }
}

/// Pieces (end, φ in samples) of a run; a row without φ belongs to the piece after it, or to the
/// last one.
fn pieces(run: &Run, initial: u32) -> Vec<(f64, f64)> {
    let with_scale = |&(progress, _, phi): &(f64, f64, Option<f64>)| {
        phi.map(|phi| (progress, phi * f64::from(initial)))
    };
    let mut pieces: Vec<(f64, f64)> = run.rows.iter().filter_map(with_scale).collect();
    if let (Some(piece), Some(end)) = (pieces.last_mut(), run.rows.last()) {
        piece.0 = end.0;
    }
    pieces
}

/// Replays every run from its own noise scale and compares with the steps it took.
fn replay(runs: &[Run], initial: u32, report: &mut Report) -> String {
    let mut worst = 0.0_f64;
    for run in runs {
        let Some(&(_, measured, _)) = run.rows.last() else {
            continue;
        };
        let batch = f64::from(run.batch);
        let steps = goodput::steps(f64::from(initial), batch, pieces(run, initial));
        let error = 100.0 * (steps / measured - 1.0);
        worst = worst.max(error.abs());
        report.note(format!(
            "batch {}: {measured} steps measured, {steps:.0} replayed from its noise scale ({error:+.2} %)",
            run.batch
        ));
    }
    format!("replayed from phi.csv, within {worst:.1} % of the steps of every run")
}

fn noise(runs: &[Run], initial: u32, target_progress: f64, draft: &mut Draft, report: &mut Report) {
    let mut points = Vec::new();
    let (mut read, mut without, mut beyond) = (0, 0, 0);
    for run in runs {
        read += run.rows.len();
        without += run.rows.iter().filter(|r| r.2.is_none()).count();
        let mut done = 0.0;
        for (until, noise_scale_samples) in pieces(run, initial) {
            let until = until.min(target_progress);
            points.push((
                until / target_progress,
                f64::from(run.batch),
                noise_scale_samples,
            ));
            if until <= done {
                beyond += 1;
                continue;
            }
            done = until;
            draft.phi.push(PhiLine {
                batch: run.batch,
                progress: until,
                noise_scale_samples,
                origin: Origin::Derived,
                source: format!("validation-{}: {initial} grad_var/grad_sqr", run.batch),
            });
        }
    }
    report.rows(
        "validation-*.csv",
        read,
        &[
            ("no finite noise scale", without),
            ("beyond the target", beyond),
        ],
    );
    if let Some(law) = power_scale(initial, &points) {
        report.fit("ln φ", "power of progress and batch", &law.quality);
        draft.noise_law = Some(Law {
            basis: format!("{} (of ln φ)", basis(&law.quality)),
            law: NoiseLaw::Power(law),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_become_shapes() {
        let shape = |digits| Placement::from_digits(digits).map(|p| (p.shape("vm"), p.workers()));
        let is = |text: &str, workers| Some((text.to_owned(), workers));
        assert_eq!(shape("1"), is("vm", 1));
        assert_eq!(shape("111"), is("vm", 3));
        assert_eq!(shape("44"), is("vm/4", 8));
        assert_eq!(shape("124"), is("vm/1-2-4", 7));
        assert_eq!(shape("10"), None);
        assert_eq!(shape("1x"), None);
        let spread = |vms, workers| Placement::from_totals(vms, workers).shape("vm");
        assert_eq!(spread(6, 6), "vm");
        assert_eq!(spread(6, 18), "vm/3");
        assert_eq!(spread(6, 7), "vm/7@6");
    }
}
