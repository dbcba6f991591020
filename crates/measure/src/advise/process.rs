//! The uncertainty after few measurements: a random field around a prediction, conditioned on the measurements.

use scavsim_base::stats::field::{Field, dot, symmetric};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    /// Logarithm of its coordinate.
    pub(super) x: f64,
    /// Error relative to that among the measurements: laws get worse away from them.
    pub(super) scale: f64,
}

/// A factor of e multiplies a correlation by e^(−1/REACH): a factor of eight, by 1/e.
const REACH: f64 = 2.08;

/// Prior covariance of the errors at two places, relative to the variance among the measurements.
fn prior(a: &Place, b: &Place) -> f64 {
    a.scale * b.scale * libm::exp(-(a.x - b.x).abs() / REACH)
}

/// Errors of ln(prediction), after measurements.
#[derive(Debug, Clone)]
pub(super) struct Process {
    places: Vec<Place>,
    /// The prior correlation of the measurements, with their own errors.
    field: Field,
    /// Prior standard deviation.
    sigma: f64,
    /// Variance of each measurement's own error.
    own: Vec<f64>,
}

impl Process {
    /// A process measured at `places`, each with the variance of its own error.
    pub(super) fn new(places: Vec<Place>, own: Vec<f64>, sigma: f64) -> Process {
        let variance = (sigma * sigma).max(1e-12);
        // Rounding may make the variance of a place that others determine negative.
        let field = Field::with_least_variance(places.len(), 1e-12, |i, j| {
            let correlation = prior(&places[i], &places[j]);
            if i == j {
                // The jitter keeps repeated measurements at one place solvable.
                correlation + (own[i] / variance + 1e-9)
            } else {
                correlation
            }
        });
        Process {
            places,
            field,
            sigma,
            own,
        }
    }

    pub(super) fn scaled(self, sigma: f64) -> Process {
        Process::new(self.places, self.own, sigma)
    }

    pub(super) fn covariance(&self, places: &[Place]) -> Vec<f64> {
        let with = |at: &Place| self.places.iter().map(|place| prior(place, at)).collect();
        let seen: Vec<Vec<f64>> = (places.iter())
            .map(|place| self.field.solved(with(place)))
            .collect();
        let variance = self.sigma * self.sigma;
        symmetric(places.len(), |i, j| {
            let left = prior(&places[i], &places[j]) - dot(&seen[i], &seen[j]);
            variance * if i == j { left.max(0.0) } else { left }
        })
    }

    /// Share of the prior variance that remains at each measurement if it is left out.
    pub(super) fn left_without(&self) -> Vec<f64> {
        let precision = self.field.precision();
        let left = (0..self.places.len()).map(|at| 1.0 / precision.entry(at, at));
        left.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::tests::near;

    fn place(x: f64) -> Place {
        Place { x, scale: 1.0 }
    }

    /// Between two measurements of a process with exponential correlation r on both sides, 1 − 2r²/(1 + r²) remains.
    #[test]
    fn what_is_left_between_two_measurements_is_that_of_the_textbook() {
        let process = Process::new(vec![place(0.0), place(2.0)], vec![0.0; 2], 0.1);
        let all = process.covariance(&[place(1.0), place(0.0), place(40.0)]);
        let r = libm::exp(-1.0 / REACH);
        let left = 1.0 - 2.0 * r * r / (1.0 + r * r);
        near(all[0] / 0.01, left, 1e-6);
        // No variance remains at a measurement, and all of it far away.
        near(all[4] / 0.01, 0.0, 1e-6);
        near(all[8] / 0.01, 1.0, 1e-6);
        near(all[1], all[3], 1e-15);
    }

    #[test]
    fn a_measurement_that_is_left_out_is_as_unknown_as_any_place_there() {
        let places = [0.0, 0.7, 1.9].map(place);
        let process = Process::new(places.to_vec(), vec![0.0; 3], 1.0);
        let left = process.left_without();
        for out in 0..3 {
            let others = (0..3).filter(|i| *i != out).map(|i| places[i]).collect();
            let without = Process::new(others, vec![0.0; 2], 1.0);
            near(left[out], without.covariance(&places[out..=out])[0], 1e-6);
        }
    }

    #[test]
    fn an_error_of_its_own_stays() {
        let process = Process::new(vec![place(0.0)], vec![0.01], 0.1);
        // Prior and measurement have equal weights.
        near(process.covariance(&[place(0.0)])[0], 0.005, 1e-6);
    }
}
