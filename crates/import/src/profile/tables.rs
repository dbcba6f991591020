//! Combines the repeats of the table into the tables of the workload.

use std::collections::BTreeMap;

use super::options::ProfileOptions;
use super::rows::{Key, Points, epochs_by_batch};
use crate::draft::{Draft, EpochLine, NoiseLine, StepLine};
use crate::figure::rounded;
use crate::report::Report;
use scavsim_base::stats::{mean, median_of};
use scavsim_data::configuration::Shape;
use scavsim_data::workload::Origin;

pub(super) fn steps(points: &Points, file: &str, draft: &mut Draft, report: &mut Report) {
    let mut widest: Option<(f64, &Key)> = None;
    for (key, rows) in points {
        let (vm, workers, batch) = key;
        let Some(step_s) = median_of(rows.iter().map(|m| m.step_s)) else {
            continue;
        };
        let least = rows.iter().map(|m| m.step_s).fold(f64::INFINITY, f64::min);
        let greatest = rows.iter().map(|m| m.step_s).fold(0.0, f64::max);
        let spread = (greatest - least) / step_s;
        if rows.len() > 1 && widest.is_none_or(|(w, _)| spread > w) {
            widest = Some((spread, key));
        }
        // As a share, because repeats without a split count, too.
        let share = median_of(
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
                n => format!("{file}: median of {n}"),
            },
        });
    }
    draft.communication_unknown = draft.steps.iter().all(|s| s.communication_s.is_none());
    report.note(match points.len() {
        1 => "1 configuration".to_owned(),
        n => format!("{n} configurations"),
    });
    if let Some((spread, (vm, workers, batch))) = widest {
        report.note(format!(
            "repeats of a step differ by up to {:.1} % (at {workers} x {vm}, batch {batch})",
            100.0 * spread
        ));
    }
    if draft.communication_unknown {
        report.note("no row separates compute from communication: the whole step counts as one");
    }
}

pub(super) type TimedConfiguration = (Key, f64, Option<f64>);

/// Seconds of a step and, if its epochs are known, to the target, of every configuration.
pub(super) fn times(points: &Points, options: &ProfileOptions) -> Vec<TimedConfiguration> {
    let epochs = epochs_by_batch(points);
    let samples = options.samples_per_epoch as f64;
    let times = points.iter().filter_map(|(key, rows)| {
        let step_s = median_of(rows.iter().map(|m| m.step_s))?;
        let known = epochs.get(&key.2).and_then(|e| mean(e.iter().map(|e| e.0)));
        let steps = |epochs: f64| epochs * samples / f64::from(key.2);
        let time_s = known.or(options.epochs).map(|e| steps(e) * step_s);
        Some((key.clone(), step_s, time_s))
    });
    times.collect()
}

/// Reports absolute values, so that a wrong unit is visible.
pub(super) fn figures(points: &Points, options: &ProfileOptions, report: &mut Report) {
    let times = times(points, options);
    let by = |of: fn(&TimedConfiguration) -> Option<f64>| {
        let mut all: Vec<(f64, &Key)> = times.iter().filter_map(|t| Some((of(t)?, &t.0))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some((*all.first()?, *all.last()?))
    };
    let at = |(vm, workers, batch): &Key| format!("{workers} x {vm}, batch {batch}");
    if let Some((least, most)) = by(|t| Some(t.1)) {
        report.note(format!(
            "steps from {} s ({}) to {} s ({})",
            rounded(least.0, 3),
            at(least.1),
            rounded(most.0, 3),
            at(most.1)
        ));
    }
    if let Some((least, most)) = by(|t| Some(f64::from(t.0.2) / t.1)) {
        report.note(format!(
            "from {} to {} samples per second",
            rounded(least.0, 3),
            rounded(most.0, 3)
        ));
    }
    if let Some((least, most)) = by(|t| t.2) {
        report.note(format!(
            "time to the target from {} ({}) to {} ({})",
            lasting(least.0),
            at(least.1),
            lasting(most.0),
            at(most.1)
        ));
    }
    let mut vms: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (shape, workers, _) in points.keys() {
        let held = Shape::parse(shape).ok().and_then(|s| s.vms(*workers));
        let Some(held) = held else { continue };
        let range = vms.entry(shape).or_insert((held, held));
        *range = (range.0.min(held), range.1.max(held));
    }
    let held = vms
        .into_iter()
        .map(|(shape, (least, most))| match (least, most) {
            (1, 1) => format!("1 VM of {shape}"),
            _ if least == most => format!("{least} VMs of {shape}"),
            _ => format!("{least} to {most} VMs of {shape}"),
        });
    report.note(held.collect::<Vec<_>>().join(", "));
}

pub(super) fn lasting(seconds: f64) -> String {
    match seconds {
        s if s < 600.0 => format!("{} s", rounded(s, 3)),
        s if s < 172_800.0 => format!("{} h", rounded(s / 3600.0, 3)),
        s => format!("{} days", rounded(s / 86_400.0, 3)),
    }
}

pub(super) fn noise(points: &Points, file: &str, draft: &mut Draft) {
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

/// Epochs by batch: for one batch, other workers and VM types are repeats, too.
pub(super) fn epochs(
    points: &Points,
    options: &ProfileOptions,
    file: &str,
    draft: &mut Draft,
    report: &mut Report,
) {
    let known = epochs_by_batch(points);
    let mut widest = 0.0_f64;
    for (&batch, values) in &known {
        let line = |epochs, origin, source: String| EpochLine {
            batch,
            epochs,
            origin,
            source,
        };
        let each = || values.iter().map(|e| e.0);
        if let Some(epochs) = mean(each()) {
            let (least, greatest) = (
                each().fold(f64::INFINITY, f64::min),
                each().fold(0.0, f64::max),
            );
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
    let is_missing = |batch: &&u32| draft.epochs.iter().all(|e| e.batch != **batch);
    let missing: Vec<String> = (known.keys().filter(is_missing))
        .map(u32::to_string)
        .collect();
    if !missing.is_empty() {
        report.note(format!(
            "epochs of batch {} are not given: between others they are interpolated, beyond them by a law if there is one",
            missing.join(", ")
        ));
    }
}
