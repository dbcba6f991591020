//! A Gaussian belief of one logarithm at every configuration. Its covariance is the prior's, which all searches of a task
//! share, less one outer product per observation: S = s²·C + own²·I + level − Σ r·rᵀ. After n observations, a row or one more
//! takes N·n operations.

use scavsim_base::stats::field::Rows;
use scavsim_base::stats::normal;

/// Standard deviation of an observation, of the logarithm.
pub(super) const OBSERVED: f64 = 0.03;
/// Variance that no belief falls below.
const LEAST: f64 = 1e-8;
/// What a truncation leaves at least of a variance.
const LEAST_LEFT: f64 = 1e-3;
/// Variance of the level that all share, unknown before the first observation: until then only differences matter.
pub(super) const LEVEL: f64 = 25.0;
/// From here on the hazard of the normal is its limit.
const FAR: f64 = 30.0;

/// Covariances of N logarithms before anything was seen, without their scale.
#[derive(Debug, Clone)]
pub(super) struct Prior {
    pub(super) mean: Vec<f64>,
    /// N × N, by rows.
    pub(super) covariance: Vec<f64>,
    /// The part of it that jobs may have in common, of which nothing is known beforehand; empty where nobody asks.
    pub(super) unsettled: Vec<f64>,
    /// Variance that each has for itself, whatever the scale.
    pub(super) own: f64,
}

impl Prior {
    /// The prior of some configurations.
    pub(super) fn only(&self, places: &[usize]) -> Prior {
        let n = self.mean.len();
        let entries = |a: usize| places.iter().map(move |b| self.covariance[a * n + b]);
        Prior {
            mean: places.iter().map(|&at| self.mean[at]).collect(),
            covariance: places.iter().flat_map(|&a| entries(a)).collect(),
            unsettled: Vec::new(),
            own: self.own,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Field<'p> {
    prior: &'p Prior,
    /// Square of the scale of the prior's covariances.
    square: f64,
    pub(super) mean: Vec<f64>,
    variance: Vec<f64>,
    rows: Rows,
}

impl<'p> Field<'p> {
    pub(super) fn new(prior: &'p Prior, scale: f64) -> Field<'p> {
        let n = prior.mean.len();
        let square = scale * scale;
        let variance = |x: usize| square * prior.covariance[x * n + x] + prior.own;
        Field {
            prior,
            square,
            mean: prior.mean.clone(),
            variance: (0..n).map(variance).collect(),
            rows: Rows::default(),
        }
    }

    /// Whether nothing was seen yet, so that the level is not known.
    pub(super) fn is_new(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn variance(&self, at: usize) -> f64 {
        self.variance[at].max(LEAST)
    }

    /// Adds its covariances with a configuration, `times` over, for each of `places`.
    pub(super) fn add_covariances(&self, at: usize, places: &[usize], times: f64, to: &mut [f64]) {
        let n = self.mean.len();
        let entries = &self.prior.covariance[at * n..(at + 1) * n];
        let level = if self.rows.is_empty() { 0.0 } else { LEVEL };
        for (to, &x) in to.iter_mut().zip(places) {
            let own = if x == at { self.prior.own } else { 0.0 };
            *to += times * (self.square * entries[x] + own + level);
        }
        self.rows.take_from_some(at, places, times, to);
    }

    fn row(&self, at: usize) -> Vec<f64> {
        let n = self.mean.len();
        let entries = &self.prior.covariance[at * n..(at + 1) * n];
        let mut row: Vec<f64> = entries.iter().map(|c| self.square * c + LEVEL).collect();
        row[at] += self.prior.own;
        self.rows.take_from(at, &mut row);
        row
    }

    /// A value was seen. Logarithm of its likelihood, but for a constant; that of the first, which only sets the level, is 0.
    pub(super) fn observe(&mut self, at: usize, value: f64) -> f64 {
        let is_first = self.open();
        let variance = self.variance(at) + OBSERVED * OBSERVED;
        let error = value - self.mean[at];
        self.shift(at, error / variance, 1.0 / variance);
        if is_first {
            0.0
        } else {
            -0.5 * (libm::log(variance) + error * error / variance)
        }
    }

    /// Takes in that the value at `at` is above `least`. Logarithm of how likely that was.
    pub(super) fn exceeds(&mut self, at: usize, least: f64) -> f64 {
        if self.rows.is_empty() {
            // There is no level yet that it could be above.
            return self.observe(at, least + OBSERVED);
        }
        let variance = self.variance(at);
        let deviation = variance.sqrt();
        let bound = (least - self.mean[at]) / deviation;
        let above = normal::cdf(-bound).max(f64::MIN_POSITIVE);
        // Inverse Mills ratio.
        let hazard = if bound > FAR {
            bound + 1.0 / bound
        } else {
            normal::density(bound) / above
        };
        let left = (1.0 - hazard * (hazard - bound)).clamp(LEAST_LEFT, 1.0);
        self.shift(at, hazard / deviation, (1.0 - left) / variance);
        libm::log(above)
    }

    /// Makes the level uncertain before the first observation. Whether this is it.
    fn open(&mut self) -> bool {
        let is_first = self.rows.is_empty();
        if is_first {
            self.variance.iter_mut().for_each(|v| *v += LEVEL);
        }
        is_first
    }

    /// m += S·x·`by`; S −= (S·x)(S·x)ᵀ·`less`.
    fn shift(&mut self, at: usize, by: f64, less: f64) {
        let mut row = self.row(at);
        for (mean, entry) in self.mean.iter_mut().zip(&row) {
            *mean += entry * by;
        }
        let side = less.sqrt();
        for (variance, entry) in self.variance.iter_mut().zip(&mut row) {
            *entry *= side;
            *variance -= *entry * *entry;
        }
        self.rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prior() -> Prior {
        Prior {
            mean: vec![0.0; 3],
            covariance: vec![1.0, 0.8, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0, 1.0],
            unsettled: Vec::new(),
            own: 0.0,
        }
    }

    #[test]
    fn the_first_value_sets_the_level_and_the_second_what_is_alike() {
        let prior = prior();
        let mut field = Field::new(&prior, 1.0);
        assert_eq!(field.observe(2, 9.0), 0.0);
        // All are at the level of the first, as uncertain as two differ: 1 + 1.
        assert!((field.mean[0] - 9.0 * LEVEL / (LEVEL + 1.0 + OBSERVED * OBSERVED)).abs() < 1e-9);
        assert!(
            (field.variance(0) - 2.0).abs() < 0.1,
            "{}",
            field.variance(0)
        );
        field.observe(0, 5.0);
        assert!((field.mean[0] - 5.0).abs() < 0.01, "{:?}", field.mean);
        assert!(
            field.mean[1] < 6.0 && field.mean[2] > 8.9,
            "{:?}",
            field.mean
        );
        assert!(field.variance(1) < 0.5);
    }

    /// One row after the other is the same as all at once: S − S·X(S·XX + o²)⁻¹·X·S with two observations, by hand.
    #[test]
    fn covariances_are_those_of_all_observations_together() {
        let prior = prior();
        let mut field = Field::new(&prior, 1.0);
        field.observe(2, 0.0);
        field.observe(0, 0.0);
        let noise = OBSERVED * OBSERVED;
        let s = |a: usize, b: usize| prior.covariance[a * 3 + b] + LEVEL;
        let (p, q, r) = (s(2, 2) + noise, s(2, 0), s(0, 0) + noise);
        let determinant = p * r - q * q;
        let (u, v) = (s(1, 2), s(1, 0));
        let known = (u * u * r - 2.0 * u * v * q + v * v * p) / determinant;
        assert!((field.variance(1) - (s(1, 1) - known)).abs() < 1e-9);
        let mut found = [0.0; 3];
        field.add_covariances(1, &[0, 1, 2], 1.0, &mut found);
        assert!((found[1] - field.variance(1)).abs() < 1e-9);
        let to_0 = (u * r - v * q) * s(2, 0) + (v * p - u * q) * s(0, 0);
        assert!((found[0] - (s(1, 0) - to_0 / determinant)).abs() < 1e-9);
    }

    /// Mean and variance of a standard normal above 1: φ/Q and 1 − h(h − 1).
    #[test]
    fn what_is_above_a_bound_has_the_moments_of_the_truncated_normal() {
        let prior = prior();
        let mut field = Field::new(&prior, 1.0);
        field.observe(0, 0.0);
        let (mean, variance) = (field.mean[2], field.variance(2));
        let log = field.exceeds(2, mean + variance.sqrt());
        assert!((log - libm::log(0.158_655_253_931_457)).abs() < 1e-9);
        let moved = (field.mean[2] - mean) / variance.sqrt();
        assert!((moved - 1.525_135_276_160_982).abs() < 1e-9, "{moved}");
        assert!((field.variance(2) / variance - 0.199_097_599_993).abs() < 1e-6);
        // Far beyond everything believed it is still finite.
        assert!(field.exceeds(1, 900.0).is_finite());
        assert!(field.mean[1] > 890.0 && field.variance(1) > 0.0);
    }
}
