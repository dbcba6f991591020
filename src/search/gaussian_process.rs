//! A Gaussian process over a finite list of configurations: exact, deterministic, one observation at a time.
//!
//! Matérn 5/2 over the distance of [`Features`], a constant mean and a variance that are both the likeliest ones at any
//! moment. Each observation adds one row of the triangle L of the covariance, for all configurations at once:
//! O(N·n) for the n-th of N, and as much memory. Of a few length scales the likeliest is asked.

use super::features::Features;
use crate::stats::normal;

/// Length scales that are tried, in lengths of an axis.
const LENGTHS: [f64; 5] = [0.15, 0.3, 0.6, 1.2, 2.4];
/// Variance that an observation has for itself, as a share of that of the process: runs repeat to about 3 % of their
/// spread, and equal configurations stay solvable.
const NUGGET: f64 = 1e-3;
/// Least variance, as a share of the square of the mean: where all observations are equal.
const LEAST_VARIANCE: f64 = 1e-12;

/// What is believed of all configurations.
#[derive(Debug, Clone)]
pub(super) struct GaussianProcess<'f> {
    features: &'f Features,
    count: usize,
    scales: Vec<Scale>,
}

/// The same with one length scale.
#[derive(Debug, Clone)]
struct Scale {
    length: f64,
    /// L⁻¹·k(observed, x), a row per observation, over all x.
    rows: Vec<Vec<f64>>,
    /// L⁻¹·y.
    values: Vec<f64>,
    /// L⁻¹·1.
    ones: Vec<f64>,
    /// Sum of the logarithms of L's diagonal.
    log_diagonal: f64,
}

/// Mean and standard deviation of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Belief {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl<'f> GaussianProcess<'f> {
    /// Nothing observed yet of `count` configurations.
    pub(super) fn new(features: &'f Features, count: usize) -> Self {
        let scale = |&length: &f64| Scale {
            length,
            rows: Vec::new(),
            values: Vec::new(),
            ones: Vec::new(),
            log_diagonal: 0.0,
        };
        GaussianProcess {
            features,
            count,
            scales: LENGTHS.iter().map(scale).collect(),
        }
    }

    /// `value` was seen at a configuration.
    pub(super) fn observe(&mut self, at: usize, value: f64) {
        for scale in &mut self.scales {
            scale.observe(self.features, self.count, at, value);
        }
    }

    /// What is believed of all configurations; `None` before two observations, which say nothing of how values vary.
    pub(super) fn beliefs(&self) -> Option<Vec<Belief>> {
        let likeliest = (self.scales.iter())
            .filter_map(|scale| Some((scale, scale.likelihood()?)))
            // The first of equals, which is the shortest.
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        Some(likeliest?.0.beliefs(self.count))
    }
}

impl Scale {
    fn covariance(&self, square: f64) -> f64 {
        let r = (5.0 * square).sqrt() / self.length;
        (1.0 + r + r * r / 3.0) * libm::exp(-r)
    }

    fn observe(&mut self, features: &Features, count: usize, at: usize, value: f64) {
        let own: Vec<f64> = self.rows.iter().map(|row| row[at]).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let diagonal = (1.0 + NUGGET - dot(&own, &own)).max(NUGGET * NUGGET).sqrt();
        let mut row: Vec<f64> = (0..count)
            .map(|x| self.covariance(features.square(at, x)))
            .collect();
        for (weight, known) in own.iter().zip(&self.rows) {
            for (x, entry) in row.iter_mut().enumerate() {
                *entry -= weight * known[x];
            }
        }
        row.iter_mut().for_each(|entry| *entry /= diagonal);
        self.values
            .push((value - dot(&own, &self.values)) / diagonal);
        self.ones.push((1.0 - dot(&own, &self.ones)) / diagonal);
        self.log_diagonal += libm::log(diagonal);
        self.rows.push(row);
    }

    /// The likeliest mean and variance.
    fn moments(&self) -> (f64, f64) {
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            let pairs = self.values.iter().zip(&self.ones);
            pairs.map(|(value, one)| of(*value, *one)).sum()
        };
        let mean = sum(&|value, one| value * one) / sum(&|_, one| one * one);
        let square = sum(&|value, one| (value - mean * one) * (value - mean * one));
        let least = LEAST_VARIANCE * (mean * mean).max(f64::MIN_POSITIVE);
        (mean, (square / self.values.len() as f64).max(least))
    }

    /// Twice the logarithm of the likelihood, but for a constant.
    fn likelihood(&self) -> Option<f64> {
        let n = self.values.len();
        (n >= 2).then(|| -(n as f64) * libm::log(self.moments().1) - 2.0 * self.log_diagonal)
    }

    fn beliefs(&self, count: usize) -> Vec<Belief> {
        let (mean, variance) = self.moments();
        let ones: f64 = self.ones.iter().map(|one| one * one).sum();
        let belief = |x: usize| {
            let (mut to, mut known, mut of_mean) = (mean, 0.0, 1.0);
            for (row, (value, one)) in self.rows.iter().zip(self.values.iter().zip(&self.ones)) {
                to += row[x] * (value - mean * one);
                known += row[x] * row[x];
                of_mean -= row[x] * one;
            }
            // That the mean itself is estimated makes what is far away less sure.
            let left = (1.0 - known).max(0.0) + of_mean * of_mean / ones;
            Belief {
                mean: to,
                deviation: (variance * left).sqrt(),
            }
        };
        (0..count).map(belief).collect()
    }
}

impl Belief {
    /// By how much the value is expected to lie below `best`, counting only where it does: (b − m)·Φ(z) + s·φ(z).
    pub(super) fn improvement(&self, best: f64) -> f64 {
        let gain = best - self.mean;
        if self.deviation <= 0.0 {
            return gain.max(0.0);
        }
        let z = gain / self.deviation;
        (gain * normal::cdf(z) + self.deviation * normal::density(z)).max(0.0)
    }

    /// The same of the exponential of the value, below the exponential of `best`, as a share of it.
    pub(super) fn log_improvement(&self, best: f64) -> f64 {
        let gain = best - self.mean;
        if self.deviation <= 0.0 {
            return (1.0 - libm::exp(-gain)).max(0.0);
        }
        let z = gain / self.deviation;
        let expected = libm::exp(0.5 * self.deviation * self.deviation - gain);
        (normal::cdf(z) - expected * normal::cdf(z - self.deviation)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Axis, Space};
    use crate::stats::cholesky::{cholesky, forward};

    fn line(count: u32) -> (Space, Features) {
        let rows: Vec<[f64; 1]> = (1..=count).map(|x| [f64::from(x)]).collect();
        let space = Space::new(vec![Axis::numeric("x", "1")], rows).expect("a space");
        let features = Features::of(&space, None);
        (space, features)
    }

    /// Row by row the same as one decomposition of all observations.
    #[test]
    fn one_at_a_time_is_all_at_once() {
        let (_, features) = line(12);
        let seen = [(0, 3.0), (11, 1.0), (5, 2.2), (7, 1.9)];
        let mut process = GaussianProcess::new(&features, 12);
        seen.iter()
            .for_each(|(at, value)| process.observe(*at, *value));
        for scale in &process.scales {
            let n = seen.len();
            let k = |a: usize, b: usize| scale.covariance(features.square(a, b));
            let mut matrix = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    matrix[i * n + j] = k(seen[i].0, seen[j].0) + if i == j { NUGGET } else { 0.0 };
                }
            }
            assert!(cholesky(&mut matrix, n));
            let (mean, variance) = scale.moments();
            let solved = |mut right: Vec<f64>| {
                forward(&matrix, n, &mut right);
                right
            };
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let ones = solved(vec![1.0; n]);
            let values = solved(seen.iter().map(|s| s.1).collect());
            assert!((mean - dot(&ones, &values) / dot(&ones, &ones)).abs() < 1e-9);
            for (x, belief) in scale.beliefs(12).iter().enumerate() {
                let to = solved(seen.iter().map(|s| k(s.0, x)).collect());
                let rest: Vec<f64> = (values.iter().zip(&ones))
                    .map(|(value, one)| value - mean * one)
                    .collect();
                assert!((belief.mean - mean - dot(&to, &rest)).abs() < 1e-9);
                let of_mean = 1.0 - dot(&to, &ones);
                let left = 1.0 - dot(&to, &to) + of_mean * of_mean / dot(&ones, &ones);
                let deviation = (variance * left.max(0.0)).sqrt();
                assert!((belief.deviation - deviation).abs() < 1e-6, "{x}");
            }
        }
    }

    #[test]
    fn equal_configurations_and_equal_values_are_no_trouble() {
        let axes = vec![Axis::numeric("x", "1")];
        let space = Space::new(axes, [[1.0], [1.0], [2.0], [2.0]]).expect("a space");
        let features = Features::of(&space, None);
        let mut process = GaussianProcess::new(&features, 4);
        for at in [0, 1, 2, 3, 0] {
            process.observe(at, 5.0);
            if let Some(beliefs) = process.beliefs() {
                for belief in beliefs {
                    assert!((belief.mean - 5.0).abs() < 1e-9, "{belief:?}");
                    assert!(belief.deviation < 1e-3, "{belief:?}");
                    assert!(belief.improvement(5.0) >= 0.0);
                }
            }
        }
    }

    #[test]
    fn improvement_is_that_of_the_normal_and_of_the_log_normal() {
        let belief = Belief {
            mean: 1.0,
            deviation: 0.5,
        };
        // φ(0)·s where the mean is the best itself.
        assert!((belief.improvement(1.0) - 0.5 * 0.398_942_280_401_432_7).abs() < 1e-12);
        let sure = Belief {
            mean: 1.0,
            deviation: 0.0,
        };
        assert_eq!(sure.improvement(1.5), 0.5);
        assert_eq!(sure.improvement(0.5), 0.0);
        assert!((sure.log_improvement(1.0 + libm::log(2.0)) - 0.5).abs() < 1e-12);
        let nearly = Belief {
            mean: 1.0,
            deviation: 1e-6,
        };
        let (a, b) = (nearly.log_improvement(1.7), sure.log_improvement(1.7));
        assert!((a - b).abs() < 1e-6);
    }
}
