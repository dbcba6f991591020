//! Moments of figures, counts of shares, what was spent and saved in a group of records; its size does not grow with them.

use std::sync::LazyLock;

use super::interval_coverage::IntervalCoverage;
use super::metric_moments::{Figure, MetricMoments};
use super::metrics::{KeptMetrics, METRICS, ORACLE, PLACES_OF_SHARES, SHARES};
use super::record::{Record, Status};
use super::rivals::{Drift, Rivals};
use super::stored::{Reader, Writer};
use super::units::{self, Answers, Partners, Place, Units, read_moments, write_moments};
use scavsim_base::stats::{Interval, Pair, Ratio, Share};
use scavsim_search::search::Objective;

/// How each metric depends on the choice, if it does.
static GOES_WITH_CHOICE: LazyLock<Vec<Option<MetricDependence>>> = LazyLock::new(|| {
    METRICS
        .iter()
        .map(|metric| metric_dependence(metric.name))
        .collect()
});

/// How a metric depends on the expected outcome of a choice.
#[derive(Debug, Clone, Copy, PartialEq)]
enum MetricDependence {
    Hours,
    HoursOverOracle,
    Usd,
    UsdOverOracle,
    AgainstHours,
    AgainstUsd,
    Depth,
    Beginning,
    /// Unknown for a choice that no case made.
    Unforeseen,
}

fn metric_dependence(metric: &str) -> Option<MetricDependence> {
    Some(match metric {
        "time_h" => MetricDependence::Hours,
        "cost_usd" | "bill_useful_usd" => MetricDependence::Usd,
        "regret_time" | "overhead_gross_time" | "overhead_net_time" => {
            MetricDependence::HoursOverOracle
        }
        "regret_cost" | "overhead_gross_cost" | "overhead_net_cost" => {
            MetricDependence::UsdOverOracle
        }
        "saved_time_h" => MetricDependence::AgainstHours,
        "saved_cost_usd" => MetricDependence::AgainstUsd,
        "knee_depth" => MetricDependence::Depth,
        // Of further runs of the job as much as of the first, at most.
        "repeated_gross_time" | "repeated_net_time" => MetricDependence::HoursOverOracle,
        "repeated_gross_cost" | "repeated_net_cost" => MetricDependence::UsdOverOracle,
        "search_time_h" | "search_cost_usd" => MetricDependence::Beginning,
        "search_share_time" | "search_share_cost" => MetricDependence::Beginning,
        "bill_waiting_usd" | "bill_restore_usd" | "bill_lost_usd" | "lost_vms" => {
            MetricDependence::Unforeseen
        }
        "staleness" | "dropped_gradients" | "wasted_compute" => MetricDependence::Unforeseen,
        "excess_choice" | "excess_gross" | "excess_net" => MetricDependence::Unforeseen,
        _ => return None,
    })
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    pub mean: f64,
    /// 95 % confidence interval, from pair means where replicas share their luck; `None` with a single unit, and where cases differ
    /// by more than luck.
    pub interval: Option<Interval>,
    pub holds: IntervalCoverage,
    pub skewness: f64,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GroupSummary {
    pub(super) kept: &'static KeptMetrics,
    pub cases: u64,
    pub failed: u64,
    /// Independent cases that overlapping ones count as.
    pub independent: Option<f64>,
    /// One per entry of [`METRICS`]; `None` where no case has the figure or it is not kept.
    pub means: Vec<Option<Mean>>,
    pub shares: Vec<Share>,
    /// `None` where cases differ by more than luck.
    pub share_intervals: Vec<Option<Interval>>,
    pub share_holds: Vec<IntervalCoverage>,
    /// Repetitions after which the cost of the search and of earlier runs is saved against the default configuration: mean over mean.
    /// `None` where nothing was spent or nothing is saved.
    pub repaid: Option<Ratio>,
    pub repaid_holds: IntervalCoverage,
}

impl GroupSummary {
    pub fn mean(&self, metric: &str) -> Option<&Mean> {
        let index = METRICS.iter().position(|m| m.name == metric)?;
        debug_assert!(self.kept.mean(index).is_some(), "{metric} is not kept");
        self.means[index].as_ref()
    }

    /// A share by column name; `None` where no case has the figure.
    pub fn share(&self, column: &str) -> Option<Share> {
        let index = SHARES.iter().position(|c| c.name == column)?;
        Some(self.shares[index]).filter(|share| share.count > 0)
    }

    /// Share of all cases in which the choice is worth the oracle's.
    pub fn right(&self) -> f64 {
        let right = self.share("right");
        right.and_then(|right| right.share()).unwrap_or(0.0)
    }

    /// The interval of a share by column name, with its coverage.
    pub fn share_interval(&self, column: &str) -> Option<(Interval, IntervalCoverage)> {
        let index = SHARES.iter().position(|c| c.name == column)?;
        Some((self.share_intervals[index]?, self.share_holds[index]))
    }
}

/// What sums of parts of cases may be off, relative to them.
const ROUNDING: f64 = 1e-12;

/// A group of records as they pass by.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    kept: &'static KeptMetrics,
    cases: u64,
    failed: u64,
    /// Independent cases that overlapping ones count as.
    independent: Option<f64>,
    partners: Partners,
    row: Vec<f64>,
    figures: MetricMoments,
    shares: Box<[Answers]>,
    rivals: Rivals,
    repaid: BreakEvenTally,
}

/// Spent, and saved per job, in the unit of the objective.
#[derive(Debug, Clone, Default)]
struct BreakEvenTally {
    pair: Pair,
    units: Units<Pair>,
    /// Whether in hours; all cases must agree.
    in_hours: Option<bool>,
    /// Whether a case has another unit or lacks a figure.
    spoilt: bool,
}

impl Tally {
    pub(super) fn new(kept: &'static KeptMetrics) -> Tally {
        Tally {
            kept,
            cases: 0,
            failed: 0,
            independent: None,
            partners: Partners::default(),
            row: Vec::with_capacity(kept.len()),
            figures: MetricMoments::new(kept.len()),
            shares: vec![Answers::default(); SHARES.len()].into(),
            rivals: Rivals::default(),
            repaid: BreakEvenTally::default(),
        }
    }

    /// Adds a record, and to `rows` its figures with a median, NaN where missing.
    pub(super) fn push_record(
        &mut self,
        record: &Record<'_>,
        are_paired: bool,
        rows: Option<&mut Vec<f64>>,
    ) {
        self.cases += 1;
        self.failed += u64::from(record.status == Status::Failed);
        if let Some(part) = record.independence {
            *self.independent.get_or_insert(0.0) += part;
        }
        let place_of_luck = self.partners.meet(record.replica, are_paired);
        let cells = record.figures();
        let kept = self.kept;
        self.row.clear();
        self.row
            .extend(kept.columns.iter().map(|place| cells[*place]));
        self.figures.add_case(&self.row, place_of_luck);
        if let Some(rows) = rows {
            rows.extend(kept.medians.iter().map(|at| self.row[*at]));
        }
        for (share, place) in self.shares.iter_mut().zip(&*PLACES_OF_SHARES) {
            let answer = Some(cells[*place]).filter(|value| !value.is_nan());
            share.push_answer(answer.map(|value| value > 0.5), place_of_luck);
        }
        if record.status == Status::Ok {
            self.rivals
                .add_record(record, place_of_luck == Place::Second);
        }
        self.repaid.push_record(record, place_of_luck);
    }

    /// Adds the records of another, which follow, but for figures ([`Tally::figure`]).
    pub(super) fn merge_counts(&mut self, other: &Tally) {
        self.cases += other.cases;
        self.failed += other.failed;
        if let Some(part) = other.independent {
            *self.independent.get_or_insert(0.0) += part;
        }
        for (own, other) in self.shares.iter_mut().zip(&other.shares) {
            own.merge(other);
        }
        self.rivals.merge(&other.rivals);
        self.repaid.merge(&other.repaid);
    }

    pub(super) fn is_of_overlapping(&self) -> bool {
        self.independent.is_some()
    }

    pub(super) fn kept(&self) -> &'static KeptMetrics {
        self.kept
    }

    /// A figure, by its place among those kept.
    pub(super) fn figure(&self, at: usize) -> Figure {
        self.figures.get(at)
    }

    pub(super) fn set_figure(&mut self, at: usize, figure: &Figure) {
        self.figures.set(at, figure);
    }

    pub(super) fn write(&self, to: &mut Writer) {
        to.count(self.cases);
        to.count(self.failed);
        to.maybe(self.independent, |to, part| to.numbers(&[part]));
        (0..self.kept.len()).for_each(|at| self.figure(at).write(to));
        self.shares.iter().for_each(|share| share.write(to));
        self.rivals.write(to);
        let BreakEvenTally {
            pair,
            units,
            in_hours,
            spoilt,
        } = &self.repaid;
        for pair in [pair, &units.all()] {
            pair.each
                .iter()
                .for_each(|values| write_moments(values, to));
            to.numbers(&[pair.products()]);
        }
        to.maybe(*in_hours, |to, in_hours| to.count(u64::from(in_hours)));
        to.count(u64::from(*spoilt));
    }

    /// Inverse of [`Tally::write`], with all metrics; `None` for other bytes.
    pub(super) fn read(from: &mut Reader<'_>) -> Option<Tally> {
        let (cases, failed) = (from.count()?, from.count()?);
        let independent = from.maybe(|from| Some(from.numbers::<1>()?[0]))?;
        let kept = KeptMetrics::all();
        let mut figures = MetricMoments::new(kept.len());
        for at in 0..kept.len() {
            figures.set(at, &Figure::read(from)?);
        }
        let shares = SHARES.iter().map(|_| Answers::read(from));
        let shares = shares.collect::<Option<_>>()?;
        let rivals = Rivals::read(from)?;
        let mut pair = || {
            let each = [read_moments(from)?, read_moments(from)?];
            let [products] = from.numbers()?;
            Some(Pair::of_sums(each, products))
        };
        let (pair, units) = (pair()?, Units::from_done(pair()?));
        Some(Tally {
            kept,
            cases,
            failed,
            independent,
            // Nothing is taken in any more.
            partners: Partners::default(),
            row: Vec::new(),
            figures,
            shares,
            rivals,
            repaid: BreakEvenTally {
                pair,
                units,
                in_hours: from.maybe(Reader::count)?.map(|one| one == 1),
                spoilt: from.count()? == 1,
            },
        })
    }

    /// Independent cases that `count` of these count as, where they overlap.
    fn independent_of(&self, count: u64) -> Option<f64> {
        let independent = self.independent? * count as f64 / self.cases.max(1) as f64;
        // A sum of equal parts may be a hair less than their number.
        Some((independent * (1.0 + ROUNDING)).min(count as f64))
    }

    /// The summary; with intervals where all cases are replicas of `one_case`.
    pub(super) fn tallied(&self, one_case: bool) -> GroupSummary {
        let drift = self.rivals.drift();
        let others_may_come = drift != Drift::default();
        let oracle = ORACLE.map(|name: &str| {
            let metric = METRICS.iter().position(|metric| metric.name == name);
            let at = metric.and_then(|metric| self.kept.mean(metric));
            at.map_or(0.0, |at| self.figure(at).values().mean())
        });
        let mean = |(metric, goes): (usize, &Option<MetricDependence>)| {
            let figure = self.figure(self.kept.mean(metric)?);
            let values = figure.values();
            let plain = match self.independent_of(values.count()) {
                None => figure.interval(),
                Some(count) => values.interval_as_of(count),
            };
            let plain = plain.filter(|_| one_case);
            let with_others = |goes: MetricDependence| match goes {
                MetricDependence::Beginning => figure.interval_with_others(None),
                _ => figure.interval_with_others(Some(reach(&drift, goes, oracle)?)),
            };
            let interval = match goes {
                Some(goes) if others_may_come => plain.and_then(|_| with_others(*goes)),
                _ => plain,
            };
            (values.count() > 0).then(|| Mean {
                mean: values.mean(),
                interval,
                holds: IntervalCoverage::of_mean(
                    plain.zip(interval),
                    figure.units(),
                    values.skewness(),
                ),
                skewness: values.skewness(),
                count: values.count(),
            })
        };
        GroupSummary {
            kept: self.kept,
            cases: self.cases,
            failed: self.failed,
            independent: self.independent,
            means: (GOES_WITH_CHOICE.iter().enumerate()).map(mean).collect(),
            shares: self.shares.iter().map(Answers::share).collect(),
            share_intervals: (self.shares.iter())
                .map(|share| share.interval(self.independent_of(share.share().count)))
                .map(|interval| interval.filter(|_| one_case))
                .collect(),
            share_holds: self.shares.iter().map(Answers::coverage).collect(),
            repaid: self.repaid.ratio(&drift, one_case),
            repaid_holds: IntervalCoverage::of_ratio(self.cases),
        }
    }
}

/// How far a metric's mean may move down and up by choices that no case made; `None` where unknown.
fn reach(drift: &Drift, goes: MetricDependence, oracle: [f64; 2]) -> Option<(f64, f64)> {
    let over = |(down, up): (f64, f64), whole: f64| {
        if whole > 0.0 {
            (down / whole, up / whole)
        } else {
            (0.0, 0.0)
        }
    };
    let against = |(down, up): (f64, f64)| (up, down);
    Some(match goes {
        MetricDependence::Hours => drift.hours,
        MetricDependence::HoursOverOracle => over(drift.hours, oracle[0]),
        MetricDependence::Usd => drift.usd,
        MetricDependence::UsdOverOracle => over(drift.usd, oracle[1]),
        MetricDependence::AgainstHours => against(drift.hours),
        MetricDependence::AgainstUsd => against(drift.usd),
        MetricDependence::Depth => drift.depth,
        MetricDependence::Beginning | MetricDependence::Unforeseen => return None,
    })
}

impl BreakEvenTally {
    fn merge(&mut self, other: &BreakEvenTally) {
        if let Some(in_hours) = other.in_hours {
            self.spoilt |= *self.in_hours.get_or_insert(in_hours) != in_hours;
        }
        self.spoilt |= other.spoilt;
        self.pair.merge(&other.pair);
        self.units.merge(&other.units);
    }

    fn push_record(&mut self, record: &Record<'_>, place: Place) {
        let figures = self.figures(record);
        if let Some(figures) = figures {
            self.pair.add(figures);
        }
        self.units.push_value(figures, place);
    }

    fn figures(&mut self, record: &Record<'_>) -> Option<[f64; 2]> {
        if record.status != Status::Ok {
            return None;
        }
        let in_hours = record.objective == Objective::Time.name();
        let (search, known, saved) = if in_hours {
            (
                record.search_time_h,
                record.known_time_h,
                record.saved_time_h,
            )
        } else {
            (
                record.search_cost_usd,
                record.known_cost_usd,
                record.saved_cost_usd,
            )
        };
        // Who knows no earlier run has spent nothing on any.
        let known = match record.known_runs {
            Some(runs) if runs > 0.0 => known,
            _ => Some(0.0),
        };
        self.spoilt |= *self.in_hours.get_or_insert(in_hours) != in_hours;
        let figures = match (search, known, saved) {
            (Some(search), Some(known), Some(saved)) => Some([search + known, saved]),
            _ => None,
        };
        self.spoilt |= figures.is_none();
        figures
    }

    fn ratio(&self, drift: &Drift, one_case: bool) -> Option<Ratio> {
        let [spent, saved] = &self.pair.each;
        if self.spoilt || spent.mean() <= 0.0 {
            return None;
        }
        let in_hours = self.in_hours.unwrap_or(false);
        let goes = if in_hours {
            MetricDependence::AgainstHours
        } else {
            MetricDependence::AgainstUsd
        };
        let (down, up) = reach(drift, goes, [0.0; 2])?;
        let units = match self.units.all() {
            none if none.each[0].count() == 0 => self.pair,
            units => units,
        };
        let [a, b] = &units.each;
        let intervals = if *drift == Drift::default() {
            units::interval(spent, a).zip(units::interval(saved, b))
        } else {
            units::with_others(spent, a, None).zip(units::with_others(saved, b, Some((down, up))))
        };
        let intervals = intervals.filter(|_| one_case);
        let intervals = intervals.map(|(a, b)| [a, b]);
        Ratio::from_means([spent.mean(), saved.mean()], intervals, units.correlation())
    }
}
