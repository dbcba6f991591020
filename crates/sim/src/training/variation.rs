//! What varies at random. Every factor is log-normal with mean 1; all off is the deterministic
//! replay of the measurements.

use scavsim_base::rng::UnitLogNormal;
use scavsim_base::stats::normal;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variation {
    /// Coefficient of variation of one worker's compute time in one step.
    pub step_cv: f64,
    /// σ of one factor on the whole step per (replica, configuration): luck of placement.
    pub placement_sigma: f64,
    /// σ of one factor on the compute time per (VM, replica): machines that differ.
    pub vm_sigma: f64,
    pub drift: Option<Drift>,
    pub straggler: Option<Straggler>,
    /// Coefficient of variation of the SGD noise read in one step.
    pub noise_cv: f64,
    /// Whether probes read the noise at that point of training; otherwise they read
    /// its value at the target, as a cold start is meant to achieve.
    pub noise_curve: bool,
    /// Coefficient of variation of the steps to the target per (replica, configuration).
    pub epoch_cv: f64,
}

/// One factor on the communication time per period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// σ of the factor.
    pub sigma: f64,
    /// Seconds that a factor lasts.
    pub period_s: f64,
}

/// A worker-step that takes `factor` times as long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Straggler {
    /// Probability per worker and step.
    pub probability: f64,
    /// How much longer, above 1.
    pub factor: f64,
}

impl Variation {
    pub fn worker_time(&self) -> WorkerTime {
        WorkerTime {
            sigma: UnitLogNormal::from_cv(self.step_cv).sigma(),
            straggler: self.straggler,
            family: Family::LogNormal,
        }
    }
}

/// One worker's compute time in one step: a log-normal (or another [`Family`]), times the straggler's factor with its
/// probability, divided by their mean so that the mean is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerTime {
    /// σ of the logarithm; only a log-normal has one.
    pub sigma: f64,
    pub straggler: Option<Straggler>,
    pub family: Family,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Family {
    /// What measured step times look like.
    #[default]
    LogNormal,
    /// Coefficient of variation 1 and no memory: what queueing theory is exact for.
    Exponential,
}

impl WorkerTime {
    pub const EXPONENTIAL: WorkerTime = WorkerTime {
        sigma: 0.0,
        straggler: None,
        family: Family::Exponential,
    };

    #[inline]
    pub fn is_constant(&self) -> bool {
        self.has_no_spread() && self.straggler.is_none()
    }

    /// Whether steps without a straggler take equally long.
    #[inline]
    pub fn has_no_spread(&self) -> bool {
        self.sigma == 0.0 && self.family == Family::LogNormal
    }

    /// Coefficient of variation, stragglers included.
    pub fn cv(&self) -> f64 {
        (self.raw_moment(2) - 1.0).max(0.0).sqrt()
    }

    /// Skewness, stragglers included; 0 for a constant.
    pub fn skewness(&self) -> f64 {
        let cv = self.cv();
        if cv == 0.0 {
            return 0.0;
        }
        let square = self.raw_moment(2);
        (self.raw_moment(3) - 3.0 * square + 2.0) / (cv * cv * cv)
    }

    /// E[xⁿ] of the time relative to its mean.
    fn raw_moment(&self, n: u32) -> f64 {
        let plain = match self.family {
            Family::LogNormal => {
                let pairs = f64::from(n * (n - 1)) / 2.0;
                libm::exp(pairs * self.sigma * self.sigma)
            }
            Family::Exponential => (1..=n).map(f64::from).product(),
        };
        let stragglers = self.straggler.map_or(1.0, |s| {
            let power = |n: u32| 1.0 + s.probability * (libm::pow(s.factor, f64::from(n)) - 1.0);
            power(n) / libm::pow(power(1), f64::from(n))
        });
        plain * stragglers
    }

    /// E[(x − t)⁺]: by how much the time relative to its mean exceeds `t`, on average.
    pub fn mean_beyond(&self, t: f64) -> f64 {
        let plain = |mean: f64| match self.family {
            _ if t <= 0.0 => mean - t,
            Family::LogNormal if self.sigma == 0.0 => (mean - t).max(0.0),
            Family::LogNormal => {
                let far = libm::log(mean / t) / self.sigma;
                let half = 0.5 * self.sigma;
                (mean * normal::cdf(far + half) - t * normal::cdf(far - half)).max(0.0)
            }
            Family::Exponential => mean * libm::exp(-t / mean),
        };
        let Some(straggler) = self.straggler else {
            return plain(1.0);
        };
        let (p, factor) = (straggler.probability, straggler.factor);
        let mean = 1.0 / (1.0 + p * (factor - 1.0));
        (1.0 - p) * plain(mean) + p * plain(mean * factor)
    }

    /// Logarithm of the factor by which draws are scaled to have mean 1:
    /// −σ²/2 − ln(1 + p (f − 1)), without the first term where there is no σ.
    #[inline]
    pub fn log_scale(&self) -> f64 {
        let stragglers = self
            .straggler
            .map_or(0.0, |s| libm::log1p(s.probability * (s.factor - 1.0)));
        match self.family {
            Family::LogNormal => -0.5 * self.sigma * self.sigma - stragglers,
            Family::Exponential => -stragglers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{drawn, straggler};
    use crate::training::slowest;
    use scavsim_base::rng::Stream;

    #[test]
    fn the_mean_beyond_a_time_is_that_of_draws() {
        let log_normal = |sigma, straggler| crate::tests::log_normal(sigma, straggler);
        let straggler = straggler(0.1, 4.0);
        for time in [
            log_normal(0.4, None),
            log_normal(0.4, straggler),
            log_normal(0.0, straggler),
            WorkerTime::EXPONENTIAL,
        ] {
            for t in [0.0, 0.5, 1.0, 1.7] {
                let mut stream = Stream::seeded(5);
                let mut seen = scavsim_base::stats::Welford::default();
                for _ in 0..200_000 {
                    seen.add((slowest::draw(1, time, &mut stream) - t).max(0.0));
                }
                drawn(&seen, time.mean_beyond(t), 4.0);
            }
        }
    }
}
