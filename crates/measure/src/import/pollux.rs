//! Step times and gradient noise in the form of the Pollux artifact (Qiao et al., OSDI 2021).
//!
//! In: the folder of one application: `placements.csv`, `scalability.csv` and a
//! `validation-B.csv` per global batch B. Step times come as placement of workers on VMs; a
//! validation run gives steps, and gradient noise per statistical epoch. Any application will do: the smallest
//! B is the initial batch, whose run says where the target is and how many samples a pass has.
//!
//! - [`options`]: what is imported, and how.
//! - `steps`: step times; `runs`: epochs and noise.
//! - `consistent`: whether the runs agree with each other.
//! - `applications`: names, and what the files of the artifact do not say.

mod applications;
mod consistent;
pub mod options;
mod runs;
mod steps;

pub use options::{PLACEMENTS, PolluxOptions, SCALABILITY, VALIDATION, VM};

use applications::Application;
use runs::Run;
use steps::Placement;

use super::draft::{Constant, Draft, Law};
use super::figure::rounded;
use super::report::Report;
use super::step_laws::step_laws;
use super::{
    COLD_START_STEPS, ImportResult, MOST_SAMPLES, PARAMETERS, PROBE_STEPS, not_parameters,
    parameters, refuse,
};
use scavsim_data::workload::Origin;
use scavsim_data::workload::law::EpochLaw;
use scavsim_data::workload::law::prior::Prior;
use scavsim_read::input::{Diagnostic, Diagnostics};

/// Seconds to restore a checkpoint, where nobody says.
const RESTORE_S: f64 = 60.0;
/// A run that ends this share short of the target has reached it: progress is a sum of rounded figures.
const ROUNDING: f64 = 1e-4;
/// A known data set may differ by this share from what the files say: passes end with a step.
const SAME_DATA: f64 = 0.01;

/// Reads the folder. Whatever is wrong goes to `diagnostics`.
pub fn read(options: &PolluxOptions, diagnostics: &mut Diagnostics) -> Option<ImportResult> {
    check(options, diagnostics);
    let application = applications::known(options, diagnostics);
    let mut report = Report::default();
    let steps = steps::steps(options, &mut report, diagnostics);
    let runs = runs::runs(options, diagnostics);
    let (mut steps, mut runs) = (steps?, runs?);
    let first = initial(options, &runs, diagnostics)?;
    let initial = first.batch;
    let samples = samples(options, application, first, diagnostics)?;
    let (last_progress, last_step, _) = *first.rows.last()?;
    let target_progress = options.target_progress.unwrap_or(last_progress);
    consistent::check(&runs, initial, &mut report, diagnostics);
    if !diagnostics.is_empty() {
        return None;
    }
    let target = format!(
        "the statistical progress of {} steps at batch {initial} ({} epochs)",
        rounded(target_progress, 9),
        // At M₀ a step is the progress of one.
        rounded(
            options.target_progress.unwrap_or(last_step) * f64::from(initial) / samples.value,
            4
        )
    );
    // What stopped short says nothing about the way to the target.
    runs.retain(|run| {
        let end = run.rows.last().map_or(0.0, |r| r.0);
        let reached = end >= target_progress * (1.0 - ROUNDING);
        if !reached {
            report.note(format!(
                "batch {} dropped: it ended at progress {end}, before the target",
                run.batch
            ));
        }
        reached
    });
    if options.target_progress.is_some() {
        runs.iter_mut().for_each(|run| run.end_at(target_progress));
    }

    let mut draft = described(options, application, samples.clone(), target);
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
    step_laws(&mut draft, &Prior::default(), &mut report);
    runs::epochs(&runs, &samples.value, &mut draft);
    let goodput = EpochLaw::Goodput {
        initial_batch: initial,
        target_progress,
    };
    let basis = runs::replay(&runs, initial, &mut report);
    draft.epoch_law = Some(Law::measured(goodput, basis));
    let pattern = options.validation.as_deref().unwrap_or(VALIDATION);
    let target = (initial, target_progress);
    runs::noise(&runs, pattern, target, &mut draft, &mut report);
    report.note(format!(
        "initial batch {initial}, target at {} of its steps",
        rounded(target_progress, 9)
    ));
    report.note(format!(
        "samples per epoch: {} ({})",
        samples.value, samples.source
    ));
    for constant in draft.constants.iter().filter(|c| c.name != samples.name) {
        report.note(format!(
            "{} {} ({})",
            constant.name, constant.value, constant.source
        ));
    }
    Some(ImportResult { draft, report })
}

fn check(options: &PolluxOptions, diagnostics: &mut Diagnostics) {
    let mut refuse = |option, legal| refuse(option, legal, diagnostics);
    let above_zero = |value: Option<f64>| value.is_none_or(|v| v.is_finite() && v > 0.0);
    if options.initial_batch == Some(0) {
        refuse("initial-batch", "a whole number of at least 1");
    }
    if (options.samples_per_epoch).is_some_and(|s| s == 0 || s > MOST_SAMPLES) {
        refuse("samples-per-epoch", "a whole number between 1 and 10^12");
    }
    if !above_zero(options.epochs) {
        refuse("epochs", "a number above 0");
    }
    if !above_zero(options.target_progress) {
        refuse("target-progress", "a number above 0");
    }
    if (options.restore_s).is_some_and(|s| !s.is_finite() || s < 0.0) {
        refuse("restore-s", "a number of at least 0");
    }
    if options.parameters.is_some_and(not_parameters) {
        refuse("parameters", PARAMETERS);
    }
    if (options.validation.as_deref()).is_some_and(|name| name.matches('*').count() != 1) {
        refuse("validation", "a name with one `*`, where the batch stands");
    }
    if options.samples_per_epoch.is_some() && options.epochs.is_some() {
        let title = "--samples-per-epoch and --epochs exclude each other";
        let help = "the one follows from the other and the steps of the run at the initial batch";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
}

/// The run in whose steps progress is counted: that at the smallest batch.
fn initial<'r>(
    options: &PolluxOptions,
    runs: &'r [Run],
    diagnostics: &mut Diagnostics,
) -> Option<&'r Run> {
    let smallest = runs.first()?;
    let asked = options.initial_batch.unwrap_or(smallest.batch);
    if asked != smallest.batch {
        let title = format!(
            "an initial batch of {asked}, where the smallest validation run is at {}",
            smallest.batch
        );
        let help = "progress and target are counted in the steps of the run at the initial batch, which is the smallest";
        diagnostics.push(Diagnostic::general(title).with_help(help));
        return None;
    }
    Some(smallest)
}

/// Samples in one pass, as options, the data set or the run at the initial batch tell.
fn samples(
    options: &PolluxOptions,
    application: Option<&Application>,
    first: &Run,
    diagnostics: &mut Diagnostics,
) -> Option<Constant> {
    let (_, steps, _) = *first.rows.last()?;
    let (batch, rows) = (first.batch, first.rows.len());
    let seen = steps * f64::from(batch);
    let of = |value: f64, origin, source: String| Constant {
        name: "samples_per_epoch",
        value,
        origin,
        source,
    };
    let passes = options.epochs.unwrap_or(rows as f64);
    let counted = (seen / passes).round().max(1.0);
    if let Some(samples) = options.samples_per_epoch {
        let given = "given when it was imported".to_owned();
        return Some(of(samples as f64, Origin::Stated, given));
    }
    if let Some(known) = application.filter(|_| options.epochs.is_none()) {
        let share = counted / known.samples_per_epoch - 1.0;
        if share.abs() > SAME_DATA {
            let title = format!(
                "`{}` has {} samples per epoch, and these files {counted}: {steps} steps of {batch} in {rows} rows",
                known.name, known.samples_per_epoch
            );
            let help = "if it is another application, give the folder another name and leave --app out; else say --samples-per-epoch";
            diagnostics.push(Diagnostic::general(title).with_help(help));
            return None;
        }
        let source = known.samples_source.to_owned();
        return Some(of(known.samples_per_epoch, known.samples_origin, source));
    }
    let how = match options.epochs {
        Some(epochs) => format!("{epochs} epochs, as given when it was imported"),
        None => format!("{rows} rows, taken for one per epoch"),
    };
    let source = format!("{steps} steps of {batch} samples in {how}");
    Some(of(counted, Origin::Derived, source))
}

/// What is known beside the measurements.
fn described(
    options: &PolluxOptions,
    application: Option<&Application>,
    samples: Constant,
    target: String,
) -> Draft {
    let own_choice = |name, value| Constant {
        name,
        value,
        origin: Origin::Derived,
        source: "own choice; the artifact does not say".into(),
    };
    let (restore_s, origin, source) = match (options.restore_s, application) {
        (Some(given), _) => (given, Origin::Stated, "given when it was imported"),
        (None, Some(known)) => (
            known.restore_s,
            Origin::Stated,
            "constant of the Sia simulator (SOSP 2023); no raw log behind it",
        ),
        (None, None) => (
            RESTORE_S,
            Origin::Derived,
            "default of the import; no measurement",
        ),
    };
    let mut constants = vec![
        samples,
        own_choice("cold_start_steps", COLD_START_STEPS),
        own_choice("probe_steps", PROBE_STEPS),
        Constant {
            name: "restore_s",
            value: restore_s,
            origin,
            source: source.into(),
        },
    ];
    let known = application.map(|known| Constant {
        name: "parameters",
        value: known.parameters,
        origin: Origin::Stated,
        source: known.parameters_source.into(),
    });
    constants.extend(options.parameters.map(parameters).or(known));
    let accuracy = "steps: means over a short profile";
    let epochs = "epochs: one run per batch";
    match application {
        Some(known) => Draft {
            name: options.name.clone(),
            model: known.model.into(),
            data_set: known.data_set.into(),
            target: match options.target_progress {
                None => known.target.into(),
                Some(_) => target,
            },
            citation: "Qiao et al., Pollux, OSDI 2021; artifact petuum/adaptdl, branch osdi21-artifact, commit c793c70".into(),
            accuracy: format!("{accuracy}, which differ by 3 to 8 % between equal placements; {epochs}"),
            licence: "Apache-2.0 by the headers of the artifact's files; copyright Petuum, Inc.; unit conversions and laws are this project's".into(),
            constants,
            ..Draft::default()
        },
        None => Draft {
            name: options.name.clone(),
            model: "not stated".into(),
            data_set: "not stated".into(),
            target,
            citation: "measurements in the form of the Pollux artifact (Qiao et al., OSDI 2021)".into(),
            accuracy: format!("{accuracy}; {epochs}"),
            licence: "as the measurements".into(),
            constants,
            ..Draft::default()
        },
    }
}
