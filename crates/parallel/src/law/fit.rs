//! Fits constants to runs: moves them from their prior as far as the runs determine.

use std::cell::RefCell;

use rayon::prelude::*;

use super::constants::{COUNT, Constants, Prior};
use super::run::PlanRun;
use crate::Runtime;
use scavsim_base::stats::cholesky::{cholesky, inverse_column};
use scavsim_fit::minimise;

/// Standard deviation of ln(measured / predicted) of runs around any law, in a fit of constants.
pub const SCATTER: f64 = 0.06;
/// Relative gain below which a fit ends: far below any printed digit.
const LEAST_GAIN: f64 = 1e-5;

#[derive(Debug, Clone)]
pub struct MeasuredRun {
    pub run: PlanRun,
    pub step_s: f64,
}

impl MeasuredRun {
    /// ln(predicted / measured); not a number if the plan is impossible.
    pub fn residual(&self, settings: &Runtime, constants: &Constants) -> f64 {
        self.foretold_s(settings, constants)
            .map_or(f64::NAN, |step_s| libm::log(step_s / self.step_s))
    }

    pub fn foretold_s(&self, settings: &Runtime, constants: &Constants) -> Option<f64> {
        let runtime = crate::runtime::preset::with_constants(settings.clone(), constants);
        let prepared = self.run.prepared(&runtime, constants).ok()?;
        Some(prepared.step_s())
    }
}

/// Constants fitted to runs, and their uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedConstants {
    pub constants: Constants,
    /// Standard deviations of their logarithms, for each constant.
    pub spreads: [f64; COUNT],
    /// Distances from their prior medians, in standard deviations.
    pub at: [f64; COUNT],
    /// Number of constants that the runs determine: 0 for a constant without information, 1 for a fully determined one.
    pub told: f64,
}

/// The most likely constants for runs and prior: the minimum of Σ ρ(ln(predicted/measured)/0.06) + Σ z², where z is the distance from the
/// prior median in standard deviations, and ρ(r) = 2(√(1 + r²) − 1), so that an outlier has little influence. Starts from `start`, the
/// distances of a fit to more of the runs, or from 0. `None` if a run's plan is impossible.
pub fn fit(
    prior: &Prior,
    settings: &Runtime,
    runs: &[MeasuredRun],
    start: Option<&FittedConstants>,
) -> Option<FittedConstants> {
    if runs.is_empty() {
        return Some(FittedConstants {
            constants: prior.medians,
            spreads: prior.spreads,
            at: [0.0; COUNT],
            told: 0.0,
        });
    }
    let own = |at: &[f64; COUNT]| -> Vec<f64> {
        let constants = prior.moved(at);
        let softened = runs.par_iter().map(|run| {
            let r = run.residual(settings, &constants) / SCATTER;
            let softened = 2.0 * ((1.0 + r * r).sqrt() - 1.0);
            softened.sqrt().copysign(r)
        });
        softened.collect()
    };
    // Many constants concern other GPUs and other plans: changes of only those are not computed again.
    let usual = own(&[0.0; COUNT]);
    let matters: [bool; COUNT] = std::array::from_fn(|n| {
        let mut moved = [0.0; COUNT];
        moved[n] = 0.1;
        own(&moved) != usual
    });
    let masked = |at: &[f64; COUNT]| -> [f64; COUNT] {
        std::array::from_fn(|n| if matters[n] { at[n] } else { 0.0 })
    };
    let last: RefCell<([f64; COUNT], Vec<f64>)> = RefCell::new(([0.0; COUNT], usual));
    let residuals = |at: &[f64; COUNT]| -> Vec<f64> {
        let key = masked(at);
        let mut last = last.borrow_mut();
        if last.0 != key {
            *last = (key, own(&key));
        }
        let mut all = last.1.clone();
        all.extend_from_slice(at);
        all
    };
    let (at, _) = minimise::search(
        start.map_or([0.0; COUNT], |fitted| fitted.at),
        LEAST_GAIN,
        residuals,
    )?;
    let variances = variances(&at, residuals);
    Some(FittedConstants {
        constants: prior.moved(&at),
        spreads: std::array::from_fn(|n| prior.spreads[n] * variances[n].sqrt()),
        at,
        told: variances.iter().map(|variance| 1.0 - variance).sum(),
    })
}

/// Variances of each parameter around the minimum of residuals: the diagonal of (JᵀJ)⁻¹. The last rows of J, one for each
/// parameter, are the prior, so that JᵀJ is positive definite.
fn variances(at: &[f64; COUNT], residuals: impl Fn(&[f64; COUNT]) -> Vec<f64>) -> [f64; COUNT] {
    const WIDTH: f64 = 1e-4;
    let slopes: Vec<Vec<f64>> = (0..COUNT)
        .map(|n| {
            let moved = |by: f64| {
                let mut to = *at;
                to[n] += by;
                residuals(&to)
            };
            let (up, down) = (moved(WIDTH), moved(-WIDTH));
            up.iter()
                .zip(&down)
                .map(|(u, d)| (u - d) / (2.0 * WIDTH))
                .collect()
        })
        .collect();
    let mut matrix = vec![0.0; COUNT * COUNT];
    for i in 0..COUNT {
        for j in 0..=i {
            matrix[i * COUNT + j] = slopes[i].iter().zip(&slopes[j]).map(|(a, b)| a * b).sum();
        }
    }
    if !cholesky(&mut matrix, COUNT) {
        return [1.0; COUNT];
    }
    let mut column = vec![0.0; COUNT];
    std::array::from_fn(|n| {
        inverse_column(&matrix, COUNT, n, &mut column);
        let square: f64 = column.iter().map(|v| v * v).sum();
        square.min(1.0)
    })
}
