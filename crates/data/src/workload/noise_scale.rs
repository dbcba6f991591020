//! The gradient noise scale φ over training, measured at several batches (`phi.csv`).

use std::sync::Arc;

use super::law::goodput;
use super::rows;
use scavsim_base::stats::line::locate;
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostics, Source};

#[derive(Debug, Clone, Copy)]
pub struct ScaleRow {
    pub batch: u32,
    /// Progress at the end of the piece, in steps at the initial batch.
    pub progress: f64,
    pub noise_scale_samples: f64,
}

/// φ by batch and by the share of progress made: constant within a piece, so that the jumps at
/// learning-rate drops stay; log φ linear in log B between measured batches.
#[derive(Debug, Clone, Default)]
pub struct NoiseScale {
    /// Ascending.
    log_batches: Vec<f64>,
    runs: Vec<Run>,
}

/// One run: ends of the pieces as shares of its progress, ascending to 1, and ln φ in them.
#[derive(Debug, Clone, Default)]
struct Run {
    ends: Vec<f64>,
    log_scales: Vec<f64>,
}

impl Run {
    fn log_scale(&self, share: f64) -> f64 {
        let piece = self.ends.partition_point(|end| *end < share);
        self.log_scales[piece.min(self.log_scales.len() - 1)]
    }
}

impl NoiseScale {
    pub fn new(mut rows: Vec<ScaleRow>) -> Self {
        rows.sort_by(|a, b| (a.batch.cmp(&b.batch)).then(a.progress.total_cmp(&b.progress)));
        let mut scale = NoiseScale::default();
        for run in rows.chunk_by(|a, b| a.batch == b.batch) {
            let all = run[run.len() - 1].progress;
            scale.log_batches.push(libm::log(f64::from(run[0].batch)));
            scale.runs.push(Run {
                ends: run.iter().map(|r| r.progress / all).collect(),
                log_scales: (run.iter())
                    .map(|r| libm::log(r.noise_scale_samples))
                    .collect(),
            });
        }
        scale
    }

    pub fn without(&self, batch: u32) -> NoiseScale {
        let at = libm::log(f64::from(batch));
        let kept = || (self.log_batches.iter().zip(&self.runs)).filter(|(b, _)| **b != at);
        NoiseScale {
            log_batches: kept().map(|(b, _)| *b).collect(),
            runs: kept().map(|(_, run)| run.clone()).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn covers(&self, batch: f64) -> bool {
        locate(&self.log_batches, libm::log(batch)).is_some()
    }

    /// φ in samples at `batch` and `progress` (0 to 1), held beyond the measured batches; `None` if nothing was measured.
    pub fn scale_at(&self, batch: f64, progress: f64) -> Option<f64> {
        let (low, high, weight) = self.between(batch)?;
        let (low, high) = (low.log_scale(progress), high.log_scale(progress));
        Some(libm::exp(low + weight * (high - low)))
    }

    /// Steps at `batch` to `target_progress` by goodput from `initial_batch` on, and their pace.
    pub fn replay(
        &self,
        initial_batch: f64,
        batch: f64,
        target_progress: f64,
    ) -> Option<(f64, Pace)> {
        let (low, high, _) = self.between(batch)?;
        let mut ends: Vec<f64> = low.ends.iter().chain(&high.ends).copied().collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let mut pace = Pace {
            progress: vec![0.0],
            steps: vec![0.0],
        };
        let (mut done, mut steps) = (0.0, 0.0);
        for end in ends {
            let rate = goodput::rate(initial_batch, batch, self.scale_at(batch, end)?);
            steps += (end - done) * target_progress / rate;
            done = end;
            pace.progress.push(end);
            pace.steps.push(steps);
        }
        pace.steps.iter_mut().for_each(|s| *s /= steps);
        Some((steps, pace))
    }

    /// The measured runs around `batch`, and how far it is towards the second.
    fn between(&self, batch: f64) -> Option<(&Run, &Run, f64)> {
        let (first, last) = (*self.log_batches.first()?, *self.log_batches.last()?);
        // Clamped into the range just above, so it is always located.
        let (left, share) = locate(&self.log_batches, libm::log(batch).clamp(first, last))?;
        let right = if share == 0.0 { left } else { left + 1 };
        Some((&self.runs[left], &self.runs[right], share))
    }
}

/// How steps turn into progress: the share of steps done at a share of progress, both from 0 to 1, linear between.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    progress: Vec<f64>,
    steps: Vec<f64>,
}

impl Pace {
    /// The share of all steps behind when the share `progress` of the way is done.
    pub fn steps_at(&self, progress: f64) -> f64 {
        along(&self.progress, &self.steps, progress)
    }

    /// Progress per step over its mean, in `parts` equal parts of the way: by the share of the way from which it holds.
    pub fn speeds(&self, parts: u32) -> Vec<(f64, f64)> {
        let share = |part: u32| f64::from(part) / f64::from(parts);
        let speed = |part: u32| {
            let steps = self.steps_at(share(part + 1)) - self.steps_at(share(part));
            (share(part), share(1) / steps)
        };
        (0..parts).map(speed).collect()
    }

    /// The share of the way done after the share `steps` of all steps.
    pub fn progress_at(&self, steps: f64) -> f64 {
        along(&self.steps, &self.progress, steps)
    }
}

fn along(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    match locate(xs, x.clamp(0.0, 1.0)) {
        Some((left, 0.0)) => ys[left],
        Some((left, share)) => ys[left] + share * (ys[left + 1] - ys[left]),
        // Past the last entry by a rounding error.
        None => 1.0,
    }
}

pub(super) fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<ScaleRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let batch = rows::read_count(row, "batch", d);
        let progress = rows::above_zero(row, "progress", d);
        let scale = rows::above_zero(row, "noise_scale_samples", d);
        rows::origin(row, d)?;
        Some(ScaleRow {
            batch: batch?,
            progress: progress?,
            noise_scale_samples: scale?,
        })
    };
    let required = [
        "batch",
        "progress",
        "noise_scale_samples",
        "origin",
        "source",
    ];
    rows::read(source, &required, &[], diagnostics, parse, |r| {
        (r.batch, r.progress.to_bits())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;

    fn scale() -> NoiseScale {
        let row = |batch, progress, noise_scale_samples| ScaleRow {
            batch,
            progress,
            noise_scale_samples,
        };
        NoiseScale::new(vec![
            row(400, 100.0, 4000.0),
            row(100, 50.0, 10.0),
            row(100, 100.0, 1000.0),
        ])
    }

    #[test]
    fn jumps_stay_and_batches_blend_in_the_logarithm() {
        let close = |a: Option<f64>, b| crate::tests::close(a.unwrap_or(0.0), b, 1e-12);
        close(scale().scale_at(100.0, 0.5), 10.0);
        close(scale().scale_at(100.0, 0.51), 1000.0);
        close(scale().scale_at(200.0, 1.0), 2000.0);
        close(scale().scale_at(50.0, 1.0), 1000.0);
        assert!(scale().covers(400.0) && !scale().covers(401.0));
        assert_eq!(NoiseScale::default().scale_at(1.0, 1.0), None);
    }

    #[test]
    fn steps_are_worth_more_where_the_noise_is_high() {
        let (steps, pace) = scale().replay(100.0, 400.0, 100.0).expect("measured");
        // One constant φ: rate 4·4100/4400.
        near(steps, 100.0 / (4.0 * 4100.0 / 4400.0), 1e-9);
        near(pace.steps_at(0.3), 0.3, 1e-12);
        let (steps, pace) = scale().replay(10.0, 100.0, 100.0).expect("measured");
        let early = 50.0 / (10.0 * 20.0 / 110.0);
        let late = 50.0 / (10.0 * 1010.0 / 1100.0);
        near(steps, early + late, 1e-9);
        let half = pace.steps_at(0.5);
        near(half, early / steps, 1e-12);
        near(pace.progress_at(half), 0.5, 1e-12);
        assert_eq!((pace.progress_at(1.0), pace.steps_at(1.0)), (1.0, 1.0));
        let speeds = pace.speeds(2);
        assert_eq!(speeds[0].0, 0.0);
        near(speeds[0].1, 0.5 / half, 1e-12);
        near(speeds[1].1, 0.5 / (1.0 - half), 1e-12);
    }
}
