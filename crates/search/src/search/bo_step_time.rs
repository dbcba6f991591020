//! Bayesian optimisation that is told all but the step time: prices, and epochs to the target. A Gaussian process over the
//! logarithm of the step time gives a log-normal value of each configuration; the next probe is where that is expected to
//! fall furthest below the best so far. Where nothing tells epochs, it models the time to the target, and runs go to the
//! target.

use super::belief::Belief;
use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::latin_hypercube::design;
use super::prober::{Prober, UNREAD};
use super::settings::Probes;
use super::trials::{BEYOND, none_reached, point, runs, value};
use super::{BuildResult, Depends, Forecast, Objective, Past, Recipe, Task, ready};
use crate::testbed::{Stop, Target, Testbed};
use scavsim_base::settings;
use scavsim_read::input::checked::{Count, ShareOf};

/// Probes at most, without a budget: what it needed on measured grids to come near the best cost, and the best time.
const PROBES: (u32, u32) = (8, 15);

settings! {
    /// Settings of Bayesian optimisation of the step time.
    pub struct BoStepTimeSettings {
        /// Probes, whatever is expected of further ones; without it 8, under the objective `time` 15, or fewer by `stop_below`.
        pub budget: Option<Count>,
        /// Probes before anything is modelled.
        pub first: Count = Count::new(3).expect("3 is at least 1"),
        /// The search stops when less than this share of the best value is expected to be gained.
        pub stop_below: ShareOf = ShareOf::new(0.001).expect("it is a share"),
        /// Steps per probe; the workload's own figure when absent.
        pub probe_steps: Option<Count>,
    }

    name: "bo-step-time",
    what: "Bayesian optimisation of the step time, with known prices and epochs; expected improvement of probes of steps",
    formula: "probes: steps, by expected improvement; epochs: model of all earlier runs; noise: not used; step: a Gaussian process over ln τ",
    source: "this project",
    example: "strategy.bo-step-time = { first = 3, stop_below = 0.001 }",
}

impl Recipe for BoStepTimeSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let probing = Prober::with_known_epochs(task, past, Probes::of_steps(self.probe_steps));
        let work = |at: usize| probing.steps_to_target(at, UNREAD).unwrap_or(1.0);
        let work: Vec<f64> = (0..task.space.len()).map(work).collect();
        let settings = self.clone();
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let count = task.space.len();
            let budget = runs(settings.budget, count).min(match settings.budget {
                Some(_) => count,
                None if task.objective == Some(Objective::Time) => PROBES.1 as usize,
                None => PROBES.0 as usize,
            });
            let features = Features::for_space(task.space, task.prices);
            let mut looks = StepLooks {
                probing: &probing,
                work: &work,
                task,
                testbed,
                forecast,
                process: GaussianProcess::new(&features, count),
                tried: vec![false; count],
            };
            let first = (settings.first.get() as usize).min(budget);
            for at in design(&features, count, first, stream) {
                looks.look(at)?;
            }
            let mut probes = first;
            while probes < count && (probes < budget || looks.has_failed()) {
                let Some((at, gain)) = looks.next() else {
                    break;
                };
                let little = gain < settings.stop_below.get() && !looks.has_failed();
                if settings.budget.is_none() && little {
                    break;
                }
                looks.look(at)?;
                probes += 1;
            }
            if looks.has_failed() {
                return Err(none_reached(probes));
            }
            looks.foretell();
            Ok(())
        })
    }
}

struct StepLooks<'a, 't> {
    probing: &'a Prober,
    /// Steps to the target of each configuration; 1 where runs go to it.
    work: &'a [f64],
    task: &'a Task<'a>,
    testbed: &'t mut dyn Testbed,
    forecast: &'t mut Forecast,
    /// Over the logarithm of time over work.
    process: GaussianProcess<'a>,
    tried: Vec<bool>,
}

impl StepLooks<'_, '_> {
    fn look(&mut self, at: usize) -> Result<(), Stop> {
        let seen = self.probing.probe(self.testbed, at)?;
        self.tried[at] = true;
        let log = match (seen.target, seen.step_s) {
            (Target::Reached(time_s), _) => {
                self.forecast.predict(at, time_s);
                libm::log(time_s / self.work[at])
            }
            (_, Some(step_s)) if !self.probing.is_to_target() => {
                self.probing.predict(at, UNREAD, step_s, self.forecast);
                libm::log(step_s)
            }
            (Target::Failed(time_s) | Target::MoreThan(time_s), _) => {
                libm::log(time_s / self.work[at]).max(self.process.worst) + BEYOND
            }
            _ => f64::NAN,
        };
        self.process.learn(at, log);
        Ok(())
    }

    fn has_failed(&self) -> bool {
        self.probing.is_to_target() && self.forecast.time_s.iter().all(Option::is_none)
    }

    /// Where most is expected to be gained, and that over the best so far; `None` if everything was tried.
    fn next(&self) -> Option<(usize, f64)> {
        let mut left = (0..self.tried.len()).filter(|&at| !self.tried[at]);
        let Some(beliefs) = self.process.beliefs() else {
            return Some((left.next()?, f64::INFINITY));
        };
        // Beyond the limits nothing is gained, as long as there is something within.
        let seen = |within: bool| {
            let known =
                (0..self.tried.len()).filter_map(|at| Some((at, self.forecast.time_s[at]?)));
            let point = |(at, time_s)| (at, point(self.task, at, time_s));
            known
                .map(point)
                .filter(|(at, point)| !within || self.task.is_within(*at, point))
                .map(|(_, point)| value(self.task.objective, &point))
                .reduce(f64::min)
        };
        let log_best = libm::log(seen(true).or_else(|| seen(false)).unwrap_or(f64::MAX));
        let gain = |at: usize| {
            let point = point(self.task, at, self.time_s(at, beliefs[at].mean));
            // Time × cost goes by the square of the time.
            let power = match self.task.objective {
                Some(Objective::Knee) => 2.0,
                _ => 1.0,
            };
            let belief = Belief {
                mean: libm::log(value(self.task.objective, &point)),
                deviation: power * beliefs[at].deviation,
            };
            let gain = belief.log_improvement(log_best);
            (at, self.task.is_within(at, &point), gain)
        };
        // Of the configurations that are expected to keep the limits, the one with the greatest gain; else of all.
        let is_better = |a: &(usize, bool, f64), b: &(usize, bool, f64)| (b.1, b.2) > (a.1, a.2);
        let next = left
            .map(gain)
            .reduce(|best, next| if is_better(&best, &next) { next } else { best })?;
        Some((next.0, next.2))
    }

    /// Seconds to the target where the logarithm of time over work is so much.
    fn time_s(&self, at: usize, log: f64) -> f64 {
        libm::exp(log) * self.work[at]
    }

    /// Predicts by the model what was not probed; not what runs to the target leave out, which may fail.
    fn foretell(&mut self) {
        let Some(beliefs) = self.process.beliefs() else {
            return;
        };
        if self.probing.is_to_target() {
            return;
        }
        for (at, belief) in beliefs.iter().enumerate() {
            if self.forecast.time_s[at].is_none() {
                let mean = belief.mean + 0.5 * belief.deviation * belief.deviation;
                let time_s = self.time_s(at, mean);
                self.forecast.predict(at, time_s);
            }
        }
    }
}
