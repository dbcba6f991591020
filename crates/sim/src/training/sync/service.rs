//! How long a parameter server takes for its part of an update.

use serde::{Deserialize, Serialize};

use scavsim_base::rng::{Stream, UnitGamma};
use scavsim_base::units::SimTime;
use scavsim_read::input::checked::Spread;

/// How the service times of a parameter server vary. All parts of an update are equally large, and take equally long.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceTime {
    /// All are alike.
    #[default]
    Constant,
    /// Exponential: a coefficient of variation of 1.
    Exponential,
    /// Gamma with this coefficient of variation.
    Cv(Spread),
}

impl ServiceTime {
    pub fn cv(self) -> f64 {
        match self {
            ServiceTime::Constant => 0.0,
            ServiceTime::Exponential => 1.0,
            ServiceTime::Cv(cv) => cv.get(),
        }
    }
}

/// Moments of a server's time for its part of an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Service {
    pub(super) part_s: f64,
    cv: f64,
}

impl Service {
    pub(super) fn new(part_s: f64, times: ServiceTime) -> Self {
        Service {
            part_s,
            cv: times.cv(),
        }
    }

    pub(super) fn variance(&self) -> f64 {
        let deviation = self.cv * self.part_s;
        deviation * deviation
    }

    pub(super) fn second_moment(&self) -> f64 {
        self.part_s * self.part_s + self.variance()
    }

    /// Third central moment: the skewness of a gamma is twice its cv.
    pub(super) fn third_moment(&self) -> f64 {
        2.0 * self.cv * self.cv * self.part_s * self.variance()
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ServiceTimes {
    Constant(SimTime),
    Exponential(f64),
    Gamma(f64, UnitGamma),
}

impl ServiceTimes {
    pub(super) fn new(part_s: f64, times: ServiceTime) -> Self {
        match times {
            ServiceTime::Cv(cv) if cv.get() > 0.0 => {
                ServiceTimes::Gamma(part_s, UnitGamma::from_cv(cv.get()))
            }
            ServiceTime::Exponential => ServiceTimes::Exponential(part_s),
            _ => ServiceTimes::Constant(SimTime::from_seconds(part_s)),
        }
    }

    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> SimTime {
        match self {
            ServiceTimes::Constant(part) => *part,
            ServiceTimes::Exponential(part_s) => {
                SimTime::from_seconds(-part_s * libm::log(stream.uniform()))
            }
            ServiceTimes::Gamma(part_s, law) => SimTime::from_seconds(part_s * law.sample(stream)),
        }
    }
}
