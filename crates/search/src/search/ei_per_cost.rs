//! Expected improvement per cost of looking: where a run is expected to gain most for what it takes. Whole runs, the first
//! two in the corner of the objective: at the lowest prices per hour, or by time at the highest; a run that has come to the
//! best value so far is given up. It stops as CherryPick does. HeterBO (IPDPS 2020) and Lynceus (ICDCS 2020) price a look;
//! their priors and lookahead are not in it.

use super::by_price::Corner;
use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::trials::{BEYOND, Model, TrialOutcome, Trials, runs};
use super::{BuildResult, Depends, Objective, Past, Recipe, Task, ready};
use scavsim_base::settings;
use scavsim_read::input::checked::{Count, ShareOf};

settings! {
    /// Settings of expected improvement per cost.
    pub struct EiPerCostSettings {
        /// Runs, whatever is expected of further ones; without it, its own rule says when to stop.
        pub budget: Option<Count>,
        /// Runs before its own rule may stop it.
        pub least: Count = Count::new(6).expect("6 is at least 1"),
        /// The search stops when less than this share of the best value is expected to be gained.
        pub stop_below: ShareOf = ShareOf::new(0.1).expect("it is a share"),
        /// Whether a run is given up when it has come to the best value so far.
        pub give_up: bool = true,
    }

    name: "ei-per-cost",
    what: "Bayesian optimisation: expected improvement over what a run takes itself, from the two cheapest, by time the two dearest; gives up early",
    formula: "probes: runs to the target where E[(b − Y)⁺]/E[run] is greatest, both of logarithms",
    source: "this project; looks with a price of their own as in HeterBO, IPDPS 2020",
    example: "strategy.ei-per-cost = { least = 6, stop_below = 0.1, give_up = true }",
}

impl Recipe for EiPerCostSettings {
    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        let settings = self.clone();
        ready(Depends::BOTH, move |task, testbed, _, forecast| {
            let count = task.space.len();
            let features = Features::for_space(task.space, task.prices);
            let corner = match task.objective {
                Some(Objective::Time) => Corner::Dearest,
                _ => Corner::Cheapest,
            };
            let model = EiPerCost {
                settings: &settings,
                first: corner.order(task).into_iter().map(|(at, _)| at).take(2),
                process: GaussianProcess::new(&features, count),
            };
            let budget = runs(settings.budget, count);
            Trials::new(task, testbed, forecast).search(budget, [], model)
        })
    }
}

struct EiPerCost<'s, I> {
    settings: &'s EiPerCostSettings,
    first: I,
    /// Over logarithms.
    process: GaussianProcess<'s>,
}

impl<I: Iterator<Item = usize>> Model for EiPerCost<'_, I> {
    fn learn(&mut self, at: usize, outcome: TrialOutcome) {
        let log = match outcome {
            TrialOutcome::Above(value) => libm::log(value) + BEYOND,
            other => other.log(self.process.worst),
        };
        self.process.learn(at, log);
    }

    fn next(&mut self, trials: &Trials<'_, '_>) -> Option<(usize, Option<f64>)> {
        let settings = self.settings;
        let best = trials.best.map(|(_, value)| value);
        if best == Some(0.0) {
            return None; // nothing is better than for nothing
        }
        let at = match (self.first.next(), self.process.beliefs()) {
            (Some(at), _) => at,
            // Nothing is known yet of how values vary: as they come.
            (None, None) => trials.left().next()?,
            (None, Some(beliefs)) => {
                let log_best = best.map_or(self.process.worst, libm::log);
                let gain = |at: usize| beliefs[at].log_improvement(log_best);
                // Of a log-normal value.
                let takes = |at: usize| {
                    let b = &beliefs[at];
                    libm::exp(b.mean + 0.5 * b.deviation * b.deviation - log_best)
                };
                let (at, _) = trials.most(|at| gain(at) / takes(at))?;
                let most = trials.left().map(gain).fold(0.0, f64::max);
                let little = most < settings.stop_below.get();
                if settings.budget.is_none() && trials.has_enough(settings.least) && little {
                    return None;
                }
                at
            }
        };
        Some((at, best.filter(|_| settings.give_up)))
    }
}
