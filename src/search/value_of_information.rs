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
mod field;
mod prior;

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trials::{Outcome, Trials};
use super::{Depends, Forecast, Objective as Aim, Past, Recipe, Strategy, Task, Unusable};
use crate::input::checked::Count;
use crate::rng::Stream;
use crate::testbed::{Observation, Stop, Target, Testbed};
use constants::Constants;
use decision::{Question, next_run};
use experts::{End, Experts, Objective, Seen};
use field::Prior;

/// Most configurations: a prior holds a covariance of every pair.
const MOST: usize = 2048;

/// Settings of search by the value of information.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ValueOfInformationSettings {
    /// Runs at most, as long as one reached the target; without it, its own rule alone says when to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Count>,
}

impl Recipe for ValueOfInformationSettings {
    fn summary(&self) -> &str {
        "run what is worth its price in view of all runs to come; prices are known, beliefs are weighed by what they foretold"
    }

    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let count = task.space.len();
        if count > MOST {
            return Err(Unusable(format!(
                "{count} configurations, and it can hold beliefs of {MOST} at most"
            )));
        }
        Ok(Box::new(ValueOfInformation {
            budget: self.budget.map_or(usize::MAX, |b| b.get() as usize),
            constants: Constants::default(),
            priors: OnceLock::new(),
        }))
    }
}

struct ValueOfInformation {
    budget: usize,
    constants: Constants,
    /// All searches of a task begin with the same.
    priors: OnceLock<Priors>,
}

/// What is believed before anything was seen.
struct Priors {
    time: Prior,
    step: Prior,
    steps: Prior,
}

impl ValueOfInformation {
    fn priors(&self, task: &Task<'_>) -> &Priors {
        self.priors.get_or_init(|| {
            let configurations = description::configurations(task);
            let prior = |shape| configurations.prior(shape, &self.constants);
            Priors {
                time: prior(&self.constants.time),
                step: prior(&self.constants.step),
                steps: prior(&self.constants.steps),
            }
        })
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
        let mut experts = match description::counts_steps(task) {
            true => Experts::new(&[&priors.step, &priors.steps], constants),
            false => Experts::new(&[&priors.time], constants),
        };
        let fails = vec![constants.fails; task.space.len()];
        // What has no price beforehand is not to be had, and what was tried need not be tried again.
        let mut open: Vec<usize> = (0..task.space.len())
            .filter(|&at| to.offset[at].is_finite())
            .collect();
        let mut trials = Trials::new(task, testbed, forecast);
        let mut runs = task.repeats.max(1);
        while runs > 0 && (trials.count < self.budget || trials.best.is_none()) {
            let told = experts.told(&to);
            let asked = Question {
                power: to.power,
                best: trials.best.map(|(_, value)| value),
                runs: runs as f64,
                open: &open,
                fails: &fails,
            };
            let Some(next) = next_run(&experts, &told, &asked, constants) else {
                break;
            };
            open.retain(|&at| at != next.at);
            let outcome = trials.run(next.at, next.cap)?;
            let end = match (outcome, next.cap) {
                (Outcome::Reached(_), _) => End::Reached,
                (Outcome::Above(value), Some(cap)) if value >= 0.99 * cap => End::GivenUp,
                // It came to its own end and had not reached the target.
                (Outcome::Above(_) | Outcome::Failed(_), _) => End::Failed,
            };
            runs -= u64::from(end == End::Reached);
            if let Some(seen) = seen(&trials.seen, end) {
                if experts.see_steps() && seen.log_step.is_none() && trials.count == 1 {
                    experts = Experts::new(&[&priors.time], constants);
                }
                experts.learn(next.at, &seen, &to, constants.beyond);
            }
        }
        trials.decide()?;
        Ok(())
    }
}

/// The logarithm of the objective by that of time; infinite where a price is asked for that nobody knows.
fn objective(task: &Task<'_>) -> Objective {
    let per_second = |at: usize| {
        let usd = task.prices.and_then(|prices| prices.usd_per_hour(at));
        usd.filter(|usd| *usd > 0.0)
            .map_or(f64::INFINITY, |usd| libm::log(usd / 3600.0))
    };
    let by_price = (0..task.space.len()).map(per_second);
    match task.objective {
        Some(Aim::Cost) => Objective {
            power: 1.0,
            offset: by_price.collect(),
        },
        Some(Aim::Knee) => Objective {
            power: 2.0,
            offset: by_price.collect(),
        },
        Some(Aim::Time) | None => Objective {
            power: 1.0,
            offset: vec![0.0; task.space.len()],
        },
    }
}

/// The logarithms of what a run showed that ended so, where it took any time.
fn seen(seen: &Observation, end: End) -> Option<Seen> {
    let above_zero = |value: f64| (value > 0.0 && value.is_finite()).then(|| libm::log(value));
    let (Target::Reached(time_s) | Target::MoreThan(time_s) | Target::Failed(time_s)) = seen.target
    else {
        return None;
    };
    Some(Seen {
        log_time: above_zero(time_s)?,
        log_step: seen.step_s.and_then(above_zero),
        end,
    })
}
