//! Configurations that a search runs to the target, one after the other, and the best of them by the objective.

use super::{Forecast, Objective, Task, UnusableStrategy};
use crate::testbed::{Extent, Observation, Point, Stop, Target, Testbed};
use scavsim_base::rng::Stream;
use scavsim_read::input::checked::Count;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TrialOutcome {
    /// The target was reached, at this value of the objective.
    Reached(f64),
    /// The run was given up at this value, or left nothing but that it takes more.
    Above(f64),
    /// The trial failed at this value, or nothing is known of it.
    Failed(f64),
}

impl TrialOutcome {
    /// What a model of logarithms takes it for: what did not come to the target, for a third more than the worst.
    pub(super) fn log(self, worst: f64) -> f64 {
        match self {
            TrialOutcome::Reached(value) => libm::log(value),
            TrialOutcome::Above(value) | TrialOutcome::Failed(value) => {
                libm::log(value).max(worst) + BEYOND
            }
        }
    }
}

/// What a run that failed or was given up is taken for, beyond what is known of it: a third more, as a logarithm.
pub(super) const BEYOND: f64 = 0.3;

/// What a search believes of whole runs, and which it asks for.
pub(super) trait Model {
    fn learn(&mut self, _at: usize, _outcome: TrialOutcome) {}

    /// The next run, and the value at which it is given up; `None` where no more is due.
    fn next(&mut self, trials: &Trials<'_, '_>) -> Option<(usize, Option<f64>)>;
}

impl<F: FnMut(&Trials<'_, '_>) -> Option<usize>> Model for F {
    fn next(&mut self, trials: &Trials<'_, '_>) -> Option<(usize, Option<f64>)> {
        Some((self(trials)?, None))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CheapTrial {
    /// What it took, as the objective counts it.
    pub(super) value: f64,
    /// How far its quality is beyond that of whole runs; `None` where the target is another, or it had none.
    pub(super) beyond: Option<f64>,
}

pub(super) struct Trials<'a, 't> {
    pub(super) task: &'a Task<'a>,
    testbed: &'t mut dyn Testbed,
    forecast: &'t mut Forecast,
    pub(super) tried: Vec<bool>,
    /// How many were.
    pub(super) count: usize,
    pub(super) is_reached: bool,
    /// The best that keeps the limits, and its value.
    pub(super) best: Option<(usize, f64)>,
    /// What the last of them showed.
    pub(super) seen: Observation,
}

impl<'a, 't> Trials<'a, 't> {
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
            is_reached: false,
            best: None,
            seen: Observation::default(),
        }
    }

    /// Whether another run is due: within the budget, or as long as none came to the target.
    pub(super) fn goes_on(&self, budget: usize) -> bool {
        self.count < self.tried.len() && (self.count < budget || !self.is_reached)
    }

    /// Whether a rule may stop the search that asks for so many runs.
    pub(super) fn has_enough(&self, least: Count) -> bool {
        self.is_reached && self.count >= least.get() as usize
    }

    pub(super) fn left(&self) -> impl Iterator<Item = usize> {
        (0..self.tried.len()).filter(|&at| !self.tried[at])
    }

    /// One of those, drawn at random.
    pub(super) fn any_left(&self, stream: &mut Stream) -> usize {
        let left: Vec<usize> = self.left().collect();
        left[stream.below(left.len())]
    }

    /// The configuration that was not tried yet of which most is expected, with how much; the first of several.
    pub(super) fn most(&self, expected: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
        let left = self.left().map(|at| (at, expected(at)));
        left.reduce(|most, next| if next.1 > most.1 { next } else { most })
    }

    /// Runs a configuration to the target, or gives it up at `cap`, a value of the objective.
    pub(super) fn run(&mut self, at: usize, cap: Option<f64>) -> Result<TrialOutcome, Stop> {
        let cap = cap.filter(|cap| *cap > 0.0 && cap.is_finite());
        // What nobody knows the price of is worth what was paid for it.
        let is_priced = (self.task.prices).is_none_or(|p| p.usd_per_hour(at).is_some());
        let extent = match (cap, self.task.objective) {
            (Some(usd), Some(Objective::Cost)) => Extent::ToTargetForUsd(usd),
            (Some(seconds), Some(Objective::Time)) => Extent::ToTargetInSeconds(seconds),
            _ => Extent::ToTarget,
        };
        let before_usd = if is_priced {
            None
        } else {
            self.testbed.spent().usd
        };
        let seen = self.testbed.probe(at, extent)?;
        self.seen = seen;
        self.tried[at] = true;
        self.count += 1;
        let paid_usd = match before_usd {
            Some(before) => (self.testbed.spent().usd).map(|after| after - before),
            None => None,
        };
        let point = |time_s: f64| match paid_usd {
            Some(cost_usd) => Point { time_s, cost_usd },
            None => point(self.task, at, time_s),
        };
        let value = |time_s: f64| value(self.task.objective, &point(time_s));
        Ok(match seen.target {
            Target::Reached(time_s) => {
                let (value, within) = (value(time_s), self.task.is_within(at, &point(time_s)));
                self.is_reached = true;
                self.forecast.predict(at, time_s);
                if within && self.best.is_none_or(|(_, best)| value < best) {
                    self.best = Some((at, value));
                }
                TrialOutcome::Reached(value)
            }
            Target::MoreThan(time_s) => TrialOutcome::Above(value(time_s)),
            Target::Failed(time_s) => TrialOutcome::Failed(value(time_s)),
            Target::Unknown => TrialOutcome::Failed(f64::NAN),
        })
    }

    /// Runs a cheap version of a configuration with this share of a run; `None` where it has none, which takes no time.
    pub(super) fn run_cheaply(
        &mut self,
        at: usize,
        share: f64,
    ) -> Result<Option<CheapTrial>, Stop> {
        let before = self.testbed.spent();
        let seen = self.testbed.probe(at, Extent::Fidelity(share))?;
        let after = self.testbed.spent();
        let point = Point {
            time_s: after.seconds - before.seconds,
            cost_usd: (after.usd.zip(before.usd))
                .map_or(f64::INFINITY, |(after, before)| after - before),
        };
        let beyond = self.task.goal.zip(seen.quality);
        Ok((point.time_s > 0.0).then(|| CheapTrial {
            value: value(self.task.objective, &point),
            beyond: beyond.map(|(goal, quality)| goal.beyond(quality)),
        }))
    }

    /// Makes the first runs, then those that `model` asks for, as long as the budget lasts, and takes the best.
    pub(super) fn search(
        mut self,
        budget: usize,
        first: impl IntoIterator<Item = usize>,
        mut model: impl Model,
    ) -> Result<(), Stop> {
        for at in first {
            model.learn(at, self.run(at, None)?);
        }
        while self.goes_on(budget)
            && let Some((at, cap)) = model.next(&self)
        {
            model.learn(at, self.run(at, cap)?);
        }
        self.decide()
    }

    /// Takes the best run that keeps the limits; [`Stop::Failed`] when none came to the target.
    pub(super) fn decide(self) -> Result<(), Stop> {
        self.forecast.decided = self.best.map(|(at, _)| at);
        if self.is_reached {
            Ok(())
        } else {
            Err(none_reached(self.count))
        }
    }
}

/// Whether beliefs of so many configurations can be held.
pub(super) fn check_size(task: &Task<'_>, most: usize) -> Result<(), UnusableStrategy> {
    let count = task.space.len();
    if count > most {
        return Err(UnusableStrategy(format!(
            "{count} configurations, and it can hold beliefs of {most} at most"
        )));
    }
    Ok(())
}

/// The complaint of a search of which no run came to the target.
pub(super) fn none_reached(runs: usize) -> Stop {
    Stop::Failed(match runs {
        1 => "the only run of the search did not reach the target".to_owned(),
        runs => format!("none of the {runs} runs of the search reached the target"),
    })
}

/// Runs at most: a budget, but no more than there are configurations.
pub(super) fn runs(budget: Option<Count>, configurations: usize) -> usize {
    budget
        .map_or(configurations, |budget| budget.get() as usize)
        .min(configurations)
}

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

/// The greatest value of the objective of each configuration that keeps the limits; infinite without limits.
pub(super) fn most_values(task: &Task<'_>) -> Vec<f64> {
    let most = |at: usize| {
        if !task.limits.are_any() {
            return f64::INFINITY;
        }
        // Time and cost grow together: the longest time that is allowed, to a second.
        let is_within = |time_s: f64| task.is_within(at, &point(task, at, time_s));
        let (mut low, mut high) = (0.0, LONGEST_S);
        if is_within(high) {
            return f64::INFINITY;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if is_within(middle) {
                low = middle
            } else {
                high = middle
            }
        }
        value(task.objective, &point(task, at, low))
    };
    (0..task.space.len()).map(most).collect()
}

/// Ten years.
const LONGEST_S: f64 = 3.2e8;
/// Halvings from ten years to a second.
const HALVINGS: u32 = 30;
