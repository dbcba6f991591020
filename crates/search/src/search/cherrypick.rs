//! CherryPick (NSDI 2017): Bayesian optimisation with expected improvement, over whole runs. The first stand in every part of
//! the space (by cores and memory too, where known); each further one is where the objective is expected to fall furthest
//! below the best so far, times the chance that it keeps the limits, by a Gaussian process over the values themselves. It
//! stops when that is less than a tenth of the best, after six runs.

use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::latin_hypercube::design;
use super::settings::strategy_settings;
use super::trials::{self, TrialOutcome, Trials, most_values};
use super::{BuildResult, Depends, Forecast, Past, Recipe, Strategy, Task};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_read::input::checked::{Count, ShareOf};

/// A failed run counts as this multiple of the worst value that was seen.
const FAILED: f64 = 1.35;

strategy_settings! {
    /// Settings of CherryPick.
    pub struct CherryPickSettings {
        /// Runs, whatever is expected of further ones; without it, its own rule says when to stop.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub budget: Option<Count>,
        /// Runs before anything is modelled.
        pub first: Count = Count::new(3).expect("3 is at least 1"),
        /// Runs before its own rule may stop it.
        pub least: Count = Count::new(6).expect("6 is at least 1"),
        /// The search stops when less than this share of the best value is expected to be gained.
        pub stop_below: ShareOf = ShareOf::new(0.1).expect("it is a share"),
    }

    name: "cherrypick",
    what: "Bayesian optimisation: expected improvement of whole runs; stops below a tenth of the best after six",
    formula: "probes: runs to the target where E[(b − Y)⁺]·P(within the limits) is greatest; Y: Gaussian process, Matérn 5/2",
    source: "Alipourfard et al., CherryPick, NSDI 2017",
    example: "strategy.cherrypick = { first = 3, least = 6, stop_below = 0.1 }",
}

impl Recipe for CherryPickSettings {
    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        Ok(Box::new(CherryPick(self.clone())))
    }
}

struct CherryPick(CherryPickSettings);

impl Strategy for CherryPick {
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
        let settings = &self.0;
        let count = task.space.len();
        let budget = trials::runs(settings.budget, count);
        let features = Features::with_machines(task);
        let most = most_values(task);
        let first = (settings.first.get() as usize).min(budget);
        let mut seen = ObservedRuns {
            process: GaussianProcess::new(&features, count),
            worst: 0.0,
        };
        let mut trials = Trials::new(task, testbed, forecast);
        for at in design(&features, count, first, stream) {
            let outcome = trials.run(at, None)?;
            seen.learn(at, outcome);
        }
        while trials.goes_on(budget) {
            let beliefs = seen.process.beliefs();
            let best = trials.best.map_or(seen.worst, |(_, value)| value);
            let gain = |at: usize| match &beliefs {
                Some(beliefs) => beliefs[at].improvement(best) * beliefs[at].at_most(most[at]),
                None => f64::INFINITY,
            };
            let Some((at, gain)) = trials.most(gain) else {
                break;
            };
            let enough = trials.is_reached && trials.count >= settings.least.get() as usize;
            // Nothing is better than for nothing.
            let little = best == 0.0 || gain < settings.stop_below.get() * best;
            if settings.budget.is_none() && enough && little {
                break;
            }
            let outcome = trials.run(at, None)?;
            seen.learn(at, outcome);
        }
        trials.decide()
    }
}

struct ObservedRuns<'f> {
    process: GaussianProcess<'f>,
    worst: f64,
}

impl ObservedRuns<'_> {
    fn learn(&mut self, at: usize, outcome: TrialOutcome) {
        let value = match outcome {
            TrialOutcome::Reached(value) => value,
            TrialOutcome::Above(value) | TrialOutcome::Failed(value) => {
                FAILED * self.worst.max(value)
            }
        };
        if value.is_finite() {
            self.worst = self.worst.max(value);
            self.process.observe(at, value);
        }
    }
}
