//! How often a printed interval holds: in 95 % of series, or otherwise, which is said beside it.
//!
//! `tests/integration/coverage.rs` measures it over series of shipped scenarios, each by what is told here.

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

/// Units of a mean, or answers of a share, below which an interval is taken with care: fewer hardly tell how skewed they are, and
/// shares move in jumps.
const FEW: u64 = 100;
/// Units that do not even tell how far they scatter.
const FEWEST: u64 = 16;
/// How many times longer an interval is, with what may still come, that holds in more than 97 %.
const LONGER: f64 = 1.1;
/// Values more skewed than those of an exponential distribution have a mean that few of them carry.
pub(super) const SKEWED: f64 = 2.0;

scavsim_base::named! {
    IntervalCoverage:
    AsSaid = "as-said", Oftener = "oftener", Roughly = "roughly",
}

impl IntervalCoverage {
    /// Whether a mean of so many units with this skewness holds, by its interval as they show it and as it is with what
    /// may still come.
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

    /// Whether the ratio of two means of so many cases holds: Fieller's interval is as long as both ask for.
    pub(super) fn of_ratio(cases: u64) -> IntervalCoverage {
        if cases < FEWEST {
            IntervalCoverage::Roughly
        } else {
            IntervalCoverage::Oftener
        }
    }

    /// Whether a share of `yes` among `count` holds.
    pub(super) fn of_share(yes: u64, count: u64) -> IntervalCoverage {
        match (yes == 0 || yes == count, count < FEW) {
            (true, _) => IntervalCoverage::Oftener,
            (false, true) => IntervalCoverage::Roughly,
            (false, false) => IntervalCoverage::AsSaid,
        }
    }
}
