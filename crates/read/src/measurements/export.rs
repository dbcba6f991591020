//! Tables that trackers of experiments export.

use super::steps::{MeasuredSteps, MeasurementFile, RunFacts, TableResult};
use super::words::{Cells, normalised};
use crate::input::Diagnostic;

/// TensorBoard's CSV of a scalar: `Wall time,Step,Value`.
pub(super) fn read_tensorboard(
    file: &MeasurementFile<'_>,
    facts: &RunFacts<'_>,
) -> Option<TableResult> {
    let (source, cells) = (file.source, file.cells.as_ref()?);
    let header = cells.header.iter().map(|name| normalised(name));
    let is_one = header.eq(["wall_time", "step", "value"]);
    is_one.then(|| {
        by_clock(cells, "a scalar of TensorBoard", ("wall_time", "step")).into_table(source, facts)
    })
}

/// The history of a W&B run: `_step` and `_runtime`.
pub(super) fn read_wandb(file: &MeasurementFile<'_>, facts: &RunFacts<'_>) -> Option<TableResult> {
    let (source, cells) = (file.source, file.cells.as_ref()?);
    let has = |name: &str| cells.header.iter().any(|own| own == name);
    let clock = ["_runtime", "_timestamp"]
        .into_iter()
        .find(|name| has(name));
    if let Some(clock) = clock.filter(|_| has("_step")) {
        let steps = by_clock(cells, "the history of a W&B run", (clock, "_step"));
        return Some(steps.into_table(source, facts));
    }
    let is_panel = has("Step") && cells.header.iter().any(|own| own.contains(" - "));
    is_panel.then(|| {
        let title = format!("{}: a panel of W&B, which has no times", source.name);
        let help =
            "export the run's history, with `_step` and `_runtime`: `run.history().to_csv(…)`";
        Err(Diagnostic::general(title).with_help(help))
    })
}

/// `metrics.csv` of Lightning, with the rates of its throughput monitor.
pub(super) fn read_lightning(
    file: &MeasurementFile<'_>,
    facts: &RunFacts<'_>,
) -> Option<TableResult> {
    let (source, cells) = (file.source, file.cells.as_ref()?);
    let has = |name: &str| cells.header.iter().any(|own| own == name);
    if !(has("epoch") && has("step")) || has("vm") || has("workers") {
        return None;
    }
    let is_rate = |own: &String| own.ends_with("batches_per_sec");
    let Some(rate) = cells.header.iter().position(is_rate) else {
        let title = format!("{}: metrics of Lightning, without times", source.name);
        let help = "log them with `ThroughputMonitor`, which adds `device/batches_per_sec`";
        return Some(Err(Diagnostic::general(title).with_help(help)));
    };
    let steps = cells.rows.iter().filter_map(|(line, row)| {
        let rate: f64 = row.get(rate)?.parse().ok()?;
        (rate > 0.0).then_some((*line, 1.0 / rate))
    });
    let found = MeasuredSteps {
        kind: "metrics of Lightning",
        steps: steps.collect(),
        batch: None,
        workers: None,
    };
    Some(found.into_table(source, facts))
}

/// `results.csv` of Ultralytics: seconds since the start at the end of each epoch.
pub(super) fn read_ultralytics(
    file: &MeasurementFile<'_>,
    facts: &RunFacts<'_>,
) -> Option<TableResult> {
    let (source, cells) = (file.source, file.cells.as_ref()?);
    let has = |name: &str| cells.header.iter().any(|own| own.trim() == name);
    let mut names = cells.header.iter().map(|own| own.trim());
    if !has("epoch") || has("vm") || !names.any(|own| own.starts_with("metrics/")) {
        return None;
    }
    let kind = "results of Ultralytics, whose epochs have a validation each";
    let Some(samples) = facts.samples_per_epoch else {
        let title = format!("{}: {kind}", source.name);
        let help = "give --samples-per-epoch, --vm, --workers and --batch-size";
        return Some(Err(Diagnostic::general(title).with_help(help)));
    };
    let mut found = by_clock(cells, kind, ("time", "epoch"));
    let batches = samples as f64 / f64::from(facts.batch.unwrap_or(1));
    (found.steps.iter_mut()).for_each(|(_, step_s)| *step_s /= batches.ceil());
    Some(found.into_table(source, facts))
}

/// A table of Optuna's trials is a measured grid.
pub(super) fn refuse_optuna(file: &MeasurementFile<'_>, _: &RunFacts<'_>) -> Option<TableResult> {
    let (source, cells) = (file.source, file.cells.as_ref()?);
    let has = |name: &str| cells.header.iter().any(|own| own == name);
    let is_one = has("state") && cells.header.iter().any(|own| own.starts_with("params_"));
    is_one.then(|| {
        let title = format!(
            "{}: a table of Optuna's trials, whose durations are of whole runs",
            source.name
        );
        let help = "`scavsim import grid` reads whole runs: write `duration` as seconds";
        Err(Diagnostic::general(title).with_help(help))
    })
}

/// Seconds per step between rows that have a clock and a step.
fn by_clock<'k>(cells: &Cells, kind: &'k str, (clock, step): (&str, &str)) -> MeasuredSteps<'k> {
    let place = |name: &str| {
        let is_it = |own: &String| own == name || normalised(own) == name;
        cells.header.iter().position(is_it)
    };
    let number = |row: &[String], at: Option<usize>| row.get(at?)?.parse::<f64>().ok();
    let (clock, step) = (place(clock), place(step));
    let read =
        |(line, row): &(usize, Vec<String>)| Some((*line, number(row, clock)?, number(row, step)?));
    let all: Vec<(usize, f64, f64)> = cells.rows.iter().filter_map(read).collect();
    let between = |pair: &[(usize, f64, f64)]| {
        let (seconds, steps) = (pair[1].1 - pair[0].1, pair[1].2 - pair[0].2);
        (seconds > 0.0 && steps > 0.0).then_some((pair[1].0, seconds / steps))
    };
    MeasuredSteps {
        kind,
        steps: all.windows(2).filter_map(between).collect(),
        batch: None,
        workers: None,
    }
}
