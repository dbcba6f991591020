//! A Gaussian belief of one logarithm at every configuration, with its whole covariance.

use crate::stats::normal;

/// Standard deviation of an observation, of the logarithm.
pub(super) const OBSERVED: f64 = 0.03;
/// Variance that no belief falls below.
const LEAST: f64 = 1e-8;
/// What a truncation leaves at least of a variance.
const LEAST_LEFT: f64 = 1e-3;
/// Variance of the level that all configurations share, added just before the first observation: nothing is known of
/// how long a job takes before anything was seen of it.
const LEVEL: f64 = 25.0;

/// Means and covariances of N logarithms.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) mean: Vec<f64>,
    /// N × N, by rows.
    covariance: Vec<f64>,
    is_new: bool,
}

impl Field {
    pub(super) fn new(mean: Vec<f64>, covariance: Vec<f64>) -> Field {
        Field {
            mean,
            covariance,
            is_new: true,
        }
    }

    /// Variance at a configuration.
    pub(super) fn variance(&self, at: usize) -> f64 {
        self.covariance[at * self.mean.len() + at].max(LEAST)
    }

    /// Covariances with a configuration.
    pub(super) fn row(&self, at: usize) -> &[f64] {
        let n = self.mean.len();
        &self.covariance[at * n..(at + 1) * n]
    }

    /// A value was seen. Logarithm of its likelihood, but for a constant; that of the first, which only sets the level, is 0.
    pub(super) fn observe(&mut self, at: usize, value: f64) -> f64 {
        let is_first = self.open();
        let variance = self.variance(at) + OBSERVED * OBSERVED;
        let error = value - self.mean[at];
        self.shift(at, error / variance, 1.0 / variance);
        match is_first {
            true => 0.0,
            false => -0.5 * (libm::log(variance) + error * error / variance),
        }
    }

    /// It is above `least`. Logarithm of how likely that was.
    pub(super) fn exceeds(&mut self, at: usize, least: f64) -> f64 {
        if self.open() {
            // There is no level yet that it could be above.
            return self.observe(at, least + OBSERVED);
        }
        let variance = self.variance(at);
        let deviation = variance.sqrt();
        let bound = (least - self.mean[at]) / deviation;
        let above = normal::cdf(-bound).max(f64::MIN_POSITIVE);
        // Inverse Mills ratio; far in the tail its limit.
        let hazard = match bound > 30.0 {
            true => bound + 1.0 / bound,
            false => normal::density(bound) / above,
        };
        let left = (1.0 - hazard * (hazard - bound)).clamp(LEAST_LEFT, 1.0);
        self.shift(at, hazard * deviation / variance, (1.0 - left) / variance);
        libm::log(above)
    }

    /// Makes the level uncertain before the first observation. Whether this is it.
    fn open(&mut self) -> bool {
        let is_first = std::mem::replace(&mut self.is_new, false);
        if is_first {
            self.covariance.iter_mut().for_each(|entry| *entry += LEVEL);
        }
        is_first
    }

    /// m += S·x·`by`; S −= (S·x)(S·x)ᵀ·`less`.
    fn shift(&mut self, at: usize, by: f64, less: f64) {
        let n = self.mean.len();
        let row = self.row(at).to_vec();
        for (mean, entry) in self.mean.iter_mut().zip(&row) {
            *mean += entry * by;
        }
        for (own, entries) in row.iter().zip(self.covariance.chunks_exact_mut(n)) {
            let own = own * less;
            for (entry, other) in entries.iter_mut().zip(&row) {
                *entry -= own * other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field() -> Field {
        // Two that are alike and one apart.
        let covariance = vec![1.0, 0.8, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0, 1.0];
        let mut field = Field::new(vec![0.0; 3], covariance);
        field.is_new = false;
        field
    }

    #[test]
    fn what_is_seen_is_known_and_what_is_alike_follows() {
        let mut field = field();
        field.observe(0, 2.0);
        let v = 1.0 + OBSERVED * OBSERVED;
        assert!((field.mean[0] - 2.0 / v).abs() < 1e-12);
        assert!((field.mean[1] - 0.8 * 2.0 / v).abs() < 1e-12);
        assert_eq!(field.mean[2], 0.0);
        assert!((field.variance(1) - (1.0 - 0.64 / v)).abs() < 1e-12);
    }

    /// Mean and variance of a standard normal above 1: φ/Q and 1 − h(h − 1).
    #[test]
    fn what_is_above_a_bound_has_the_moments_of_the_truncated_normal() {
        let mut field = field();
        let log = field.exceeds(2, 1.0);
        assert!((log - libm::log(0.158_655_253_931_457)).abs() < 1e-9);
        assert!((field.mean[2] - 1.525_135_276_160_982).abs() < 1e-9);
        assert!((field.variance(2) - 0.199_097_599_993).abs() < 1e-6);
        assert_eq!(field.mean[0], 0.0);
        // Far beyond everything believed it is still finite.
        assert!(field.exceeds(0, 60.0).is_finite());
        assert!(field.mean[0] > 59.0 && field.variance(0) > 0.0);
    }

    #[test]
    fn the_first_value_sets_the_level_of_all() {
        let mut field = Field::new(vec![0.0, -1.0], vec![0.1, 0.0, 0.0, 0.1]);
        assert_eq!(field.observe(0, 9.0), 0.0);
        assert!((field.mean[0] - 9.0).abs() < 0.01);
        assert!((field.mean[1] - 8.0).abs() < 0.1, "{:?}", field.mean);
    }
}
