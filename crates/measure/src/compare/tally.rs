//! What a strategy came to.

use super::curve::Curve;
use scavsim_base::stats::{RunningMedian, Welford};
use scavsim_lab::experiment::{Record, Status};
use scavsim_search::search::Objective;

/// A choice within this share of the best is near.
const NEAR: f64 = 0.1;

/// One strategy in a block.
#[derive(Clone)]
pub struct Entry {
    /// Name of the strategy, perhaps with a budget.
    pub strategy: String,
    /// Per unit.
    pub units: Vec<Tally>,
    /// Over all cases of all units: search and R runs over R runs of the oracle, minus 1, what the search did counting.
    pub net: RunningMedian,
    /// Regret over what was spent.
    pub curve: Curve,
}

/// What a strategy came to on one unit, over its replicas.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Cases.
    pub cases: u64,
    /// Cases without a figure: they failed, or broke a limit.
    pub without: u64,
    /// Search and R runs over R runs of the oracle, minus 1; what the search did counts.
    pub net: Welford,
    /// Search and R runs over R runs of the oracle, minus 1; what the search did counts nothing.
    pub gross: Welford,
    /// Expected value of the choice over the oracle's, minus 1.
    pub regret: Welford,
    /// |predicted − expected time| / expected time, mean over the configurations that were predicted.
    pub error: Welford,
    /// Choices worth what the oracle's are.
    pub exact: u64,
    /// Choices within a tenth of it.
    pub near: u64,
    /// Choices that never reached the target before one that did.
    pub failed_choices: Welford,
}

impl Entry {
    /// Nothing yet.
    pub(super) fn new(strategy: &str, units: usize) -> Entry {
        Entry {
            strategy: strategy.to_owned(),
            units: vec![Tally::default(); units],
            net: RunningMedian::new(),
            curve: Curve::default(),
        }
    }

    /// Takes in a case on a unit.
    pub(super) fn add(&mut self, unit: usize, record: &SeenRecord) {
        let tally = &mut self.units[unit];
        tally.cases += 1;
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

    /// Mean of a figure of units that have one, each unit counting alike.
    pub fn mean(&self, of: impl Fn(&Tally) -> Option<f64>) -> Option<f64> {
        scavsim_base::stats::mean(self.units.iter().filter_map(of))
    }

    /// The share of all cases that a count comes to.
    pub fn share(&self, of: impl Fn(&Tally) -> u64) -> f64 {
        let all: u64 = self.units.iter().map(|unit| unit.cases).sum();
        let some: u64 = self.units.iter().map(of).sum();
        some as f64 / all.max(1) as f64
    }
}

impl Tally {
    /// Mean net overhead, where a case has one.
    pub fn net(&self) -> Option<f64> {
        (self.net.count() > 0).then(|| self.net.mean())
    }

    /// Mean gross overhead.
    pub fn gross(&self) -> Option<f64> {
        (self.gross.count() > 0).then(|| self.gross.mean())
    }

    /// Mean regret.
    pub fn regret(&self) -> Option<f64> {
        (self.regret.count() > 0).then(|| self.regret.mean())
    }

    /// Mean error of predictions.
    pub fn error(&self) -> Option<f64> {
        (self.error.count() > 0).then(|| self.error.mean())
    }

    /// Mean number of choices that failed.
    pub fn failed_choices(&self) -> Option<f64> {
        (self.failed_choices.count() > 0).then(|| self.failed_choices.mean())
    }
}

/// What a comparison takes from a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeenRecord {
    pub(super) net: Option<f64>,
    pub(super) gross: Option<f64>,
    pub(super) regret: Option<f64>,
    pub(super) error: Option<f64>,
    pub(super) is_exact: bool,
    pub(super) failed_choices: Option<f64>,
}

impl SeenRecord {
    /// By an objective; the knee has no overhead of its own.
    pub(super) fn of(record: &Record<'_>, objective: Objective) -> SeenRecord {
        let by_time = objective == Objective::Time;
        let of = |time: Option<f64>, cost: Option<f64>| {
            let is_there = record.status == Status::Ok;
            (if by_time { time } else { cost }).filter(|_| is_there)
        };
        SeenRecord {
            net: of(record.repeated_net_time, record.repeated_net_cost),
            gross: of(record.repeated_gross_time, record.repeated_gross_cost),
            regret: of(record.regret_time, record.regret_cost),
            error: record.error_mean,
            is_exact: record.is_right(),
            failed_choices: record.failed_choices,
        }
    }
}
