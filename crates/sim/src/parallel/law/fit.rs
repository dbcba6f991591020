//! The constants that runs tell: moved from what is known of them as far as the runs say.

use rayon::prelude::*;

use super::constants::{COUNT, Constants, Prior};
use super::run::PlanRun;
use crate::parallel::Runtime;
use scavsim_data::fit::minimise;

/// Standard deviation of ln(measured / foretold) that runs have around any law, when constants are sought.
const SCATTER: f64 = 0.06;
/// Relative gain below which a fit is done: far below what any figure shows.
const LEAST_GAIN: f64 = 1e-7;

/// A run with its seconds per step.
#[derive(Debug, Clone)]
pub struct MeasuredRun {
    /// The run.
    pub run: PlanRun,
    /// Measured seconds of a step.
    pub step_s: f64,
}

impl MeasuredRun {
    /// ln(foretold / measured); not a number where the plan cannot be.
    pub fn residual(&self, settings: &Runtime, constants: &Constants) -> f64 {
        self.foretold_s(settings, constants)
            .map_or(f64::NAN, |step_s| libm::log(step_s / self.step_s))
    }

    /// Foretold seconds of a step.
    pub fn foretold_s(&self, settings: &Runtime, constants: &Constants) -> Option<f64> {
        let runtime = super::super::runtime::preset::with_constants(settings.clone(), constants);
        let prepared = self.run.prepared(&runtime, constants).ok()?;
        Some(prepared.step_s())
    }
}

/// The constants that make runs and what was known before likeliest: the least of Σ ρ(ln(foretold/measured)/0.06) + Σ z², where z
/// counts standard deviations from the median before, and ρ(r) = 2(√(1 + r²) − 1), so that a run that nothing explains moves little.
/// `None` where a run's plan cannot be.
pub fn fit(prior: &Prior, settings: &Runtime, runs: &[MeasuredRun]) -> Option<Constants> {
    if runs.is_empty() {
        return Some(prior.medians);
    }
    let residuals = |at: &[f64; COUNT]| -> Vec<f64> {
        let constants = prior.moved(at);
        let own = runs.par_iter().map(|run| {
            let r = run.residual(settings, &constants) / SCATTER;
            let softened = 2.0 * ((1.0 + r * r).sqrt() - 1.0);
            softened.sqrt().copysign(r)
        });
        let mut all: Vec<f64> = own.collect();
        all.extend_from_slice(at);
        all
    };
    let (at, _) = minimise::search([0.0; COUNT], LEAST_GAIN, residuals)?;
    Some(prior.moved(&at))
}
