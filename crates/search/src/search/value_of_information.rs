//! Search by the value of information: a run is made while what it teaches is expected to save more, over all runs of
//! the job that are to come, than it costs.
//!
//! Prices are known, so only time is believed in: as a whole, or where steps are counted as seconds of a step and steps to
//! the target, each a Gaussian belief over all configurations (`field`) from a prior of how such jobs go (`prior`,
//! `description`). Experts of different confidence are weighed by how well they foretold (`experts`). A run may be given
//! up at a multiple of the best known value, and then still tells that it takes more; one that reached the target is one
//! of the R that were wanted (`decision`). `constants` holds all that was chosen.

mod constants;
mod decision;
mod description;
mod experts;
mod failures;
mod field;
mod look_search;
mod pooled_prior;
mod prior;
mod quality;

use std::sync::OnceLock;

use super::other_jobs::OtherJobs;
use super::prober::Prober;
use super::settings::Probes;
use super::trials::{TrialOutcome, Trials, check_size};
use super::{BuildResult, Depends, Forecast, Objective, Past, Recipe, Strategy, Task};
use crate::testbed::{Observation, Stop, Target, Testbed};
pub use constants::Constants;
use decision::{Question, next_run};
use experts::{End, Experts, ObservedRun, objective};
use failures::{Cliffs, Failures};
use field::Prior;
use look_search::LookSearch;
use pooled_prior::PooledPriors;
use quality::QualityBelief;
use scavsim_base::rng::Stream;
use scavsim_base::settings;
use scavsim_read::input::checked::Count;

/// Most configurations: a prior holds a covariance of every pair.
pub(super) const MOST: usize = 2048;

settings! {
    /// Settings of search by the value of information.
    pub struct ValueOfInformationSettings {
        /// Runs or looks at most, as long as one reached the target; without it, its own rule alone says when to stop.
        pub budget: Option<Count>,
        /// Steps per look; the workload's own figure when absent.
        pub probe_steps: Option<Count>,
    }

    name: "value-of-information",
    what: "runs, or looks at steps, while they are worth their price in view of all runs of the job that are to come; prices are known",
    formula: "probes: runs to the target, or looks at steps, while what they are expected to save over R runs is more than they cost; epochs: line of earlier runs, where steps are looked at; noise: read; step: believed in",
    source: "this project; Howard 1966, Frazier, Powell & Dayanik 2009",
    example: "search.strategies = [\"value-of-information\"]",
}

impl Recipe for ValueOfInformationSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        check_size(task, MOST)?;
        let budget = self.budget.map_or(usize::MAX, |b| b.get() as usize);
        if let Some(looking) = by_looks(task, past, budget, self.probe_steps) {
            return looking;
        }
        Ok(Box::new(ValueOfInformation {
            budget,
            ..ValueOfInformation::default()
        }))
    }
}

/// A search by looks at steps, where these are cheaper than runs and something tells how many steps it takes to the target.
pub(super) fn by_looks(
    task: &Task<'_>,
    past: &mut Past<'_>,
    budget: usize,
    probe_steps: Option<Count>,
) -> Option<BuildResult> {
    if task.looks_cost_a_run {
        return None;
    }
    let probing = Prober::by_epochs(task, past, Probes::of_steps(probe_steps)).ok()?;
    Some(LookSearch::ready(probing, budget))
}

/// The strategy by whole runs, ready for one task.
pub(super) struct ValueOfInformation {
    budget: usize,
    constants: Constants,
    others: Option<OtherJobs>,
    /// All searches of a task begin with the same.
    priors: OnceLock<Priors>,
}

struct Priors {
    time: Prior,
    step: Prior,
    steps: Prior,
    pooled: Option<PooledPriors>,
    cliffs: Cliffs,
}

impl Default for ValueOfInformation {
    fn default() -> ValueOfInformation {
        ValueOfInformation {
            budget: usize::MAX,
            constants: Constants::default(),
            others: None,
            priors: OnceLock::new(),
        }
    }
}

impl ValueOfInformation {
    pub(super) fn pooled(others: OtherJobs) -> ValueOfInformation {
        ValueOfInformation {
            others: Some(others),
            ..ValueOfInformation::default()
        }
    }

    fn priors(&self, task: &Task<'_>) -> &Priors {
        self.priors.get_or_init(|| {
            let configurations = description::configurations(task);
            let prior = |shape| configurations.prior(shape, &self.constants);
            let time = prior(&self.constants.time);
            let others = self.others.as_ref();
            let cliffs = Cliffs::new(&configurations, &self.constants);
            Priors {
                pooled: others.map(|others| PooledPriors::new(&time, others, &self.constants)),
                time,
                step: prior(&self.constants.step),
                steps: prior(&self.constants.steps),
                cliffs: match others {
                    Some(others) => cliffs.after_history(others),
                    None => cliffs,
                },
            }
        })
    }

    /// Experts of time as a whole, or of its two parts, and experts that know other jobs.
    fn experts<'p>(&self, priors: &'p Priors, by_parts: bool) -> Experts<'p> {
        let constants = &self.constants;
        let scales = &constants.scales;
        let experts = if by_parts {
            let parts = [&priors.step, &priors.steps];
            Experts::new(&parts, scales, constants.parts_caution)
        } else {
            Experts::new(&[&priors.time], scales, constants.caution)
        };
        let Some(pooled) = &priors.pooled else {
            return experts;
        };
        experts.after_history(&pooled.by_share, &pooled.log_weights, constants)
    }
}

impl Constants {
    /// The strategy with these constants in place of its own.
    pub fn strategy(self) -> impl Strategy {
        ValueOfInformation {
            constants: self,
            ..ValueOfInformation::default()
        }
    }
}

impl Strategy for ValueOfInformation {
    fn depends(&self) -> Depends {
        Depends::BOTH
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let constants = &self.constants;
        let priors = self.priors(task);
        let to = objective(task);
        let mut experts = self.experts(priors, description::counts_steps(task));
        let mut failures = Failures::new(&priors.cliffs);
        let quality = |goal| QualityBelief::new(&priors.steps, goal, constants);
        let mut quality = task.goal.and_then(quality);
        // What has no price beforehand is not to be had, and what was tried need not be tried again.
        let mut open: Vec<usize> = (0..task.space.len())
            .filter(|&at| to.offset[at].is_finite())
            .collect();
        if open.is_empty() {
            let why = "no configuration has a price before it was run";
            return Err(Stop::Failed(why.to_owned()));
        }
        let mut trials = Trials::new(task, testbed, forecast);
        let mut is_reached = false;
        let mut runs = task.repeats.max(1);
        // Where limits leave nothing of what was run, the search goes on.
        while (runs > 0 || trials.best.is_none()) && (trials.count < self.budget || !is_reached) {
            let told = experts.predict_objective(&to);
            let missed = quality.as_ref().and_then(QualityBelief::odds_missed);
            let asked = Question {
                power: to.power,
                best: trials.best.map(|(_, value)| value),
                runs: runs.max(1) as f64,
                open: &open,
                fails: &failures.with(missed),
            };
            let Some(next) = next_run(&experts, &told, &asked, constants) else {
                break;
            };
            open.retain(|&at| at != next.at);
            let outcome = trials.run(next.at, next.cap)?;
            let is_seen = (quality.as_mut().zip(trials.seen.quality))
                .is_some_and(|(belief, quality)| belief.learn(next.at, quality));
            let end = match (outcome, next.cap) {
                (TrialOutcome::Reached(_), _) => End::Reached,
                (TrialOutcome::Above(value), Some(cap)) if value >= 0.99 * cap => End::GivenUp,
                // It came to its own end and had not reached the target.
                (TrialOutcome::Above(_) | TrialOutcome::Failed(_), _) => End::Failed,
            };
            runs = runs.saturating_sub(u64::from(end == End::Reached));
            is_reached |= end == End::Reached;
            // With a quality it is known what was wrong with it.
            if end != End::GivenUp && !is_seen {
                failures.learn(next.at, end == End::Failed);
            }
            let end = if is_seen { End::Reached } else { end };
            if let Some(seen) = observed_run(task, &trials.seen, end) {
                if experts.see_steps() && seen.log_step.is_none() && trials.count == 1 {
                    experts = self.experts(priors, false);
                }
                experts.learn(next.at, &seen);
            }
        }
        trials.decide()?;
        Ok(())
    }
}

/// The logarithms of what a run showed that ended so, where it took any time. By time, a step that is but the run over its steps tells
/// nothing besides: so it went better on the jobs that were there to choose by.
fn observed_run(task: &Task<'_>, seen: &Observation, end: End) -> Option<ObservedRun> {
    let above_zero = |value: f64| (value > 0.0 && value.is_finite()).then(|| libm::log(value));
    let (Target::Reached(time_s) | Target::MoreThan(time_s) | Target::Failed(time_s)) = seen.target
    else {
        return None;
    };
    let by_time = task.objective == Some(Objective::Time);
    Some(ObservedRun {
        log_time: above_zero(time_s)?,
        log_step: (seen.step_s)
            .filter(|_| !(by_time && seen.step_is_of_run))
            .and_then(above_zero),
        end,
    })
}
