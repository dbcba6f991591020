//! Whole runs at one batch each, with their gradient noise: `validation-B.csv`.

use std::fs;
use std::path::Path;

use super::options::{PolluxOptions, VALIDATION};
use crate::import::draft::{Draft, EpochLine, Law, PhiLine};
use crate::import::report::{Report, basis};
use scavsim_data::fit::noise::power_scale;
use scavsim_data::workload::Origin;
use scavsim_data::workload::law::{NoiseLaw, goodput};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// A run at one batch.
pub(super) struct Run {
    pub(super) batch: u32,
    /// Name of its file, without the ending.
    pub(super) name: String,
    /// Progress, steps so far, φ if the row has one.
    pub(super) rows: Vec<(f64, f64, Option<f64>)>,
}

impl Run {
    /// Ends the run where it makes so much progress, which its end reaches but for a rounding error.
    pub(super) fn end_at(&mut self, progress: f64) {
        let Some(at) = self.rows.iter().position(|row| row.0 >= progress) else {
            return;
        };
        let before = match at {
            0 => (0.0, 0.0),
            _ => (self.rows[at - 1].0, self.rows[at - 1].1),
        };
        let end = &mut self.rows[at];
        let share = (progress - before.0) / (end.0 - before.0);
        (end.0, end.1) = (progress, before.1 + share * (end.1 - before.1));
        self.rows.truncate(at + 1);
    }
}

/// The validation runs by rising batch.
pub(super) fn runs(options: &PolluxOptions, diagnostics: &mut Diagnostics) -> Option<Vec<Run>> {
    let folder = &options.folder;
    let pattern = options.validation.as_deref().unwrap_or(VALIDATION);
    // A name without a star was refused.
    let (front, back) = pattern.split_once('*')?;
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
        let batch = name.strip_prefix(front)?.strip_suffix(back)?;
        batch.parse().ok().filter(|&batch: &u32| batch > 0)
    };
    let mut files: Vec<(u32, &String)> = (names.iter())
        .filter_map(|name| Some((batch_of(name)?, name)))
        .collect();
    files.sort_unstable();
    for same in files.windows(2).filter(|two| two[0].0 == two[1].0) {
        let title = format!("{} and {} are of one batch", same[0].1, same[1].1);
        let help = "keep one of them in the folder";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    if files.is_empty() {
        let title = format!("{} has no {pattern}", folder.display());
        let example = format!("{front}128{back}");
        let help = format!(
            "expected one per global batch, such as {example}; --validation gives another name"
        );
        diagnostics.push(Diagnostic::general(title).with_help(help));
        return None;
    }
    let runs: Vec<Option<Run>> = files
        .into_iter()
        .map(|(batch, name)| run(&folder.join(name), batch, diagnostics))
        .collect();
    runs.into_iter().collect()
}

fn run(path: &Path, batch: u32, diagnostics: &mut Diagnostics) -> Option<Run> {
    use std::ops::Bound::{Excluded, Unbounded};
    let before = diagnostics.len();
    let source = Source::read(path, diagnostics)?;
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
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    (diagnostics.len() == before && !rows.is_empty()).then(|| Run {
        batch,
        name: name.into_owned(),
        rows,
    })
}

/// Passes over the data that each run took to the same statistical progress.
pub(super) fn epochs(runs: &[Run], samples_per_epoch: &f64, draft: &mut Draft) {
    for run in runs {
        let Some(&(_, steps, _)) = run.rows.last() else {
            continue;
        };
        draft.epochs.push(EpochLine {
            batch: run.batch,
            epochs: steps * f64::from(run.batch) / samples_per_epoch,
            // A measurement in another unit.
            origin: Origin::Measured,
            source: format!("{}: {steps} steps", run.name),
        });
    }
}

/// Most that φ may be over the batch, and least: beyond, a pace is that of no noise, or of nothing but noise, to all digits.
const BOUND: f64 = 1e6;

/// Pieces (end, φ in samples) of a run.
///
/// φ is that under which the run makes its own pace g = Δprogress/Δsteps: g = (B/M₀)(φ + M₀)/(φ + B),
/// so φ = B·M₀·(g − 1)/(B − g·M₀). At M₀, where every φ gives the pace 1, it is M₀·grad_var/grad_sqr;
/// a row without one belongs to the piece after it, or to the last one.
pub(super) fn pieces(run: &Run, initial: u32) -> Vec<(f64, f64)> {
    let (batch, initial) = (f64::from(run.batch), f64::from(initial));
    let (mut before, mut steps_before) = (0.0, 0.0);
    let with_scale = |&(progress, steps, phi): &(f64, f64, Option<f64>)| {
        let pace = (progress - before) / (steps - steps_before);
        (before, steps_before) = (progress, steps);
        if batch <= initial {
            return phi.map(|phi| (progress, phi * initial));
        }
        let scale = batch * initial * (pace - 1.0) / (batch - pace * initial);
        let most = BOUND * batch;
        let scale = if pace * initial >= batch {
            most
        } else {
            scale.clamp(batch / BOUND, most)
        };
        Some((progress, scale))
    };
    let mut pieces: Vec<(f64, f64)> = run.rows.iter().filter_map(with_scale).collect();
    if let (Some(piece), Some(end)) = (pieces.last_mut(), run.rows.last()) {
        piece.0 = end.0;
    }
    pieces
}

/// Replays every run from its own noise scale and compares with the steps it took.
pub(super) fn replay(runs: &[Run], initial: u32, report: &mut Report) -> String {
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

pub(super) fn noise(
    runs: &[Run],
    pattern: &str,
    (initial, target_progress): (u32, f64),
    draft: &mut Draft,
    report: &mut Report,
) {
    let mut points = Vec::new();
    let (mut read, mut without, mut beyond) = (0, 0, 0);
    for run in runs {
        read += run.rows.len();
        if run.batch == initial {
            without += run.rows.iter().filter(|r| r.2.is_none()).count();
        }
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
                source: if run.batch == initial {
                    format!("{}: {initial} grad_var/grad_sqr", run.name)
                } else {
                    format!("{}: pace of the run", run.name)
                },
            });
        }
    }
    report.rows(
        pattern,
        read,
        &[
            ("no finite noise scale", without),
            ("beyond the target", beyond),
        ],
    );
    if let Some(law) = power_scale(initial, &points) {
        report.fit("ln φ", "power of progress and batch", &law.quality);
        let basis = format!("{} (of ln φ)", basis(&law.quality));
        // Noise that stays the same has an exponent of 0, but for rounding.
        let progress_exponent = if law.progress_exponent.abs() < 1e-9 {
            0.0
        } else {
            law.progress_exponent
        };
        let law = NoiseLaw::PowerScale {
            scale_samples: law.scale_samples,
            initial_batch: f64::from(law.initial_batch),
            batch_exponent: law.batch_exponent,
            progress_exponent,
        };
        match law.check() {
            Ok(()) => draft.noise_law = Some(Law::fitted(law, basis)),
            Err(why) => report.note(format!("no law of the noise scale: {why}")),
        }
    }
}
