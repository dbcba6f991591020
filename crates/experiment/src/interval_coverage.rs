//! How often a printed interval holds: in 95 % of series, or otherwise, which is said beside it. Measured over series of shipped
//! scenarios by `tests/integration/coverage.rs`.

use scavsim_base::stats::Interval;

/// How often a 95 % interval holds, as far as its cases tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntervalCoverage {
    /// In 93 to 97 % of series.
    AsSaid,
    /// Oftener: it reaches to a choice that no case made, or is of a share that is all or nothing.
    Oftener,
    /// Roughly, in 85 to 100 %: of few cases, or of a mean that few of them carry.
    Roughly,
}

/// Units of a mean, or answers of a share, below which an interval is taken with care.
const FEW: u64 = 100;
/// Units too few to tell how far they scatter.
const FEWEST: u64 = 16;
/// Ratio of lengths, with and without what may still come, beyond which more than 97 % hold.
const LONGER: f64 = 1.1;
/// Skewness beyond which few values carry the mean (an exponential distribution has 2).
pub(super) const SKEWED: f64 = 2.0;

scavsim_base::named! {
    IntervalCoverage:
    AsSaid = "as-said", Oftener = "oftener", Roughly = "roughly",
}

impl IntervalCoverage {
    /// For a mean of `units` with this skewness, by the shown interval and the one with what may still come.
    pub(super) fn of_mean(
        intervals: Option<(Interval, Interval)>,
        units: u64,
        skewness: f64,
    ) -> IntervalCoverage {
        let length = |interval: Interval| interval.high - interval.low;
        let is_longer = intervals.is_some_and(|(a, b)| length(b) > LONGER * length(a));
        match is_longer {
            _ if units < FEWEST => IntervalCoverage::Roughly,
            true => IntervalCoverage::Oftener,
            false if units < FEW || skewness.abs() > SKEWED => IntervalCoverage::Roughly,
            false => IntervalCoverage::AsSaid,
        }
    }

    /// For the ratio of two means (Fieller's interval).
    pub(super) fn of_ratio(cases: u64) -> IntervalCoverage {
        if cases < FEWEST {
            IntervalCoverage::Roughly
        } else {
            IntervalCoverage::Oftener
        }
    }

    pub(super) fn of_share(yes: u64, count: u64) -> IntervalCoverage {
        match (yes == 0 || yes == count, count < FEW) {
            (true, _) => IntervalCoverage::Oftener,
            (false, true) => IntervalCoverage::Roughly,
            (false, false) => IntervalCoverage::AsSaid,
        }
    }
}
