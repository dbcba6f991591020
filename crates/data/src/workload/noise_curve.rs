use std::sync::Arc;

use super::law::NoiseLaw;
use super::noise::normalised_noise;
use super::noise_scale::NoiseScale;
use super::rows;
use scavsim_base::stats::line::{interpolate_clamped, locate};
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostics, Source};

#[derive(Debug, Clone, Default)]
pub enum NoiseOverTraining {
    /// The noise has its value at the target from the start.
    #[default]
    Flat,
    /// γ was measured over steps.
    Steps(NoiseCurve),
    /// φ was measured over progress.
    Progress(NoiseScale),
    /// φ follows a law.
    Law(NoiseLaw),
}

impl NoiseOverTraining {
    /// γ/K after `step` steps, with the share `progress` of the way done; `at_target` is its value at the target.
    pub fn noise_at(
        &self,
        at_target: f64,
        workers: u32,
        batch: u32,
        step: f64,
        progress: f64,
    ) -> f64 {
        let b = f64::from(batch);
        let scale = match self {
            NoiseOverTraining::Flat => return at_target,
            NoiseOverTraining::Steps(curve) => return at_target * curve.relative(workers, step),
            NoiseOverTraining::Progress(scale) => scale.scale_at(b, progress),
            NoiseOverTraining::Law(law) => Some(law.noise_scale(b, progress)),
        };
        scale.map_or(at_target, |scale| normalised_noise(workers, b, scale))
    }
}

#[derive(Debug, Clone, Copy)]
pub struct CurveRow {
    pub workers: u32,
    pub step: f64,
    /// γ = mean ‖g_k‖² / ‖mean g_k‖², not normalised.
    pub noise: f64,
}

/// Noise over its final value by the number of steps: each run over its last reading, linear between worker counts, the
/// nearest held outside. Flat without measurements.
#[derive(Debug, Clone, Default)]
pub struct NoiseCurve {
    workers: Vec<f64>,
    /// Per worker count: steps (ascending) and readings relative to the last.
    shapes: Vec<(Vec<f64>, Vec<f64>)>,
}

impl NoiseCurve {
    /// From readings in any order; readings must be above zero.
    pub fn new(mut rows: Vec<CurveRow>) -> Self {
        rows.sort_by(|a, b| (a.workers.cmp(&b.workers)).then(a.step.total_cmp(&b.step)));
        let mut curve = NoiseCurve::default();
        for run in rows.chunk_by(|a, b| a.workers == b.workers) {
            let last = run[run.len() - 1].noise;
            curve.workers.push(f64::from(run[0].workers));
            curve
                .shapes
                .push(run.iter().map(|r| (r.step, r.noise / last)).unzip());
        }
        curve
    }

    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// Noise after `step` steps over noise at the end, with `workers` workers.
    pub fn relative(&self, workers: u32, step: f64) -> f64 {
        if self.is_empty() {
            return 1.0;
        }
        let shape = |at: usize| hold(&self.shapes[at], step);
        interpolate_clamped(&self.workers, f64::from(workers), shape)
    }
}

/// Piecewise linear inside, the end values outside.
fn hold((steps, values): &(Vec<f64>, Vec<f64>), step: f64) -> f64 {
    match locate(steps, step) {
        Some((left, 0.0)) => values[left],
        Some((left, share)) => values[left] + share * (values[left + 1] - values[left]),
        None if step < steps[0] => values[0],
        None => values[values.len() - 1],
    }
}

pub(super) fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<CurveRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let workers = rows::read_count(row, "workers", d);
        let step = row.number("step", 0.0.., d);
        let noise = rows::above_zero(row, "noise", d);
        rows::origin(row, d)?;
        Some(CurveRow {
            workers: workers?,
            step: step?,
            noise: noise?,
        })
    };
    let required = ["workers", "step", "noise", "origin", "source"];
    rows::read(source, &required, &[], diagnostics, parse, |r| {
        (r.workers, r.step.to_bits())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_end_at_one_blend_between_workers_and_hold_outside() {
        let row = |workers, step, noise| CurveRow {
            workers,
            step,
            noise,
        };
        let curve = NoiseCurve::new(vec![
            row(16, 1000.0, 16.0),
            row(16, 0.0, 4.0),
            row(8, 0.0, 4.0),
            row(8, 1000.0, 8.0),
        ]);
        assert_eq!(curve.relative(8, 0.0), 0.5);
        assert_eq!(curve.relative(16, 0.0), 0.25);
        assert_eq!(curve.relative(12, 0.0), 0.375);
        assert_eq!(curve.relative(20, 500.0), 0.625);
        assert_eq!(curve.relative(4, 9000.0), 1.0);
        assert_eq!(NoiseCurve::default().relative(8, 3.0), 1.0);
    }
}
