//! Decides which configuration to rent, and which measurement is worth its price. ln(time) of a configuration is its
//! prediction plus an error that configurations share in part (`uncertainty.rs`); a bill is proportional to the time. A
//! measurement of one also changes the others; its worth is the knowledge gradient: the expected improvement of the best
//! (Frazier, Powell & Dayanik 2009), here over strata of the normal distribution.

use super::uncertainty::Covariances;
use scavsim_base::stats::normal;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::configuration::Configuration;
use scavsim_search::search::{Limits, Objective, Point};

/// Strata over which the outcome of a measurement is averaged.
const STRATA: usize = 64;
/// Relative tolerance of a bound for rounding.
const ROUNDING: f64 = 1e-9;
/// Limits are surely met up to this probability of a miss.
pub(super) const SURELY: f64 = 0.05;
/// Limits are not met above this probability of a miss.
const LIKELY: f64 = 0.5;
/// A run that misses a limit is made again; a share of misses above this counts as this.
const MOST_MISS: f64 = 0.99;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    pub objective: Objective,
    /// Limits on runs: a share of them, by default 0.05, may exceed them.
    pub limits: Limits,
    /// Maximum mean seconds of runs.
    pub max_mean_time_s: Option<f64>,
}

impl Goal {
    /// Whether there is a limit, on runs or on their mean.
    pub fn is_limited(&self) -> bool {
        self.limits.are_any() || self.max_mean_time_s.is_some()
    }

    /// Whether a mean time is within its limit.
    pub fn allows_mean(&self, time_s: f64) -> bool {
        self.max_mean_time_s.is_none_or(|most| time_s <= most)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Prospect {
    pub configuration: Configuration,
    /// Mean time and cost of runs, if the prediction is right.
    pub expected: Point,
    /// Standard deviations of ln(time) and ln(cost) of a single run around that.
    pub run_sd: [f64; 2],
    pub usd_per_hour: f64,
    pub step_s: f64,
}

#[derive(Debug, Clone)]
pub struct Decision<'a> {
    prospects: &'a [Prospect],
    covariances: Covariances,
    goal: Goal,
    /// USD per hour of time: 0 for the cost, the slope between both ends of the front for the knee.
    usd_per_hour: f64,
    /// Maximum allowed probability of missing a limit.
    most_miss: f64,
    /// The prospect with the least expected loss.
    incumbent: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measurement {
    /// The step of a prospect.
    Step(usize),
    /// The epochs of a prospect's batch, by a run to the target on it.
    Epochs(usize),
}

/// The expected gain of a measurement, in the unit of the objective, and its price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasurementValue {
    pub measurement: Measurement,
    /// Expected improvement of the choice: in hours for the time, otherwise in USD.
    pub value: f64,
    /// Time and cost of the measurement itself.
    pub price: Point,
    /// Value for all runs of the job, less the price.
    pub net: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuringEffort {
    /// Seconds until the VMs train.
    pub setup_s: f64,
    /// Whether the predictions of runs include these seconds.
    pub is_expected: bool,
    /// Number of steps that are timed, and of the steps before.
    pub steps: f64,
    /// Number of runs of the job.
    pub times: f64,
    /// Variances of one measurement of ln(step) and of ln(epochs).
    pub noise: [f64; 2],
}

impl<'a> Decision<'a> {
    /// A decision between `prospects`, whose errors have these covariances.
    pub fn new(prospects: &'a [Prospect], covariances: Covariances, goal: Goal) -> Decision<'a> {
        let mut decision = Decision {
            prospects,
            covariances,
            goal,
            usd_per_hour: 0.0,
            incumbent: 0,
            most_miss: goal.limits.max_miss.unwrap_or(SURELY),
        };
        if goal.limits.max_miss.is_none() {
            // The prospects that surely meet the limits; if there is none, the ones that most likely do.
            let all = (0..prospects.len()).map(|at| decision.miss(at));
            let least = all.fold(f64::INFINITY, f64::min);
            if (SURELY..LIKELY).contains(&least) {
                decision.most_miss = least;
            }
        }
        decision.usd_per_hour = decision.slope();
        let loss = |at: &usize| decision.loss(*at, 0.0, decision.covariances.covariance(*at, *at));
        let best = (0..prospects.len()).min_by(|a, b| loss(a).total_cmp(&loss(b)));
        decision.incumbent = best.unwrap_or_default();
        decision
    }

    /// USD per hour between the fastest and the cheapest allowed prospects.
    fn slope(&self) -> f64 {
        let allowed = || (0..self.prospects.len()).filter(|at| self.is_allowed(*at));
        let mean = |at: usize| self.mean(at);
        let fastest = allowed()
            .map(mean)
            .min_by(|a, b| (a.time_s.total_cmp(&b.time_s)).then(a.cost_usd.total_cmp(&b.cost_usd)));
        let cheapest = allowed()
            .map(mean)
            .min_by(|a, b| (a.cost_usd.total_cmp(&b.cost_usd)).then(a.time_s.total_cmp(&b.time_s)));
        match fastest.zip(cheapest) {
            Some((first, last)) if last.time_s > first.time_s => {
                let hours = (last.time_s - first.time_s) / SECONDS_PER_HOUR;
                (first.cost_usd - last.cost_usd) / hours
            }
            _ => 0.0,
        }
    }

    /// Time and cost of a prospect, averaged over its errors.
    pub fn mean(&self, at: usize) -> Point {
        let factor = libm::exp(0.5 * self.covariances.covariance(at, at));
        let Point { time_s, cost_usd } = self.prospects[at].expected;
        Point {
            time_s: time_s * factor,
            cost_usd: cost_usd * factor,
        }
    }

    /// The 90 % intervals of time and cost of a run of a prospect, over runs and errors of the prediction.
    pub fn intervals(&self, at: usize) -> [[f64; 2]; 2] {
        let prospect = &self.prospects[at];
        let law = self.covariances.covariance(at, at);
        let interval = |mean: f64, run: f64| {
            let factor = libm::exp(normal::AT_95 * (law + run * run).sqrt());
            let median = mean * libm::exp(-0.5 * run * run);
            [median / factor, median * factor]
        };
        let Point { time_s, cost_usd } = prospect.expected;
        [
            interval(time_s, prospect.run_sd[0]),
            interval(cost_usd, prospect.run_sd[1]),
        ]
    }

    /// The value of a point by the objective; less is better.
    pub fn value(&self, point: &Point) -> f64 {
        let hours = point.time_s / SECONDS_PER_HOUR;
        match self.goal.objective {
            Objective::Time => hours,
            Objective::Cost => point.cost_usd,
            Objective::Knee => point.cost_usd + self.usd_per_hour * hours,
        }
    }

    /// Probability that a run misses a limit, if the prediction has an error of mean `shift` and variance `variance`.
    fn miss_at(&self, at: usize, shift: f64, variance: f64) -> f64 {
        let prospect = &self.prospects[at];
        let beyond = |mean: f64, run: f64, most: Option<f64>| {
            let Some(most) = most else { return 0.0 };
            let middle = libm::log(mean) - 0.5 * run * run + shift;
            let sd = (variance.max(0.0) + run * run).sqrt();
            let over = middle - libm::log(most);
            if sd > 1e-12 {
                normal::cdf(over / sd)
            } else {
                f64::from(u8::from(over > 0.0))
            }
        };
        let Limits {
            max_time_s,
            max_cost_usd,
            ..
        } = self.goal.limits;
        let Point { time_s, cost_usd } = prospect.expected;
        // Both have equal errors: a run that misses the less likely limit also misses the other one.
        beyond(time_s, prospect.run_sd[0], max_time_s).max(beyond(
            cost_usd,
            prospect.run_sd[1],
            max_cost_usd,
        ))
    }

    pub fn miss(&self, at: usize) -> f64 {
        self.miss_at(at, 0.0, self.covariances.covariance(at, at))
    }

    /// Whether a prospect meets the limits often enough.
    pub fn is_allowed(&self, at: usize) -> bool {
        self.miss(at) <= self.most_miss && self.goal.allows_mean(self.mean(at).time_s)
    }

    pub fn ranked(&self) -> Vec<usize> {
        let mut all: Vec<(usize, f64)> = (0..self.prospects.len())
            .filter(|at| self.is_allowed(*at))
            .map(|at| (at, self.value(&self.mean(at))))
            .filter(|(_, value)| value.is_finite())
            .collect();
        let time_s = |at: usize| self.mean(at).time_s;
        all.sort_by(|a, b| (a.1.total_cmp(&b.1)).then(time_s(a.0).total_cmp(&time_s(b.0))));
        all.into_iter().map(|(at, _)| at).collect()
    }

    /// Probability that prospect `b` is better than `a` in the mean of its runs.
    pub fn chance_better(&self, b: usize, a: usize) -> f64 {
        let values = |of: &dyn Fn(&Point) -> f64| [a, b].map(|at| of(&self.prospects[at].expected));
        let [mine, theirs] = match values(&|point| self.value(point)) {
            // If both are free, the faster one is better.
            [0.0, 0.0] => values(&|point| point.time_s),
            values => values,
        };
        let of = |a, b| self.covariances.covariance(a, b);
        let variance = of(a, a) + of(b, b) - 2.0 * of(a, b);
        let gap = libm::log(mine / theirs);
        if variance > 1e-15 {
            normal::cdf(gap / variance.sqrt())
        } else {
            match gap {
                g if g > 0.0 => 1.0,
                g if g < 0.0 => 0.0,
                _ => 0.5,
            }
        }
    }

    /// The mean of a prospect, if the prediction has an error of mean `shift` and variance `variance`.
    fn mean_off(&self, at: usize, shift: f64, variance: f64) -> Point {
        let factor = libm::exp(shift + 0.5 * variance.max(0.0));
        let Point { time_s, cost_usd } = self.prospects[at].expected;
        Point {
            time_s: time_s * factor,
            cost_usd: cost_usd * factor,
        }
    }

    /// Expected loss of a prospect, if the prediction has an error of mean `shift` and variance `variance`.
    fn loss(&self, at: usize, shift: f64, variance: f64) -> f64 {
        let mean = self.mean_off(at, shift, variance);
        // A run that misses is repeated.
        let miss = if self.goal.allows_mean(mean.time_s) {
            self.miss_at(at, shift, variance)
        } else {
            MOST_MISS
        };
        self.value(&mean) / (1.0 - miss.min(MOST_MISS))
    }

    /// Expected improvement of the best by a measurement with this variance of its own.
    fn gain(&self, measurement: Measurement, noise: f64) -> f64 {
        let count = self.prospects.len();
        let (table, at) = match measurement {
            Measurement::Step(at) => (&self.covariances.steps, at),
            Measurement::Epochs(at) => (&self.covariances.epochs, at),
        };
        let own = table[at * count + at] + noise;
        if own <= 1e-15 {
            return 0.0;
        }
        let moves: Vec<f64> = (0..count)
            .map(|i| table[i * count + at] / own.sqrt())
            .collect();
        let left = |i: usize| self.covariances.covariance(i, i) - moves[i] * moves[i];
        let outcome = |stratum| normal::inverse_cdf((stratum as f64 + 0.5) / STRATA as f64);
        let outcomes: Vec<f64> = (0..STRATA).map(outcome).collect();
        let incumbent = self.incumbent;
        let worst = (outcomes.iter())
            .map(|outcome| self.loss(incumbent, moves[incumbent] * outcome, left(incumbent)))
            .fold(f64::NEG_INFINITY, f64::max);
        // A prospect whose best case is no better than the worst case of the current best is never the best.
        let least = |i: usize| {
            let shift = -moves[i].abs() * outcomes[STRATA - 1];
            self.value(&self.mean_off(i, shift, left(i)))
        };
        let matters = |i: &usize| *i == incumbent || least(*i) * (1.0 - ROUNDING) < worst;
        let mut sums: Vec<(usize, f64)> = (0..count).filter(matters).map(|i| (i, 0.0)).collect();
        let mut best_after = 0.0;
        for outcome in outcomes {
            let mut best = f64::INFINITY;
            for (i, sum) in &mut sums {
                let loss = self.loss(*i, moves[*i] * outcome, left(*i));
                *sum += loss;
                best = best.min(loss);
            }
            best_after += best;
        }
        let best_now = sums
            .iter()
            .map(|(_, sum)| *sum)
            .fold(f64::INFINITY, f64::min);
        if best_now.is_finite() {
            ((best_now - best_after) / STRATA as f64).max(0.0)
        } else {
            0.0
        }
    }

    pub fn worth(&self, measurement: Measurement, effort: &MeasuringEffort) -> MeasurementValue {
        let (noise, price) = match measurement {
            Measurement::Step(at) => {
                let prospect = &self.prospects[at];
                let seconds = effort.setup_s + effort.steps * prospect.step_s;
                let cost_usd = prospect.usd_per_hour * seconds / SECONDS_PER_HOUR;
                let time_s = seconds;
                (effort.noise[0], Point { time_s, cost_usd })
            }
            Measurement::Epochs(at) => {
                let run = self.mean(at);
                let setup_s = if effort.is_expected {
                    0.0
                } else {
                    effort.setup_s
                };
                let setup_h = setup_s / SECONDS_PER_HOUR;
                let price = Point {
                    time_s: run.time_s + setup_s,
                    cost_usd: run.cost_usd + setup_h * self.prospects[at].usd_per_hour,
                };
                (effort.noise[1], price)
            }
        };
        let value = self.gain(measurement, noise);
        MeasurementValue {
            measurement,
            value,
            price,
            net: effort.times * value - self.value(&price),
        }
    }

    /// All measurements: a step of each configuration, and for each batch the cheapest run by the objective. Measurements
    /// worth their price come first, by net value; then the others, by value.
    pub fn measurements(&self, effort: &MeasuringEffort) -> Vec<MeasurementValue> {
        let mut steps: Vec<usize> = Vec::new();
        let mut batches: Vec<usize> = Vec::new();
        for (at, prospect) in self.prospects.iter().enumerate() {
            let same = |other: &&mut usize| {
                self.prospects[**other].configuration == prospect.configuration
            };
            // The cheaper one of several markets.
            match steps.iter_mut().find(same) {
                Some(known) if prospect.usd_per_hour < self.prospects[*known].usd_per_hour => {
                    *known = at
                }
                Some(_) => {}
                None => steps.push(at),
            }
            let batch = |other: &&mut usize| {
                self.prospects[**other].configuration.batch == prospect.configuration.batch
            };
            match batches.iter_mut().find(batch) {
                Some(known)
                    if self.value(&prospect.expected)
                        < self.value(&self.prospects[*known].expected) =>
                {
                    *known = at;
                }
                Some(_) => {}
                None => batches.push(at),
            }
        }
        let steps = steps.into_iter().map(Measurement::Step);
        let runs = batches.into_iter().map(Measurement::Epochs);
        let mut all: Vec<MeasurementValue> = steps
            .chain(runs)
            .map(|measurement| self.worth(measurement, effort))
            .filter(|worth| worth.net.is_finite())
            .collect();
        let order = |worth: &MeasurementValue| {
            if worth.net > 0.0 {
                (true, worth.net)
            } else {
                (false, worth.value)
            }
        };
        all.sort_by(|a, b| {
            let (a, b) = (order(a), order(b));
            (b.0.cmp(&a.0)).then(b.1.total_cmp(&a.1))
        });
        all
    }

    pub fn usd_per_hour(&self) -> f64 {
        self.usd_per_hour
    }

    pub fn covariances(&self) -> &Covariances {
        &self.covariances
    }
}

#[cfg(test)]
mod tests;
