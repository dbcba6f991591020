//! Configurations that a search runs to the target, one after the other, and the best of them by the objective.

use super::{Forecast, Objective, Task};
use crate::input::checked::Count;
use crate::testbed::{Extent, Observation, Point, Stop, Target, Testbed};

/// What came of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// The target was reached, at this value of the objective.
    Reached(f64),
    /// The run was given up at this value, or left nothing but that it takes more.
    Above(f64),
    /// It failed at this value, or nothing is known of it.
    Failed(f64),
}

/// A search that runs configurations to the target.
pub(super) struct Trials<'a, 't> {
    pub(super) task: &'a Task<'a>,
    testbed: &'t mut dyn Testbed,
    forecast: &'t mut Forecast,
    /// Whether a configuration was tried.
    pub(super) tried: Vec<bool>,
    /// How many were.
    pub(super) count: usize,
    /// The best that keeps the limits, and its value.
    pub(super) best: Option<(usize, f64)>,
    /// What the last of them showed.
    pub(super) seen: Observation,
}

impl<'a, 't> Trials<'a, 't> {
    /// Before the first trial.
    pub(super) fn new(
        task: &'a Task<'a>,
        testbed: &'t mut dyn Testbed,
        forecast: &'t mut Forecast,
    ) -> Self {
        Trials {
            task,
            testbed,
            forecast,
            tried: vec![false; task.space.len()],
            count: 0,
            best: None,
            seen: Observation::default(),
        }
    }

    /// What the objective makes of so many seconds of a configuration; infinite where a cost is asked for that nobody knows.
    pub(super) fn value(&self, at: usize, time_s: f64) -> f64 {
        value(self.task.objective, &self.point(at, time_s))
    }

    fn point(&self, at: usize, time_s: f64) -> Point {
        point(self.task, at, time_s)
    }

    /// Runs a configuration to the target, or gives it up at `cap`, a value of the objective.
    pub(super) fn run(&mut self, at: usize, cap: Option<f64>) -> Result<Outcome, Stop> {
        let extent = match (cap, self.task.objective) {
            (Some(usd), Some(Objective::Cost)) => Extent::Usd(usd),
            (Some(seconds), Some(Objective::Time)) => Extent::Seconds(seconds),
            _ => Extent::ToTarget,
        };
        let seen = self.testbed.probe(at, extent)?;
        self.seen = seen;
        self.tried[at] = true;
        self.count += 1;
        let outcome = match seen.target {
            Target::Reached(time_s) => {
                self.forecast.predict(at, time_s);
                let value = self.value(at, time_s);
                let within = self.task.is_within(at, &self.point(at, time_s));
                if within && self.best.is_none_or(|(_, best)| value < best) {
                    self.best = Some((at, value));
                }
                Outcome::Reached(value)
            }
            Target::MoreThan(time_s) => Outcome::Above(self.value(at, time_s)),
            Target::Failed(time_s) => Outcome::Failed(self.value(at, time_s)),
            Target::Unknown => Outcome::Failed(f64::NAN),
        };
        Ok(outcome)
    }

    /// Takes the best that was run, if there is one.
    pub(super) fn decide(self) {
        self.forecast.decided = self.best.map(|(at, _)| at);
    }
}

/// Runs at most: a budget, but no more than there are configurations.
pub(super) fn runs(budget: Option<Count>, configurations: usize) -> usize {
    budget
        .map_or(configurations, |budget| budget.get() as usize)
        .min(configurations)
}

/// Time and cost of so many seconds of a configuration.
pub(super) fn point(task: &Task<'_>, at: usize, time_s: f64) -> Point {
    let cost_usd = (task.prices).and_then(|prices| prices.run_usd(at, time_s));
    Point {
        time_s,
        cost_usd: cost_usd.unwrap_or(f64::INFINITY),
    }
}

/// What is to be minimised: time, cost, or for the knee their product, which needs no scale of either.
pub(super) fn value(objective: Option<Objective>, point: &Point) -> f64 {
    match objective {
        Some(Objective::Cost) => point.cost_usd,
        Some(Objective::Knee) => point.time_s * point.cost_usd,
        Some(Objective::Time) | None => point.time_s,
    }
}
