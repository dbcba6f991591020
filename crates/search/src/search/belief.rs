use scavsim_base::stats::normal;

/// Mean and standard deviation of one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Belief {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Belief {
    /// The mean of what is above zero of it, max(Y, 0): m·Φ(m/s) + s·φ(m/s).
    pub(super) fn above_zero(&self) -> f64 {
        let below = Belief {
            mean: -self.mean,
            ..*self
        };
        below.improvement(0.0)
    }

    /// The chance that the value is at most `most`.
    pub(super) fn at_most(&self, most: f64) -> f64 {
        if most == f64::INFINITY {
            return 1.0;
        }
        if self.deviation > 0.0 {
            normal::cdf((most - self.mean) / self.deviation)
        } else {
            f64::from(self.mean <= most)
        }
    }

    /// The mean of the value where all that is known besides is that it is above `least`: m + s·φ(a)/(1 − Φ(a)) with
    /// a = (`least` − m)/s.
    pub(super) fn mean_above(&self, least: f64) -> f64 {
        let a = (least - self.mean) / self.deviation;
        let beyond = normal::cdf(-a);
        if self.deviation > 0.0 && beyond > 0.0 {
            (self.mean + self.deviation * normal::density(a) / beyond).max(least)
        } else {
            // So far out in the tail, or so sure, that the mean is at its end.
            self.mean.max(least)
        }
    }

    /// By how much the value is expected to lie below `best`, counting only where it does: (b − m)·Φ(z) + s·φ(z).
    pub(super) fn improvement(&self, best: f64) -> f64 {
        let gain = best - self.mean;
        if self.deviation <= 0.0 {
            return gain.max(0.0);
        }
        let z = gain / self.deviation;
        (gain * normal::cdf(z) + self.deviation * normal::density(z)).max(0.0)
    }

    /// What [`improvement`](Self::improvement) is at most, without an exponential: with z below 0 it is less than s·φ(z)/(1 + z²), and
    /// φ(z) less than φ(0)/(1 + z²/2 + z⁴/8).
    pub(super) fn improvement_at_most(&self, best: f64) -> f64 {
        let gain = best - self.mean;
        if gain >= 0.0 || self.deviation <= 0.0 {
            return gain.max(0.0) + 0.4 * self.deviation;
        }
        let square = gain * gain / (self.deviation * self.deviation);
        0.4 * self.deviation / ((1.0 + square) * (1.0 + square * (0.5 + 0.125 * square)))
    }

    /// Bound on the expected improvement of the exponential of the value, below the exponential of `best`, as a share of it.
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

    /// A normal cut off at its mean is s·√(2/π) above it; far out in the tail nothing is left but the end.
    #[test]
    fn what_is_known_to_be_above_a_bound_is_so_far_above_it() {
        let belief = Belief {
            mean: 3.0,
            deviation: 2.0,
        };
        let half = 2.0 * (2.0 / std::f64::consts::PI).sqrt();
        assert!((belief.mean_above(3.0) - 3.0 - half).abs() < 1e-12);
        assert!((belief.mean_above(-1e3) - 3.0).abs() < 1e-12);
        assert_eq!(belief.mean_above(1e6), 1e6);
        assert!((belief.at_most(3.0) - 0.5).abs() < 1e-15);
        // m·Φ(m/s) + s·φ(m/s) at m = s.
        let one = Belief {
            mean: 1.0,
            deviation: 1.0,
        };
        assert!((one.above_zero() - 1.083_315_470_587_686_4).abs() < 1e-12);
    }

    #[test]
    fn the_bound_is_never_below_the_improvement() {
        for step in -400..=400 {
            let belief = Belief {
                mean: 0.02 * f64::from(step),
                deviation: 0.7,
            };
            let (own, most) = (belief.improvement(0.5), belief.improvement_at_most(0.5));
            assert!(
                own <= most && most <= own + 0.281,
                "{belief:?}: {own} {most}"
            );
        }
    }
}
