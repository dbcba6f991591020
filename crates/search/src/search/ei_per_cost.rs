//! Expected improvement per cost of looking: where a run is expected to gain most for what it takes. Whole runs, the first
//! two in the corner of the objective: at the lowest prices per hour, or by time at the highest; a run that has come to the
//! best value so far is given up. It stops as CherryPick does. HeterBO (IPDPS 2020) and Lynceus (ICDCS 2020) price a look;
//! their priors and lookahead are not in it.

use super::by_price::Corner;
use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::settings::strategy_settings;
use super::trials::{self, TrialOutcome, Trials};
use super::{BuildResult, Depends, Forecast, Objective, Past, Recipe, Strategy, Task};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_read::input::checked::{Count, ShareOf};

/// What a run that was given up or failed is taken for, beyond what it came to: a third more.
const BEYOND: f64 = 0.3;

strategy_settings! {
    /// Settings of expected improvement per cost.
    pub struct EiPerCostSettings {
        /// Runs, whatever is expected of further ones; without it, its own rule says when to stop.
        #[serde(skip_serializing_if = "Option::is_none")]
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
        Ok(Box::new(EiPerCost(self.clone())))
    }
}

struct EiPerCost(EiPerCostSettings);

impl Strategy for EiPerCost {
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
        let settings = &self.0;
        let count = task.space.len();
        let budget = trials::runs(settings.budget, count);
        let features = Features::for_space(task.space, task.prices);
        let mut process = GaussianProcess::new(&features, count);
        let mut trials = Trials::new(task, testbed, forecast);
        let mut worst = f64::NEG_INFINITY;
        let corner = match task.objective {
            Some(Objective::Time) => Corner::Dearest,
            _ => Corner::Cheapest,
        };
        let mut first = corner.order(task).into_iter().map(|(at, _)| at).take(2);
        while trials.goes_on(budget) {
            let beliefs = process.beliefs();
            let best = trials.best.map(|(_, value)| value);
            if best == Some(0.0) {
                break; // nothing is better than for nothing
            }
            let at = match (first.next(), &beliefs) {
                (Some(at), _) => at,
                // Nothing is known yet of how values vary: as they come.
                (None, None) => match trials.left().next() {
                    Some(at) => at,
                    None => break,
                },
                (None, Some(beliefs)) => {
                    let log_best = best.map_or(worst, libm::log);
                    let gain = |at: usize| beliefs[at].log_improvement(log_best);
                    // Of a log-normal value.
                    let takes = |at: usize| {
                        let b = &beliefs[at];
                        libm::exp(b.mean + 0.5 * b.deviation * b.deviation - log_best)
                    };
                    let Some((at, _)) = trials.most(|at| gain(at) / takes(at)) else {
                        break;
                    };
                    let enough = trials.is_reached && trials.count >= settings.least.get() as usize;
                    let most = trials.left().map(gain).fold(0.0, f64::max);
                    if settings.budget.is_none() && enough && most < settings.stop_below.get() {
                        break;
                    }
                    at
                }
            };
            let cap = best.filter(|_| settings.give_up);
            let log = match trials.run(at, cap)? {
                TrialOutcome::Reached(value) => libm::log(value),
                TrialOutcome::Above(value) => libm::log(value) + BEYOND,
                TrialOutcome::Failed(value) => libm::log(value).max(worst) + BEYOND,
            };
            if log.is_finite() {
                worst = worst.max(log);
                process.observe(at, log);
            }
        }
        trials.decide()
    }
}
