//! Values that are rare in tables of measurements, and common in wrong ones, are questioned. An impossible value is a
//! mistake; an unlikely one needs an option, or is a warning.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::options::{ASTRAY, MOST_SAMPLES, ProfileOptions};
use super::rows::{Key, MeasuredRow, Points, epochs_by_batch};
use super::tables::{lasting, times};
use super::warm_up;
use crate::figure::rounded;
use crate::report::Report;
use scavsim_base::stats::{mean, median_of};
use scavsim_data::cloud::Fleet;
use scavsim_data::configuration::Shape;
use scavsim_fit::best::best;
use scavsim_fit::steps::StepPoint;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Repeats of one configuration that differ by this factor measure different things.
const REPEATS_APART: f64 = 3.0;
/// Steps of one VM type with a gap of this factor are in two units.
const HEAPS_APART: f64 = 30.0;
/// Steps this long are rare: the unit may be milliseconds.
const LONG_STEP_S: f64 = 20.0;
/// Steps this short are rare: launching their kernels needs longer.
const SHORT_STEP_S: f64 = 1e-4;
/// A year: longer times to a target are implausible.
const LONG_TRAINING_S: f64 = 365.0 * 86_400.0;
/// Minimum share by which a step shrinks if twice the workers share its batch, unless all of it is communication.
const FALLS: f64 = 0.05;
/// Products of batch and epochs this close to each other are one number of samples.
const NEARLY: f64 = 0.15;
/// With one batch, a step that is at most this factor longer with more workers suggests a batch per worker.
const AS_LONG: f64 = 1.5;
/// Ratio of the errors of two laws that decides between two readings of a table.
const TELLING: f64 = 2.0;

/// Runs all checks. Unlikely values go to the warnings of `report`.
pub(super) fn ask(
    source: &Arc<Source>,
    points: &Points,
    options: &ProfileOptions,
    report: &mut Report,
    diagnostics: &mut Diagnostics,
) {
    let before = diagnostics.len();
    repeats(source, points, diagnostics);
    epochs(source, points, diagnostics);
    if options.unit.is_none() {
        heaps(source, points, diagnostics);
        if diagnostics.len() == before {
            unit(source, points, options, diagnostics);
        }
    }
    if options.batch.is_none() {
        local_batch(source, points, diagnostics);
    }
    if options.epochs.is_none() {
        steps_for_epochs(source, points, diagnostics);
    }
    warm_up::ask(source, points, report);
    astray(source, points, report);
    gpus(source, points, report);
    silent_workers(source, points, report);
}

fn line(source: &Source, row: &MeasuredRow) -> usize {
    let before = source.text.as_bytes().iter().take(row.line.start);
    1 + before.filter(|byte| **byte == b'\n').count()
}

/// Repeats that differ too much to be repeats.
fn repeats(source: &Arc<Source>, points: &Points, diagnostics: &mut Diagnostics) {
    for rows in points.values() {
        let steps: Vec<(f64, &MeasuredRow)> = rows.iter().map(|m| (m.step_s, m)).collect();
        for (off, usual, times) in strays(&steps) {
            let title = format!(
                "a step of {} s, and of {} s for the same configuration in line {}",
                rounded(off.step_s, 6),
                rounded(usual.step_s, 6),
                line(source, usual)
            );
            let label = format!("{times} times apart");
            let help = if warm_up::slow_start(rows).is_some() {
                "the first steps of a run hold what is done once: if that is it, leave them out"
            } else {
                "correct the wrong one, or leave it out"
            };
            diagnostics.push(
                Diagnostic::at_span(source, off.cells.step_s.clone(), title, label).with_help(help),
            );
        }
    }
}

/// Epochs of one batch that differ too much.
fn epochs(source: &Arc<Source>, points: &Points, diagnostics: &mut Diagnostics) {
    for (batch, mut given) in epochs_by_batch(points) {
        given.sort_by_key(|(_, m)| m.line.start);
        for (off, usual, times) in strays(&given) {
            let title = format!(
                "{} epochs with batch {batch}, and {} in line {}",
                off.epochs.unwrap_or_default(),
                usual.epochs.unwrap_or_default(),
                line(source, usual)
            );
            let label = format!("{times} times apart");
            diagnostics.push(
                Diagnostic::at_span(source, off.cells.epochs.clone(), title, label).with_help(
                    "epochs depend on the batch and are averaged over its rows: correct the wrong one, or leave it out",
                ),
            );
        }
    }
}

/// Figures of one thing that are far from the median, with the median and the factor.
fn strays<'m>(
    figures: &[(f64, &'m MeasuredRow)],
) -> Vec<(&'m MeasuredRow, &'m MeasuredRow, String)> {
    let mut sorted: Vec<&(f64, &MeasuredRow)> = figures.iter().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    // With two, either may be wrong: the later one is shown.
    let middle = match figures {
        [] => return Vec::new(),
        [first, _] => first,
        _ => sorted[sorted.len() / 2],
    };
    let factor = |value: f64| (value / middle.0).max(middle.0 / value);
    (figures.iter())
        .filter(|(value, _)| factor(*value) >= REPEATS_APART)
        .map(|(value, m)| (*m, middle.1, rounded(factor(*value), 3)))
        .collect()
}

/// Repeats that are far from the median, which is used.
fn astray(source: &Arc<Source>, points: &Points, report: &mut Report) {
    for ((vm, workers, batch), rows) in points {
        let middle = median_of(rows.iter().map(|m| m.step_s));
        // Slow first rows have a check of their own.
        let is_asked = rows.len() < 3 || warm_up::slow_start(rows).is_some();
        let Some(middle) = middle.filter(|_| !is_asked) else {
            continue;
        };
        let off = |m: &&MeasuredRow| libm::log(m.step_s / middle).abs() >= ASTRAY;
        for row in rows.iter().filter(off) {
            let title = format!(
                "a step of {} s with {workers} x {vm}, batch {batch}, where repeats are {} s in the middle",
                rounded(row.step_s, 6),
                rounded(middle, 6)
            );
            let label = format!("{} times that", rounded(row.step_s / middle, 3));
            let help = "the middle one of repeats is taken, so this one hardly counts: leave it out if it went wrong";
            report.warn(
                Diagnostic::at_span(source, row.cells.step_s.clone(), title, label).with_help(help),
            );
        }
    }
}

/// Epochs that are really numbers of steps: a larger batch needs proportionally fewer.
fn steps_for_epochs(source: &Arc<Source>, points: &Points, diagnostics: &mut Diagnostics) {
    let known: Vec<(f64, f64, &MeasuredRow)> = (epochs_by_batch(points).into_iter())
        .filter_map(|(batch, given)| {
            let epochs = mean(given.iter().map(|e| e.0))?;
            Some((f64::from(batch), epochs, given.first()?.1))
        })
        .collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return;
    };
    let product = |of: &(f64, f64, &MeasuredRow)| of.0 * of.1;
    let near = |of: &(f64, f64, &MeasuredRow)| (product(of) / product(first) - 1.0).abs() < NEARLY;
    if last.0 < 2.0 * first.0 || !known.iter().all(near) {
        return;
    }
    let title = format!(
        "{} epochs with batch {}, and {} with {}: as many fewer as the batch is larger",
        rounded(first.1, 6),
        first.0,
        rounded(last.1, 6),
        last.0
    );
    let place = last.2.cells.epochs.clone();
    diagnostics.push(Diagnostic::at_span(source, place, title, "steps?").with_help(
        "no training takes so: `epochs` are passes over the data, which are steps × batch / samples in one pass",
    ));
}

/// Steps of one VM type in two groups far apart: seconds and milliseconds.
fn heaps(source: &Arc<Source>, points: &Points, diagnostics: &mut Diagnostics) {
    let types: BTreeSet<&str> = points.keys().map(|(vm, ..)| vm.as_str()).collect();
    for vm in types {
        let mut steps: Vec<(f64, f64, &MeasuredRow)> = (points.iter())
            .filter(|((own, ..), _)| own == vm)
            .flat_map(|((_, workers, batch), rows)| {
                let local = f64::from(*batch) / f64::from(*workers);
                rows.iter().map(move |m| (m.step_s, local, m))
            })
            .collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let split = (1..steps.len()).find(|&i| {
            let (low, high) = steps.split_at(i);
            let widest = low.iter().map(|s| s.1).fold(0.0, f64::max);
            let narrowest = high.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
            // A larger batch may take that much longer.
            let work = (narrowest / widest).max(1.0);
            high[0].0 / low[i - 1].0 > HEAPS_APART * work
        });
        let Some(split) = split else { continue };
        let (low, high) = steps.split_at(split);
        let range = |heap: &[(f64, f64, &MeasuredRow)]| {
            let ends = [heap[0].0, heap[heap.len() - 1].0].map(|s| rounded(s, 4));
            match heap.len() {
                1 => format!("1 of {} s", ends[0]),
                n => format!("{n} from {} to {} s", ends[0], ends[1]),
            }
        };
        let title = format!(
            "the steps of `{vm}` lie in two heaps: {}, {}",
            range(low),
            range(high)
        );
        // The smaller group is more likely the wrong one.
        let odd = if low.len() < high.len() { low } else { high };
        let first = odd.iter().map(|s| s.2).min_by_key(|m| m.line.start);
        let Some(first) = first else { continue };
        let help = "write all of them in seconds; if they are, say `--unit s`";
        let place = first.cells.step_s.clone();
        let label = "milliseconds beside seconds?";
        diagnostics.push(Diagnostic::at_span(source, place, title, label).with_help(help));
    }
}

/// Steps too long or too short to be seconds.
fn unit(
    source: &Arc<Source>,
    points: &Points,
    options: &ProfileOptions,
    diagnostics: &mut Diagnostics,
) {
    let rows = || points.values().flatten();
    let shortest = rows().min_by(|a, b| a.step_s.total_cmp(&b.step_s));
    let longest = rows().max_by(|a, b| a.step_s.total_cmp(&b.step_s));
    let (Some(shortest), Some(longest)) = (shortest, longest) else {
        return;
    };
    let known = (1..=MOST_SAMPLES).contains(&options.samples_per_epoch);
    let fastest = (times(points, options).iter())
        .filter_map(|t| t.2.filter(|s| known && s.is_finite()))
        .min_by(f64::total_cmp);
    let is_slow = fastest.is_some_and(|s| s > LONG_TRAINING_S);
    if shortest.step_s < LONG_STEP_S && longest.step_s > SHORT_STEP_S && !is_slow {
        return;
    }
    let mut title = format!(
        "steps take from {} to {} s",
        rounded(shortest.step_s, 4),
        rounded(longest.step_s, 4)
    );
    if let Some(fastest) = fastest {
        title += &format!(", and the fastest way to the target {}", lasting(fastest));
    }
    let (label, help) = if longest.step_s <= SHORT_STEP_S {
        (
            "so short?",
            "`step_s` is in seconds; if these are, say `--unit s`",
        )
    } else if shortest.step_s >= LONG_STEP_S {
        (
            "milliseconds?",
            "say `--unit ms` if they are, `--unit s` if not",
        )
    } else {
        (
            "milliseconds?",
            "say `--unit ms` if they are; if not, look at --samples-per-epoch and epochs, and say `--unit s`",
        )
    };
    let place = shortest.cells.step_s.clone();
    diagnostics.push(Diagnostic::at_span(source, place, title, label).with_help(help));
}

/// A batch that more workers do not finish sooner is a batch per worker.
fn local_batch(source: &Arc<Source>, points: &Points, diagnostics: &mut Diagnostics) {
    let is_split = points
        .values()
        .flatten()
        .all(|m| m.communication_s.is_some());
    let on_one_vm =
        |vm: &str, workers: u32| Shape::parse(vm).is_ok_and(|shape| shape.vms(workers) == Some(1));
    let work = |rows: &[MeasuredRow]| {
        let split = mean(
            rows.iter()
                .filter_map(|m| Some(m.step_s - m.communication_s?)),
        );
        split.or_else(|| mean(rows.iter().map(|m| m.step_s)))
    };
    let mut first: Option<(&Key, &Key, &MeasuredRow)> = None;
    let mut pairs = 0;
    for (key, rows) in points {
        let (vm, workers, batch) = key;
        let more = (points.iter()).find(|((other_vm, more, other), _)| {
            other_vm == vm
                && other == batch
                && *more >= workers.saturating_mul(2)
                // The first network between them may cancel their gain.
                && (is_split || on_one_vm(vm, *more) == on_one_vm(vm, *workers))
        });
        let Some((other, other_rows)) = more else {
            continue;
        };
        let (Some(before), Some(behind)) = (work(rows), work(other_rows)) else {
            continue;
        };
        if behind < before * (1.0 - FALLS) {
            return;
        }
        pairs += 1;
        first = first.or_else(|| Some((key, other, other_rows.first()?)));
    }
    let batches: BTreeSet<u32> = points.keys().map(|key| key.2).collect();
    if let (1, Some((few, many, row))) = (batches.len(), one_batch(points)) {
        let title = format!(
            "with batch {} a step takes as long with {} workers as with {}",
            few.2, many.1, few.1
        );
        diagnostics.push(whose(source, row, title));
        return;
    }
    // One pair may be a coincidence.
    let Some((few, many, row)) = first.filter(|_| pairs > 1) else {
        return;
    };
    // All of a step may be communication. Then a law fits it, and no law of a batch per worker is better.
    if let (Some(as_it_is), Some(as_local)) = (
        left_out(points, &few.0, |batch, workers| batch / workers),
        left_out(points, &few.0, |batch, _| batch),
    ) && as_local > as_it_is / TELLING
    {
        return;
    }
    let title = format!(
        "with batch {} a worker computes as long among {} workers as among {}, and so with every batch",
        few.2, many.1, few.1
    );
    diagnostics.push(whose(source, row, title));
}

fn whose(source: &Arc<Source>, row: &MeasuredRow, title: String) -> Diagnostic {
    let place = row.cells.batch.clone();
    Diagnostic::at_span(source, place, title, "each worker's batch?").with_help(
        "`batch` is that of all workers together: say `--batch local` if the column is each worker's, `--batch global` if not",
    )
}

/// The fewest and the most workers of a shape with a single batch, if the step is as long with both and with all between.
fn one_batch(points: &Points) -> Option<(&Key, &Key, &MeasuredRow)> {
    let shapes: BTreeSet<&str> = points.keys().map(|(vm, ..)| vm.as_str()).collect();
    shapes.into_iter().find_map(|vm| {
        let own: Vec<(&Key, &Vec<MeasuredRow>)> =
            points.iter().filter(|((own, ..), _)| own == vm).collect();
        let (first, last) = (own.first()?, own.last()?);
        let step_s = |rows: &[MeasuredRow]| median_of(rows.iter().map(|m| m.step_s));
        let least = step_s(first.1)?;
        let is_as_long = |(_, rows): &(&Key, &Vec<MeasuredRow>)| {
            let times = step_s(rows).map_or(f64::INFINITY, |s| s / least);
            (1.0 - FALLS..=AS_LONG).contains(&times)
        };
        let doubled = last.0.1 >= first.0.1.saturating_mul(2) && own.len() > 2;
        (doubled && own.iter().all(is_as_long)).then_some((first.0, last.0, last.1.first()?))
    })
}

/// Hold-out error in % of a law of the steps on `vm`, where `local` computes a worker's part of the batch.
fn left_out(points: &Points, vm: &str, local: fn(f64, f64) -> f64) -> Option<f64> {
    let all: Vec<StepPoint> = (points.iter())
        .filter(|((own, ..), _)| own == vm)
        .filter_map(|((_, workers, batch), rows)| {
            Some(StepPoint {
                workers: *workers,
                local_batch: local(f64::from(*batch), f64::from(*workers)),
                step_s: mean(rows.iter().map(|m| m.step_s))?,
                exposed_s: None,
            })
        })
        .collect();
    best(&all).ok().map(|chosen| chosen.left_out)
}

/// Numbers of workers on a VM that differ from its GPUs.
fn gpus(source: &Arc<Source>, points: &Points, report: &mut Report) {
    let fleet = Fleet::listed();
    let mut told = BTreeSet::new();
    let placed: BTreeSet<&str> = (points.keys())
        .filter_map(|(vm, ..)| Some(vm.split_once('/')?.0))
        .collect();
    for ((vm, workers, _), rows) in points {
        let Ok(shape) = Shape::parse(vm) else {
            continue;
        };
        let Some(gpus) = fleet.vm_type(shape.vm_type).map(|t| t.gpu_count()) else {
            continue;
        };
        let most = shape.layout(*workers).iter().map(|l| l.0).max();
        let (Some(row), Some(most)) = (rows.first(), most) else {
            continue;
        };
        let name = shape.vm_type;
        // A user who writes other placements of the type knows shapes.
        let is_plain = shape.suffix.is_empty() && !placed.contains(name);
        let (title, help) = if is_plain && gpus > 1 && *workers > 1 {
            let whole = u64::from(*workers).div_ceil(gpus);
            (
                format!(
                    "`{name}` has {gpus} GPUs and is taken with 1 worker on each of {workers} VMs"
                ),
                format!(
                    "write `{name}/{gpus}` if {gpus} workers shared a VM: {workers} workers then hold {} and cost as much",
                    if whole == 1 {
                        "1 VM".to_owned()
                    } else {
                        format!("{whole} VMs")
                    }
                ),
            )
        } else if gpus > 0 && u64::from(most) > gpus {
            (
                format!(
                    "`{name}` has {gpus} GPU{} and is taken with {most} workers on it",
                    if gpus == 1 { "" } else { "s" }
                ),
                format!("write `{name}` for one worker on each VM, if that is how it was"),
            )
        } else {
            continue;
        };
        if told.insert(vm) {
            let label = "is that so?";
            report.warn(
                Diagnostic::at_span(source, row.cells.vm.clone(), title, label).with_help(help),
            );
        }
    }
}

fn silent_workers(source: &Arc<Source>, points: &Points, report: &mut Report) {
    let mut silent: Vec<(u32, &MeasuredRow)> = (points.iter())
        .filter(|((_, workers, _), _)| *workers > 1)
        .flat_map(|((_, workers, _), rows)| rows.iter().map(|m| (*workers, m)))
        .filter(|(_, m)| m.communication_s == Some(0.0))
        .collect();
    silent.sort_by_key(|(_, m)| m.line.start);
    let most = silent
        .iter()
        .max_by_key(|(workers, m)| (*workers, std::cmp::Reverse(m.line.start)));
    let Some(&(workers, row)) = most else { return };
    let mut title = format!("{workers} workers communicate in 0 s");
    if silent.len() > 1 {
        title += &format!(", and {} rows more are alike", silent.len() - 1);
    }
    report.warn(
        Diagnostic::at_span(
            source,
            row.cells.communication.clone(),
            title,
            "all of it hidden?",
        )
        .with_help(
            "leave the cell empty if it was not measured: 0 says that more workers cost nothing",
        ),
    );
}
