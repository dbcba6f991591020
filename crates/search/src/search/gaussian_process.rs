//! A Gaussian process over a finite list of configurations: exact, deterministic, one observation at a time. Matérn 5/2 over
//! the distance of [`Features`], with the likeliest constant mean and variance, and the likeliest of a few length scales.
//! Each observation adds one row of the triangle L of the covariance, for all configurations at once: O(N·n) time and memory
//! for the n-th of N; beliefs are then O(N).

use super::belief::Belief;
use super::features::Features;
use super::outlook::Outlook;
use super::products::{PosteriorProducts, Sums};
use scavsim_base::stats::field::{Rows, matern};

/// Length scales that are tried, in lengths of an axis.
const LENGTHS: [f64; 5] = [0.15, 0.3, 0.6, 1.2, 2.4];
#[derive(Debug, Clone)]
pub(super) struct GaussianProcess<'f> {
    features: &'f Features,
    count: usize,
    scales: Vec<Scale>,
    pub(super) worst: f64,
}

/// What is believed of all configurations with one length scale.
#[derive(Debug, Clone)]
struct Scale {
    length: f64,
    /// L⁻¹·k(observed, x), a row per observation, over all x.
    rows: Rows,
    sums: Sums,
    points: Vec<PosteriorProducts>,
    /// Sum of the logarithms of L's diagonal.
    log_diagonal: f64,
}

impl<'f> GaussianProcess<'f> {
    pub(super) fn new(features: &'f Features, count: usize) -> Self {
        let scale = |&length: &f64| Scale {
            length,
            rows: Rows::default(),
            sums: Sums::default(),
            points: vec![PosteriorProducts::NOTHING; count],
            log_diagonal: 0.0,
        };
        GaussianProcess {
            features,
            count,
            scales: LENGTHS.iter().map(scale).collect(),
            worst: f64::NEG_INFINITY,
        }
    }

    /// Observes a value, where it is one, and how bad values come.
    pub(super) fn learn(&mut self, at: usize, value: f64) {
        if value.is_finite() {
            self.worst = self.worst.max(value);
            self.observe(at, value);
        }
    }

    pub(super) fn observe(&mut self, at: usize, value: f64) {
        let squares = (0..self.count).map(|x| self.features.square(at, x));
        let squares: Vec<f64> = squares.collect();
        for scale in &mut self.scales {
            scale.observe(&squares, at, value);
        }
    }

    /// What is believed of all configurations; `None` before two observations, which say nothing of how values vary.
    pub(super) fn beliefs(&self) -> Option<Vec<Belief>> {
        self.likeliest().map(Scale::beliefs)
    }

    /// What `candidates` would look like after further observations of some of them; `None` before two observations.
    pub(super) fn outlook(&self, candidates: &[usize]) -> Option<Outlook> {
        let scale = self.likeliest()?;
        let width = candidates.len();
        let mut covariance = Vec::with_capacity(width * width);
        for &a in candidates {
            let before = covariance.len();
            covariance
                .extend((candidates.iter()).map(|&b| scale.covariance(self.features.square(a, b))));
            let left = &mut covariance[before..];
            scale.rows.take_from_some(a, candidates, 1.0, left);
        }
        let points = candidates.iter().map(|&at| scale.points[at]).collect();
        Some(Outlook::new(scale.sums, points, covariance))
    }

    /// The prior correlation of two places, with the likeliest length scale; `None` before two observations.
    pub(super) fn correlation(&self, a: usize, b: usize) -> Option<f64> {
        let scale = self.likeliest()?;
        Some(scale.covariance(self.features.square(a, b)))
    }

    fn likeliest(&self) -> Option<&Scale> {
        let likely = (self.scales.iter()).filter_map(|scale| Some((scale, scale.likelihood()?)));
        // The first of equals, which is the shortest.
        let best = likely.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(scale, _)| scale)
    }
}

impl Scale {
    fn covariance(&self, square: f64) -> f64 {
        matern((5.0 * square).sqrt() / self.length)
    }

    /// Observes a value, with the squares of all distances from its place.
    fn observe(&mut self, squares: &[f64], at: usize, value: f64) {
        let (diagonal, value, one) = self.points[at].observed(value);
        let row = squares.iter().map(|square| self.covariance(*square));
        let mut row: Vec<f64> = row.collect();
        self.rows.take_from(at, &mut row);
        for (entry, point) in row.iter_mut().zip(&mut self.points) {
            *entry /= diagonal;
            *point = point.and(*entry, value, one);
        }
        self.sums = self.sums.and(value, one);
        self.log_diagonal += libm::log(diagonal);
        self.rows.push(row);
    }

    fn beliefs(&self) -> Vec<Belief> {
        let moments = self.sums.moments();
        (self.points.iter().map(|x| x.belief(moments))).collect()
    }

    /// Twice the logarithm of the likelihood, but for a constant.
    fn likelihood(&self) -> Option<f64> {
        let n = self.rows.len();
        let variance = self.sums.moments().variance;
        (n >= 2).then(|| -(n as f64) * libm::log(variance) - 2.0 * self.log_diagonal)
    }
}

#[cfg(test)]
mod tests {
    use super::super::products::{Moments, NUGGET};
    use super::*;
    use scavsim_base::stats::field::{Field, dot};
    use scavsim_data::space::{Axis, Space};

    impl GaussianProcess<'_> {
        pub(in crate::search) fn length(&self) -> f64 {
            self.likeliest().expect("enough was seen").length
        }

        pub(in crate::search) fn beliefs_with(&self, length: f64) -> Vec<Belief> {
            let mut scales = self.scales.iter();
            let scale = scales.find(|scale| scale.length == length);
            scale.expect("one of them").beliefs()
        }
    }

    fn line(count: u32) -> (Space, Features) {
        let rows: Vec<[f64; 1]> = (1..=count).map(|x| [f64::from(x)]).collect();
        let space = Space::new(vec![Axis::numeric("x", "1")], rows).expect("a space");
        let features = Features::for_space(&space, None);
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
            let field = Field::new(n, |i, j| {
                k(seen[i].0, seen[j].0) + if i == j { NUGGET } else { 0.0 }
            });
            let field = field.expect("a covariance");
            let Moments { mean, variance, .. } = scale.sums.moments();
            let solved = |right: Vec<f64>| field.solved(right);
            let ones = solved(vec![1.0; n]);
            let values = solved(seen.iter().map(|s| s.1).collect());
            assert!((mean - dot(&ones, &values) / dot(&ones, &ones)).abs() < 1e-9);
            for (x, belief) in scale.beliefs().iter().enumerate() {
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
        let features = Features::for_space(&space, None);
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
}
