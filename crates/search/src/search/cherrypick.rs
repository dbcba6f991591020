//! CherryPick (NSDI 2017): Bayesian optimisation with expected improvement, over whole runs. The first stand in every part of
//! the space (by cores and memory too, where known); each further one is where the objective is expected to fall furthest
//! below the best so far, times the chance that it keeps the limits, by a Gaussian process over the values themselves. It
//! stops when that is less than a tenth of the best, after six runs.

use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::latin_hypercube::design;
use super::trials::{Model, TrialOutcome, Trials, most_values, runs};
use super::{BuildResult, Depends, Past, Recipe, Task, ready};
use scavsim_base::settings;
use scavsim_read::input::checked::{Count, ShareOf};

/// A failed run counts as this multiple of the worst value that was seen.
const FAILED: f64 = 1.35;

settings! {
    /// Settings of CherryPick.
    pub struct CherryPickSettings {
        /// Runs, whatever is expected of further ones; without it, its own rule says when to stop.
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
        let settings = self.clone();
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let count = task.space.len();
            let budget = runs(settings.budget, count);
            let features = Features::with_machines(task);
            let first = (settings.first.get() as usize).min(budget);
            let first = design(&features, count, first, stream);
            let model = CherryPick {
                settings: &settings,
                most: most_values(task),
                process: GaussianProcess::new(&features, count),
            };
            Trials::new(task, testbed, forecast).search(budget, first, model)
        })
    }
}

struct CherryPick<'s> {
    settings: &'s CherryPickSettings,
    most: Vec<f64>,
    process: GaussianProcess<'s>,
}

impl Model for CherryPick<'_> {
    fn learn(&mut self, at: usize, outcome: TrialOutcome) {
        let value = match outcome {
            TrialOutcome::Reached(value) => value,
            TrialOutcome::Above(value) | TrialOutcome::Failed(value) => {
                FAILED * self.process.worst.max(0.0).max(value)
            }
        };
        self.process.learn(at, value);
    }

    fn next(&mut self, trials: &Trials<'_, '_>) -> Option<(usize, Option<f64>)> {
        let settings = self.settings;
        let beliefs = self.process.beliefs();
        let worst = self.process.worst.max(0.0);
        let best = trials.best.map_or(worst, |(_, value)| value);
        let gain = |at: usize| match &beliefs {
            Some(beliefs) => beliefs[at].improvement(best) * beliefs[at].at_most(self.most[at]),
            None => f64::INFINITY,
        };
        let (at, gain) = trials.most(gain)?;
        // Nothing is better than for nothing.
        let little = best == 0.0 || gain < settings.stop_below.get() * best;
        let is_over = settings.budget.is_none() && trials.has_enough(settings.least) && little;
        (!is_over).then_some((at, None))
    }
}
