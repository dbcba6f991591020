//! Step times and gradient noise of the Pollux artifact (Qiao et al., OSDI 2021).
//!
//! In: the folder of one application: `placements.csv`, `scalability.csv` and a
//! `validation-B.csv` per global batch B. Step times come as placement of workers on VMs; a
//! validation run gives steps, and gradient noise per statistical epoch.
//!
//! - `steps`: step times and their laws; `runs`: epochs and noise.

mod runs;
mod steps;

use std::path::PathBuf;

use steps::Placement;

use super::draft::{Constant, Draft, Law};
use super::report::Report;
use super::{COLD_START_STEPS, Imported, PROBE_STEPS};
use crate::input::{Diagnostic, Diagnostics};
use crate::workload::Origin;
use crate::workload::law::EpochLaw;

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

/// Reads the folder. Whatever is wrong goes to `diagnostics`.
pub fn read(options: &Options, diagnostics: &mut Diagnostics) -> Option<Imported> {
    let application = application(options, diagnostics);
    let mut report = Report::default();
    let steps = steps::steps(&options.folder, &mut report, diagnostics);
    let runs = runs::runs(&options.folder, diagnostics);
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

    let mut draft = described(&options.name, application);
    steps.sort_by_cached_key(|s| {
        let shape = s.placement.shape(&options.vm);
        let rank = match s.placement {
            Placement::Even { each, .. } => (0, each),
            Placement::Uneven(_) => (1, 0),
            Placement::Spread { .. } => (2, 0),
        };
        (rank, shape, s.placement.workers(), s.local_batch)
    });
    draft.steps = steps
        .iter()
        .map(|s| steps::step_line(s, &options.vm))
        .collect();
    steps::step_laws(&steps, options, &mut draft, &mut report);
    runs::epochs(&runs, &application.samples_per_epoch, &mut draft);
    let goodput = EpochLaw::Goodput {
        initial_batch: initial,
        target_progress,
    };
    let basis = runs::replay(&runs, initial, &mut report);
    draft.epoch_law = Some(Law::measured(goodput, basis));
    runs::noise(&runs, initial, target_progress, &mut draft, &mut report);
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

/// What is known of an application beside its measurements.
fn described(name: &str, application: &Application) -> Draft {
    let constants = vec![
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
    Draft {
        name: name.to_owned(),
        model: application.model.into(),
        data_set: application.data_set.into(),
        target: application.target.into(),
        citation: "Qiao et al., Pollux, OSDI 2021; artifact petuum/adaptdl, branch osdi21-artifact, commit c793c70".into(),
        accuracy: "steps: means over a short profile, which differ by 3 to 8 % between equal placements; epochs: one run per batch".into(),
        licence: "Apache-2.0 by the headers of the artifact's files; copyright Petuum, Inc.; unit conversions and laws are this project's".into(),
        constants,
        ..Draft::default()
    }
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
