//! Units that must not be mixed up: simulated time as integer nanoseconds. Floating-point seconds of a model are rounded
//! once, when they enter the clock. Everything after that is exact, so the order of events never depends on rounding.

use std::ops::{Add, AddAssign, Sub};

pub const SECONDS_PER_HOUR: f64 = 3600.0;
/// Hours of a month in price lists.
pub const MONTH_H: f64 = 730.0;

/// A point on the simulated clock, or a length of simulated time, in whole nanoseconds. 64 bits hold 584 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimTime(u64);

impl SimTime {
    /// The start of the simulation; also the empty duration.
    pub const ZERO: SimTime = SimTime(0);

    /// The last moment, after 584 years: what would be later is lost, so a clock that comes to it has no result.
    pub const LAST: SimTime = SimTime(u64::MAX - 1);

    /// Rounds to the nearest nanosecond. Negative values and NaN become zero, values beyond 584 years the largest time.
    #[inline]
    pub fn from_seconds(seconds: f64) -> Self {
        // `as` saturates, and adding one half rounds because the value is not negative.
        SimTime((seconds * 1e9 + 0.5) as u64)
    }

    #[inline]
    pub fn from_nanoseconds(nanoseconds: u64) -> Self {
        SimTime(nanoseconds)
    }

    #[inline]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    #[inline]
    pub fn hours(self) -> f64 {
        self.seconds() / SECONDS_PER_HOUR
    }

    #[inline]
    pub fn nanoseconds(self) -> u64 {
        self.0
    }
}

impl Add for SimTime {
    type Output = SimTime;
    #[inline]
    fn add(self, other: SimTime) -> SimTime {
        SimTime(self.0.saturating_add(other.0))
    }
}

impl AddAssign for SimTime {
    #[inline]
    fn add_assign(&mut self, other: SimTime) {
        *self = *self + other;
    }
}

impl Sub for SimTime {
    type Output = SimTime;
    /// Zero when `other` is later: a length of time is never negative.
    #[inline]
    fn sub(self, other: SimTime) -> SimTime {
        SimTime(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_once_to_the_nearest_nanosecond() {
        assert_eq!(SimTime::from_seconds(1.488).nanoseconds(), 1_488_000_000);
        assert_eq!(SimTime::from_seconds(0.4e-9).nanoseconds(), 0);
        assert_eq!(SimTime::from_seconds(0.6e-9).nanoseconds(), 1);
        assert_eq!(SimTime::from_seconds(-1.0), SimTime::ZERO);
        assert_eq!(SimTime::from_seconds(f64::NAN), SimTime::ZERO);
    }

    #[test]
    fn the_clock_saturates_and_never_wraps() {
        let end = SimTime::from_seconds(f64::INFINITY);
        assert_eq!(end + SimTime::from_seconds(1.0), end);
        assert_eq!(SimTime::ZERO - SimTime::from_seconds(1.0), SimTime::ZERO);
    }
}
