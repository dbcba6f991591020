use std::collections::BTreeMap;

use super::CompetitionUnit;
use super::curve::Curve;
use scavsim_base::stats::{RunningMedian, Welford};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_experiment::{Charge, Record, Status};
use scavsim_search::search::objective::ParetoFront;
use scavsim_search::search::{Objective, Point};

/// A choice within this share of the best counts as near.
const NEAR: f64 = 0.1;

/// Maximum number of separate failure reasons on a unit.
const MOST_REASONS: usize = 100;
/// The name for all other reasons.
const OTHER_REASONS: &str = "other reasons";
/// Failure reason of a case whose record has a result.
const BEYOND_A_LIMIT: &str = "search and run go beyond a limit";
const NO_RUN_ALONE: &str = "the choice by itself does not come to the target";
/// Why a case whose record has a result has no figure.
const WITHOUT_PRICE: &str = "the oracle's run has no price";

/// One strategy in a block.
#[derive(Clone)]
pub struct Entry {
    /// Name of the strategy, perhaps with a budget.
    pub strategy: String,
    pub units: Vec<Tally>,
    /// Over all cases of all units: search and R runs over R runs of the oracle, minus 1, crediting the progress of the
    /// search; or the charge of a case that fails.
    pub net: RunningMedian,
    pub curve: Curve,
}

/// Results of a strategy on one unit, over its replicas. A case that fails (no result, or above a limit) is charged its
/// spending and R runs of the worst configuration that completes.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub cases: u64,
    /// Number of failed cases, which are charged.
    pub failed: u64,
    /// Number of cases without a figure, because nothing meets the limits, or no run has a price.
    pub without: u64,
    /// Number of cases that failed, or had no figure, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Search and R runs over R runs of the oracle, minus 1; the progress of the search is credited.
    pub net: Welford,
    /// Search and R runs over R runs of the oracle, minus 1; the progress of the search is not credited.
    pub gross: Welford,
    /// Expected value of the choice relative to the oracle's, minus 1; that of the worst if a case fails.
    pub regret: Welford,
    /// |predicted − expected time| / expected time, mean over the configurations that were predicted.
    pub error: Welford,
    /// Total of the earlier runs that it used, relative to a run of the oracle; by cost for the knee.
    pub history: Welford,
    /// Number of choices with the oracle's value.
    pub exact: u64,
    /// Number of choices within a tenth of it.
    pub near: u64,
    /// Number of choices that never reached the target before one that did.
    pub failed_choices: Welford,
}

impl Entry {
    pub(crate) fn new(strategy: &str, units: usize) -> Entry {
        Entry {
            strategy: strategy.to_owned(),
            units: vec![Tally::default(); units],
            net: RunningMedian::new(),
            curve: Curve::default(),
        }
    }

    pub(crate) fn add(&mut self, unit: usize, record: &CaseMetrics) {
        let tally = &mut self.units[unit];
        tally.cases += 1;
        if let Some(history) = record.history {
            tally.history.add(history);
        }
        if let Some(reason) = &record.reason {
            tally.note(reason);
            tally.failed += u64::from(record.net.is_some());
        }
        let Some(net) = record.net else {
            tally.without += 1;
            return;
        };
        tally.net.add(net);
        self.net.add(net);
        if let Some(gross) = record.gross {
            tally.gross.add(gross);
        }
        if let Some(regret) = record.regret {
            tally.regret.add(regret);
            tally.near += u64::from(regret <= NEAR);
        }
        if let Some(error) = record.error {
            tally.error.add(error);
        }
        tally.exact += u64::from(record.is_exact);
        if let Some(failed) = record.failed_choices {
            tally.failed_choices.add(failed);
        }
    }

    /// Mean of a figure over units that have one, with equal weights.
    pub fn mean(&self, of: impl Fn(&Tally) -> Option<f64>) -> Option<f64> {
        scavsim_base::stats::mean(self.units.iter().filter_map(of))
    }

    /// Whether it works: the share of failures over all units is at most the allowed one.
    pub fn is_sound(&self, units: &[CompetitionUnit]) -> bool {
        let may_fail = units.iter().map(|unit| unit.may_fail);
        self.share(|tally| tally.failed + tally.without) <= may_fail.fold(0.0, f64::max)
    }

    /// A count as a share of all cases.
    pub fn share(&self, of: impl Fn(&Tally) -> u64) -> f64 {
        let all: u64 = self.units.iter().map(|unit| unit.cases).sum();
        let some: u64 = self.units.iter().map(of).sum();
        some as f64 / all.max(1) as f64
    }
}

/// Number of cases that failed, or had no figure, by reason, the most frequent first.
pub fn reasons<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<(&'e str, u64)> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    let units = entries.flat_map(|entry| &entry.units);
    for (reason, count) in units.flat_map(|unit| &unit.reasons) {
        *all.entry(reason).or_default() += count;
    }
    let mut all: Vec<(&str, u64)> = all.into_iter().collect();
    all.sort_by_key(|&(reason, count)| (std::cmp::Reverse(count), reason));
    all
}

impl Tally {
    /// Counts a reason; after the maximum, as one of the others.
    fn note(&mut self, reason: &str) {
        let is_told = self.reasons.len() < MOST_REASONS || self.reasons.contains_key(reason);
        let told = if is_told { reason } else { OTHER_REASONS };
        *self.reasons.entry(told.to_owned()).or_default() += 1;
    }

    pub fn failed_share(&self) -> f64 {
        self.failed as f64 / self.cases.max(1) as f64
    }

    pub fn net(&self) -> Option<f64> {
        (self.net.count() > 0).then(|| self.net.mean())
    }

    pub fn gross(&self) -> Option<f64> {
        (self.gross.count() > 0).then(|| self.gross.mean())
    }

    pub fn regret(&self) -> Option<f64> {
        (self.regret.count() > 0).then(|| self.regret.mean())
    }

    pub fn history(&self) -> Option<f64> {
        (self.history.count() > 0).then(|| self.history.mean())
    }

    pub fn error(&self) -> Option<f64> {
        (self.error.count() > 0).then(|| self.error.mean())
    }

    pub fn failed_choices(&self) -> Option<f64> {
        (self.failed_choices.count() > 0).then(|| self.failed_choices.mean())
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CaseMetrics {
    /// Search and R runs over R runs of the oracle, minus 1, crediting the progress of the search; or the charge if it failed.
    pub net: Option<f64>,
    pub gross: Option<f64>,
    pub regret: Option<f64>,
    pub error: Option<f64>,
    /// Whether the choice has the oracle's value.
    pub is_exact: bool,
    pub failed_choices: Option<f64>,
    /// Total of the earlier runs that were used, relative to a run of the oracle; by cost for the knee.
    pub history: Option<f64>,
    /// Why it failed, or has no figure.
    pub reason: Option<String>,
}

impl CaseMetrics {
    /// The result by an objective; `front` is the front of expectations. For the knee: how much farther from the ideal on
    /// `front` a run with its part of the search is than the oracle's.
    pub(super) fn from_record(
        record: &Record<'_>,
        objective: Objective,
        front: Option<&ParetoFront>,
    ) -> CaseMetrics {
        let beyond_knee = |time: f64, cost: f64| {
            let (hours, usd) = record.oracle_time_h.zip(record.oracle_cost_usd)?;
            let distance = |time: f64, cost: f64| {
                Some(front?.distance(&Point {
                    time_s: (1.0 + time) * hours * SECONDS_PER_HOUR,
                    cost_usd: (1.0 + cost) * usd,
                }))
            };
            Some(distance(time, cost)? - distance(0.0, 0.0)?)
        };
        let of = |time: Option<f64>, cost: Option<f64>| {
            let figure = match objective {
                Objective::Time => time,
                Objective::Cost => cost,
                Objective::Knee => beyond_knee(time?, cost?),
            };
            figure.filter(|figure| record.status == Status::Ok && figure.is_finite())
        };
        let regret = match objective {
            Objective::Knee => record.knee_depth.map(|depth| 1.0 - depth),
            _ => of(record.regret_time, record.regret_cost),
        };
        let over = |known: Option<f64>, one: Option<f64>| {
            let (known, one) = known.zip(one)?;
            Some(known / one).filter(|over| over.is_finite())
        };
        CaseMetrics {
            net: of(record.repeated_net_time, record.repeated_net_cost),
            gross: of(record.repeated_gross_time, record.repeated_gross_cost),
            regret,
            error: record.error_mean,
            is_exact: record.is_right(),
            failed_choices: record.failed_choices,
            history: match objective {
                Objective::Time => over(record.known_time_h, record.oracle_time_h),
                _ => over(record.known_cost_usd, record.oracle_cost_usd),
            },
            reason: None,
        }
    }

    /// Marks a failure, which has no figure of its own: it is charged, if there is a charge.
    pub(super) fn fail(&mut self, record: &Record<'_>, charge: Option<Charge>) {
        let breaks_a_limit = record.kept_net == Some(0.0);
        let reason = match (record.status, charge) {
            (Status::Failed, _) => &*record.reason,
            (Status::Ok, None) => WITHOUT_PRICE,
            (Status::Ok, Some(_)) if breaks_a_limit => BEYOND_A_LIMIT,
            (Status::Ok, Some(_)) => NO_RUN_ALONE,
        };
        *self = CaseMetrics {
            net: charge.map(|charge| charge.overhead),
            gross: charge.map(|charge| charge.overhead),
            regret: charge.map(|charge| charge.regret),
            error: self.error,
            is_exact: false,
            failed_choices: self.failed_choices,
            history: self.history,
            reason: Some(reason.to_owned()),
        };
    }
}
