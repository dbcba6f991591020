//! Bayesian optimisation with a random forest: what SMAC does (LION 2011). Whole runs, the first from a Latin hypercube; each
//! further one is where a forest over logarithms expects the value to fall furthest below the best so far, or now and then
//! drawn at random. Theirs too: ten trees, how they are grown, and how often a run is drawn. Not theirs: first runs are at
//! most a quarter and at least three; every configuration is asked, in place of a search for the best; a failed run counts as
//! a third more than the worst.

use super::features::Features;
use super::latin_hypercube::design;
use super::regression_forest::RegressionForest;
use super::settings::strategy_settings;
use super::trials::{self, TrialOutcome, Trials};
use super::{BuildResult, Depends, Forecast, Past, Recipe, Strategy, Task};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_read::input::checked::{Count, ShareOf};

const FIRST: usize = 3;
/// What a run that failed counts as, beyond the worst: a third more.
const BEYOND: f64 = 0.3;

strategy_settings! {
    /// Settings of Bayesian optimisation with a random forest.
    pub struct RandomForestSettings {
        /// Runs.
        pub budget: Count = Count::new(10).expect("10 is at least 1"),
        /// Share of the runs that are drawn at random, after the first.
        pub random_share: ShareOf = ShareOf::new(0.084).expect("it is a share"),
    }

    name: "random-forest",
    what: "Bayesian optimisation with a random forest, as SMAC does: expected improvement of whole runs, some drawn at random",
    formula: "probes: runs to the target where E[(b − Y)⁺] is greatest; ln Y: ten regression trees",
    source: "Hutter, Hoos and Leyton-Brown, SMAC, LION 2011, and SMAC3",
    example: "search.strategies = [\"random-forest@10\"]",
}

impl Recipe for RandomForestSettings {
    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        Ok(Box::new(RandomForest(self.clone())))
    }
}

struct RandomForest(RandomForestSettings);

impl Strategy for RandomForest {
    fn depends(&self) -> Depends {
        Depends::BOTH
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let count = task.space.len();
        let budget = trials::runs(Some(self.0.budget), count);
        let features = Features::for_space(task.space, task.prices);
        let mut trials = Trials::new(task, testbed, forecast);
        let mut seen = LogOutcomes {
            all: Vec::new(),
            worst: f64::NEG_INFINITY,
        };
        for at in design(&features, count, FIRST.max(budget / 4).min(budget), stream) {
            let outcome = trials.run(at, None)?;
            seen.learn(at, outcome);
        }
        while trials.goes_on(budget) {
            let best = trials.best.map(|(_, value)| value);
            if best == Some(0.0) {
                break; // nothing is better than for nothing
            }
            let left: Vec<usize> = trials.left().collect();
            let is_drawn = stream.uniform() < self.0.random_share.get();
            let forest = RegressionForest::grow(&features, &seen.all, stream);
            let at = match forest.filter(|_| !is_drawn) {
                None => left[stream.below(left.len())],
                Some(forest) => {
                    let best = best.map_or(seen.worst, libm::log);
                    let gain = |at: usize| forest.belief(features.row(at)).log_improvement(best);
                    let Some((at, _)) = trials.most(gain) else {
                        break;
                    };
                    at
                }
            };
            let outcome = trials.run(at, None)?;
            seen.learn(at, outcome);
        }
        trials.decide()
    }
}

/// Logarithms of what runs came to.
struct LogOutcomes {
    all: Vec<(usize, f64)>,
    worst: f64,
}

impl LogOutcomes {
    fn learn(&mut self, at: usize, outcome: TrialOutcome) {
        let log = match outcome {
            TrialOutcome::Reached(value) => libm::log(value),
            TrialOutcome::Above(value) | TrialOutcome::Failed(value) => {
                libm::log(value).max(self.worst) + BEYOND
            }
        };
        if log.is_finite() {
            self.worst = self.worst.max(log);
            self.all.push((at, log));
        }
    }
}
