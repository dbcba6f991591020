use std::sync::Arc;

use crate::cloud::{Date, Fleet, Market, PriceTable, RentalPlace};
use crate::pricing::spot_series_key::{SpotSeriesKey, Step};
use crate::pricing::{NoPrice, PolicyFile, PriceDay, WrongPolicy};

const SPOT_SERIES: &str = "`spot_series`";

pub(super) fn read(file: &PolicyFile) -> Option<Result<Series, WrongPolicy>> {
    Some(match file.spot_series.as_ref()? {
        SpotSeriesKey::Steps(steps) => SpotSeries::new(SPOT_SERIES, steps).map(Series::Ratio),
        SpotSeriesKey::Table(_) => DatedSpotPrices::read(file).map(Series::Dated),
    })
}

#[derive(Debug, Clone)]
pub enum Series {
    /// One multiple of the base price for all VM types.
    Ratio(SpotSeries),
    /// A multiple for each VM type, from a table.
    Dated(DatedSpotPrices),
}

/// Spot prices of a table from the day on which a job begins.
#[derive(Debug, Clone)]
pub struct DatedSpotPrices {
    table: Arc<PriceTable>,
    place: RentalPlace,
    start: Date,
}

impl DatedSpotPrices {
    fn read(file: &PolicyFile) -> Result<DatedSpotPrices, WrongPolicy> {
        let table = (file.tables.series.clone())
            .ok_or(WrongPolicy::OutsideScenario("`spot_series`: a table"))?;
        let start = file.date.and_then(PriceDay::stated);
        let start = start.ok_or(WrongPolicy::Needs(
            "`spot_series` of a table",
            "`date`, the day with which a job begins",
        ))?;
        Ok(DatedSpotPrices {
            table,
            place: file.place(),
            start,
        })
    }

    /// The prices of `vm`, or of what it stands in for, over a base price.
    pub fn over(
        &self,
        vm: &str,
        usd_per_hour: f64,
        fleet: &Fleet<'_>,
    ) -> Result<SpotSeries, NoPrice> {
        let of = |vm| (self.table).series(vm, Market::Spot, &self.place, self.start);
        let like = || of(fleet.like(vm)?).ok();
        let series = of(vm).or_else(|why| like().ok_or(why));
        let series = series.map_err(|(what, help)| NoPrice { what, help })?;
        let mut segments: Vec<Segment> = Vec::with_capacity(series.len());
        for (from_h, usd) in series {
            let before_h = segments.last().map_or(0.0, |last| {
                last.before_h + (from_h - last.from_h) * last.ratio
            });
            segments.push(Segment {
                from_h,
                ratio: usd / usd_per_hour,
                before_h,
            });
        }
        Ok(SpotSeries(segments))
    }
}

/// Spot price over base price, constant from each step to the next; the last step holds for ever.
#[derive(Debug, Clone, PartialEq)]
pub struct SpotSeries(Vec<Segment>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    from_h: f64,
    ratio: f64,
    /// ∫ ratio dt from 0 to `from_h`, in hours.
    before_h: f64,
}

impl SpotSeries {
    /// From the steps of a key, at hours that begin with 0 and rise.
    pub fn new(key: &'static str, steps: &[Step]) -> Result<Self, WrongPolicy> {
        let mut segments: Vec<Segment> = Vec::with_capacity(steps.len());
        for Step(from_h, ratio) in steps {
            let (from_h, ratio) = (from_h.get(), ratio.get());
            let before_h = match segments.last() {
                None if from_h > 0.0 => {
                    return Err(WrongPolicy::LateSteps(key, from_h));
                }
                None => 0.0,
                Some(last) if from_h <= last.from_h => {
                    let before_h = last.from_h;
                    return Err(WrongPolicy::FallingSteps {
                        key,
                        from_h,
                        before_h,
                    });
                }
                Some(last) => last.before_h + (from_h - last.from_h) * last.ratio,
            };
            segments.push(Segment {
                from_h,
                ratio,
                before_h,
            });
        }
        if segments.is_empty() {
            let steps = "steps like `[[0, 0.3], [6, 0.45]]`";
            return Err(WrongPolicy::Empty(key, steps));
        }
        Ok(SpotSeries(segments))
    }

    /// From ratios of ticks of `tick_h` hours, at least one.
    pub fn of_ticks(tick_h: f64, ratios: impl Iterator<Item = f64>) -> SpotSeries {
        let mut segments: Vec<Segment> = Vec::new();
        for (tick, ratio) in ratios.enumerate() {
            let from_h = tick as f64 * tick_h;
            let before_h = match segments.last() {
                Some(last) if last.ratio == ratio => continue,
                Some(last) => last.before_h + (from_h - last.from_h) * last.ratio,
                None => 0.0,
            };
            segments.push(Segment {
                from_h,
                ratio,
                before_h,
            });
        }
        SpotSeries(segments)
    }

    pub fn first(&self) -> f64 {
        self.0.first().map_or(1.0, |segment| segment.ratio)
    }

    /// Hours at the base price that cost as much as `hours` from `from_h` on.
    pub fn charged_h(&self, from_h: f64, hours: f64) -> f64 {
        self.until(from_h + hours) - self.until(from_h)
    }

    /// ∫ ratio dt from 0 to `hour`.
    fn until(&self, hour: f64) -> f64 {
        let behind = self.0.partition_point(|segment| segment.from_h <= hour);
        let segment = &self.0[behind.saturating_sub(1)];
        segment.before_h + (hour - segment.from_h) * segment.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use scavsim_read::input::checked::{NonNegative, Positive};

    fn series(steps: &[(f64, f64)]) -> Result<SpotSeries, WrongPolicy> {
        let step = |&(from, ratio): &(f64, f64)| {
            let from = NonNegative::new(from).expect("at least 0");
            Step(from, Positive::new(ratio).expect("above 0"))
        };
        SpotSeries::new(SPOT_SERIES, &steps.iter().map(step).collect::<Vec<_>>())
    }

    #[test]
    fn steps_begin_with_the_job_and_rise() {
        for (steps, expected) in [
            (&[][..], "is empty"),
            (&[(1.0, 0.3)], "begins at hour 1"),
            (&[(0.0, 0.3), (2.0, 0.4), (2.0, 0.5)], "hours must rise"),
        ] {
            let why = series(steps).expect_err("out of order").to_string();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn time_before_and_behind_a_step_is_charged_at_its_own_price() {
        let series = series(&[(0.0, 0.3), (6.0, 0.45), (8.0, 0.2)]).expect("it rises");
        for (from, hours, expected) in [
            (0.0, 6.0, 1.8),
            (5.0, 2.0, 0.75),
            (4.0, 6.0, 0.6 + 0.9 + 0.4),
            (100.0, 10.0, 2.0),
            (7.0, 0.0, 0.0),
        ] {
            crate::tests::near(series.charged_h(from, hours), expected, 1e-12);
        }
    }

    proptest! {
        /// Against the slow sum over small slices of time.
        #[test]
        fn the_charge_is_the_integral_of_the_steps(
            gaps in prop::collection::vec((1u32..20, 1u32..200), 1..8),
            from in 0u32..60, hours in 0u32..60,
        ) {
            let mut steps = Vec::new();
            let mut hour = 0;
            for (gap, ratio) in gaps {
                steps.push((f64::from(hour), f64::from(ratio) / 100.0));
                hour += gap;
            }
            let slow: f64 = (from..from + hours)
                .filter_map(|h| steps.iter().rev().find(|s| s.0 <= f64::from(h)))
                .map(|step| step.1)
                .sum();
            let fast = series(&steps).expect("it rises").charged_h(f64::from(from), f64::from(hours));
            prop_assert!((fast - slow).abs() < 1e-9, "{fast} {slow}");
        }
    }
}
