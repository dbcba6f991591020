//! Scalar products that a Gaussian process keeps of its observations, and what is believed by them.

use super::belief::Belief;

/// Variance that an observation has for itself, as a share of that of the process: runs repeat to about 3 % of their
/// spread, and equal configurations stay solvable.
pub(super) const NUGGET: f64 = 1e-3;
/// Least variance, as a share of the square of the mean: where all observations are equal.
const LEAST_VARIANCE: f64 = 1e-12;

/// Scalar products of L⁻¹·y and L⁻¹·1 over all observations.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    count: f64,
    values: f64,
    both: f64,
    ones: f64,
}

/// Scalar products of L⁻¹·k(observed, x) of one x.
#[derive(Debug, Clone, Copy)]
pub(super) struct PosteriorProducts {
    /// With L⁻¹·y.
    pub(super) of_values: f64,
    /// With L⁻¹·1.
    pub(super) of_ones: f64,
    /// Part of the variance 1 at x that no observation explains, before noise.
    pub(super) left: f64,
}

impl Sums {
    pub(super) fn and(mut self, value: f64, one: f64) -> Sums {
        self.count += 1.0;
        self.values += value * value;
        self.both += value * one;
        self.ones += one * one;
        self
    }

    /// The likeliest mean and variance, and the variance of that mean over it.
    pub(super) fn moments(&self) -> Moments {
        let mean = self.both / self.ones;
        let square = self.values - mean * self.both;
        let least = LEAST_VARIANCE * (mean * mean).max(f64::MIN_POSITIVE);
        Moments {
            mean,
            variance: (square / self.count).max(least),
            of_mean: 1.0 / self.ones,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) variance: f64,
    of_mean: f64,
}

impl PosteriorProducts {
    pub(super) const NOTHING: PosteriorProducts = PosteriorProducts {
        of_values: 0.0,
        of_ones: 0.0,
        left: 1.0,
    };

    /// After an observation whose row is `entry` here.
    pub(super) fn and(self, entry: f64, value: f64, one: f64) -> PosteriorProducts {
        PosteriorProducts {
            of_values: self.of_values + entry * value,
            of_ones: self.of_ones + entry * one,
            left: self.left - entry * entry,
        }
    }

    pub(super) fn belief(&self, moments: Moments) -> Belief {
        let of_mean = 1.0 - self.of_ones;
        // That the mean itself is estimated makes what is far away less sure.
        let left = self.left.max(0.0) + of_mean * of_mean * moments.of_mean;
        Belief {
            mean: self.of_values + moments.mean * of_mean,
            deviation: (moments.variance * left).sqrt(),
        }
    }

    /// The row of an observation of `value` here: L's entry on the diagonal, and its entries in L⁻¹·y and L⁻¹·1.
    pub(super) fn observed(&self, value: f64) -> (f64, f64, f64) {
        let diagonal = (self.left + NUGGET).max(NUGGET * NUGGET).sqrt();
        let of = |all: f64, known: f64| (all - known) / diagonal;
        (diagonal, of(value, self.of_values), of(1.0, self.of_ones))
    }
}
