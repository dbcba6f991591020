//! What a choice and its runs are worth: right or wrong, within the limits or not, repaid or not.

use super::record::Record;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_search::search::{Limits, Objective, Point, objective::ParetoFront};

/// Relative difference below which expected values are equal.
const SAME_VALUE: f64 = 1e-9;

#[derive(Debug, Clone, Copy)]
pub(super) struct TimeAndCost {
    pub(super) hours: f64,
    pub(super) usd: f64,
}

impl TimeAndCost {
    pub(super) fn from_point(point: Point) -> TimeAndCost {
        TimeAndCost {
            hours: point.time_s / SECONDS_PER_HOUR,
            usd: point.cost_usd,
        }
    }

    fn by(self, objective: Objective) -> f64 {
        match objective {
            Objective::Time => self.hours,
            Objective::Cost | Objective::Knee => self.usd,
        }
    }
}

/// Charge of a case without a working result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    /// (spent + R · worst) / (R · oracle) − 1, by the objective.
    pub overhead: f64,
    /// worst / oracle − 1 in expectation.
    pub regret: f64,
}

impl Charge {
    pub(super) fn new(
        objective: Objective,
        spent: TimeAndCost,
        worst: Point,
        best: Point,
        runs: f64,
        oracle: TimeAndCost,
    ) -> Option<Charge> {
        let of = |point| TimeAndCost::from_point(point).by(objective);
        let all = spent.by(objective) + runs * of(worst);
        let charge = Charge {
            overhead: beyond_one(all, runs * oracle.by(objective))?,
            regret: beyond_one(of(worst), of(best))?,
        };
        (charge.overhead.is_finite() && charge.regret.is_finite()).then_some(charge)
    }
}

pub(super) fn worst(objective: Objective, points: impl Iterator<Item = Point>) -> Option<Point> {
    let of = |point: &Point| TimeAndCost::from_point(*point).by(objective);
    (points.filter(|point| of(point).is_finite())).max_by(|a, b| of(a).total_cmp(&of(b)))
}

/// Whether a choice is expected to be worth at least the oracle's, within rounding; by depth for the knee; never where it is not
/// allowed. It may be worth more where expectations are means: the oracle chooses on one set of replicas, and all are valued on
/// another.
pub(super) fn is_worth(
    objective: Objective,
    is_allowed: bool,
    front: Option<&ParetoFront>,
    chosen: Point,
    best: Point,
) -> bool {
    let no_more = |a: f64, b: f64| a - b <= SAME_VALUE * b.abs();
    is_allowed
        && match objective {
            Objective::Time => no_more(chosen.time_s, best.time_s),
            Objective::Cost => no_more(chosen.cost_usd, best.cost_usd),
            Objective::Knee => {
                let depth = |point| front.and_then(|front| front.knee_depth(point));
                (depth(&chosen).zip(depth(&best))).is_some_and(|(own, best)| no_more(best, own))
            }
        }
}

/// Ratio to one run of the oracle; `None` where that is 0, as without a price.
pub(super) fn over_one(figure: f64, one: f64) -> Option<f64> {
    (one > 0.0).then(|| figure / one)
}

/// Ratio to one run of the oracle, less one.
pub fn beyond_one(figure: f64, one: f64) -> Option<f64> {
    over_one(figure, one).map(|ratio| ratio - 1.0)
}

/// A job that is run R times.
pub(super) struct RepeatedJob {
    pub(super) runs: u64,
    pub(super) completed: u64,
    pub(super) oracle: TimeAndCost,
    /// With choices that failed.
    pub(super) search: TimeAndCost,
    /// Search and first run, where the search earns nothing.
    pub(super) gross: TimeAndCost,
    /// Search and first run, where steps of the search count as training.
    pub(super) net: TimeAndCost,
    /// A run of the choice without search; `None` where it does not end.
    pub(super) alone: Option<TimeAndCost>,
}

impl RepeatedJob {
    /// Notes R runs and the search over R runs of the oracle, minus 1:
    ///
    /// - gross: (search and first run + (R − 1) · run) / (R · oracle) − 1;
    /// - net, of a search that ran c of the R to the target: (search + max(R − c, 0) · run) / (R · oracle) − 1; of one that
    ///   ran none, its steps count in the first run.
    pub(super) fn note(&self, record: &mut Record<'_>, gross_is_kept: bool, net_is_kept: bool) {
        let runs = self.runs as f64;
        record.repeats = u32::try_from(self.runs).ok();
        record.runs_in_search = Some(self.completed as f64);
        let Some(alone) = self.alone else { return };
        let over = |part: TimeAndCost, more: f64| {
            [
                beyond_one(part.hours + more * alone.hours, runs * self.oracle.hours),
                beyond_one(part.usd + more * alone.usd, runs * self.oracle.usd),
            ]
        };
        if gross_is_kept {
            [record.repeated_gross_time, record.repeated_gross_cost] = over(self.gross, runs - 1.0);
        }
        if net_is_kept {
            [record.repeated_net_time, record.repeated_net_cost] = match self.completed {
                0 => over(self.net, runs - 1.0),
                completed => over(self.search, (runs - completed as f64).max(0.0)),
            };
        }
    }
}

pub(super) struct LimitCompliance {
    pub(super) choice: bool,
    pub(super) gross: bool,
    pub(super) net: bool,
}

/// Notes what kept within the limits and the excess of the rest.
pub(super) fn keep(
    record: &mut Record<'_>,
    limits: &Limits,
    alone: Option<TimeAndCost>,
    gross: TimeAndCost,
    net: TimeAndCost,
) -> LimitCompliance {
    if !limits.are_any() {
        return LimitCompliance {
            choice: true,
            gross: true,
            net: true,
        };
    }
    let beyond = |value: TimeAndCost| {
        limits.excess(&Point {
            time_s: value.hours * SECONDS_PER_HOUR,
            cost_usd: value.usd,
        })
    };
    let excess = [alone, Some(gross), Some(net)].map(|value| value.map(beyond));
    // What does not come to its end keeps no limit, and nobody knows by how much.
    let kept = excess.map(|excess| excess.is_some_and(|beyond| beyond <= 0.0));
    let share = kept.map(|kept| Some(f64::from(kept)));
    [record.kept_choice, record.kept_gross, record.kept_net] = share;
    let excess = excess.map(|excess| excess.filter(|beyond| *beyond > 0.0));
    [record.excess_choice, record.excess_gross, record.excess_net] = excess;
    let [choice, gross, net] = kept;
    LimitCompliance { choice, gross, net }
}

/// Notes what the choice saves per job against the default, and after how many jobs that repays the search, in hours for the
/// objective `time`, else in USD. `spent`: whether there was anything to repay.
pub(super) fn repay(
    record: &mut Record<'_>,
    objective: Objective,
    search: TimeAndCost,
    spent: bool,
    chosen: Point,
    default: Point,
) {
    let saved = TimeAndCost {
        hours: (default.time_s - chosen.time_s) / SECONDS_PER_HOUR,
        usd: default.cost_usd - chosen.cost_usd,
    };
    // A default that never reaches the target is beyond all comparison.
    let finite = |figure: f64| figure.is_finite().then_some(figure);
    record.saved_time_h = finite(saved.hours);
    record.saved_cost_usd = finite(saved.usd);
    let (cost, gain) = match objective {
        Objective::Time => (search.hours, saved.hours),
        Objective::Cost | Objective::Knee => (search.usd, saved.usd),
    };
    record.break_even_jobs = (gain > 0.0).then(|| cost / gain);
    if spent {
        record.never_repaid = Some(f64::from(gain <= 0.0));
    }
}
