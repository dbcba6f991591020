//! A table of the user's own measurements: `vm,workers,batch,step_s` and, where known, `compute_s`, `communication_s`,
//! `noise` (γ/K) and `epochs`; cells of these may be empty. Rows of one configuration are repeats.

mod laws;
pub mod options;
mod questions;
mod rows;
mod step_laws;
mod tables;
mod warm_up;

use std::sync::Arc;

pub use laws::ASSUMED_NOISE_SCALE;
pub use options::{ASTRAY, BatchIs, ProfileOptions, RunDescription, Unit};

use options::MOST_SAMPLES;

use super::draft::{Constant, Draft};
use super::report::Report;
use super::{ImportResult, MeasuredRun, refuse};
use scavsim_data::cloud::Catalogue;
use scavsim_data::workload::Origin;
use scavsim_data::workload::head::MOST_PARAMETERS;
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_read::measurements::{RunFacts, recognise};

/// Default steps of one probe, and until the noise reading settles.
const PROBE_STEPS: f64 = 20.0;
const COLD_START_STEPS: f64 = 100.0;
/// Default seconds to restore a checkpoint.
pub const RESTORE_S: f64 = 60.0;

pub fn read(options: &ProfileOptions, diagnostics: &mut Diagnostics) -> Option<ImportResult> {
    let source = Source::read(&options.file, diagnostics);
    let Some(source) = source else {
        check(options, diagnostics);
        return None;
    };
    read_source(options, &source, diagnostics)
}

/// Reads a table that is already in `source`.
pub fn read_source(
    options: &ProfileOptions,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<ImportResult> {
    check(options, diagnostics);
    let gpus_of = |vm: &str| {
        let listed = Catalogue::current().spelled(vm)?;
        u32::try_from(listed.gpu_count()).ok()
    };
    let recognised = recognise(source, &facts(options, &gpus_of), diagnostics)?;
    let source = &recognised.table;
    let mut options = options.clone();
    if recognised.says_batch {
        options.batch = Some(BatchIs::Global);
    }
    if recognised.says_unit {
        options.unit = Some(Unit::S);
    }
    let options = &options;
    let required = ["vm", "workers", "batch", "step_s"];
    let optional = ["compute_s", "communication_s", "noise", "epochs"];
    let table = Table::read(source, &required, &optional, diagnostics)?;
    let (points, read) = rows::points(&table, source, options, diagnostics);
    let any_epochs = points.values().flatten().any(|m| m.epochs.is_some());
    if !any_epochs && options.epochs.is_none() {
        let title = format!("{}: no row has `epochs`", source.name);
        let help = "give `epochs` in at least one row, or for all batches with --epochs";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    let mut report = Report::default();
    if let Some(sentence) = recognised.sentence {
        report.warn(Diagnostic::general(sentence));
    }
    questions::ask(source, &points, options, &mut report, diagnostics);
    if !diagnostics.is_empty() {
        return None;
    }
    report.rows("rows", read, &[]);
    let file = options.file.file_name();
    let file = file.map_or_else(String::new, |f| f.to_string_lossy().into_owned());
    let mut draft = head(options, &file);
    tables::steps(&points, &file, &mut draft, &mut report);
    tables::noise(&points, &file, &mut draft);
    tables::epochs(&points, options, &file, &mut draft, &mut report);
    laws::laws(&mut draft, &mut report);
    tables::figures(&points, options, &mut report);
    let runs = points.into_iter().flat_map(|((vm, workers, batch), rows)| {
        rows.into_iter().map(move |row| MeasuredRun {
            vm: vm.clone(),
            workers,
            batch,
            step_s: row.step_s,
            epochs: row.epochs,
        })
    });
    let runs = runs.collect();
    Some(ImportResult {
        draft,
        report,
        runs,
    })
}

fn facts<'f>(
    options: &'f ProfileOptions,
    gpus_of: &'f dyn Fn(&str) -> Option<u32>,
) -> RunFacts<'f> {
    RunFacts {
        vm: options.run.vm.as_deref(),
        workers: options.run.workers,
        batch: options.run.batch,
        sequence: options.run.sequence,
        samples_per_epoch: Some(options.samples_per_epoch),
        gpus_of: Some(gpus_of),
    }
}

fn check(options: &ProfileOptions, diagnostics: &mut Diagnostics) {
    let mut refuse = |option, legal| refuse(option, legal, diagnostics);
    if options.samples_per_epoch == 0 || options.samples_per_epoch > MOST_SAMPLES {
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
    if (options.parameters).is_some_and(|p| p == 0 || p as f64 > MOST_PARAMETERS) {
        refuse("parameters", "a whole number between 1 and 10^15");
    }
}

fn head(options: &ProfileOptions, file: &str) -> Draft {
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
    let given = |n: u64| option(Some(n as f64), 1.0);
    let mut constants = vec![
        constant("samples_per_epoch", given(options.samples_per_epoch)),
        constant(
            "cold_start_steps",
            option(number(options.cold_start_steps), COLD_START_STEPS),
        ),
        constant(
            "probe_steps",
            option(number(options.probe_steps), PROBE_STEPS),
        ),
        constant("restore_s", option(options.restore_s, RESTORE_S)),
    ];
    constants.extend((options.parameters).map(|n| constant("parameters", given(n))));
    Draft {
        name: options.name.clone(),
        model: "not stated".into(),
        data_set: "not stated".into(),
        target: "the one to which `epochs` were counted".into(),
        citation: format!("own measurements, {file}"),
        accuracy: "means over the repeats of each configuration".into(),
        licence: "as the measurements".into(),
        constants,
        ..Draft::default()
    }
}
