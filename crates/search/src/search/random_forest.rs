//! Bayesian optimisation with a random forest: what SMAC does (LION 2011). Whole runs, the first from a Latin hypercube; each
//! further one is where a forest over logarithms expects the value to fall furthest below the best so far, or now and then
//! drawn at random. Theirs too: ten trees, how they are grown, and how often a run is drawn. Not theirs: first runs are at
//! most a quarter and at least three; every configuration is asked, in place of a search for the best; a failed run counts as
//! a third more than the worst.

use super::features::Features;
use super::latin_hypercube::design;
use super::regression_forest::RegressionForest;
use super::trials::{Model, TrialOutcome, Trials, runs};
use super::{BuildResult, Depends, Past, Recipe, Task, ready};
use scavsim_base::rng::Stream;
use scavsim_base::settings;
use scavsim_read::input::checked::{Count, ShareOf};

const FIRST: usize = 3;

settings! {
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
        let settings = self.clone();
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let count = task.space.len();
            let budget = runs(Some(settings.budget), count);
            let features = Features::for_space(task.space, task.prices);
            let first = FIRST.max(budget / 4).min(budget);
            let first = design(&features, count, first, stream);
            let model = RandomForest {
                random_share: settings.random_share.get(),
                features: &features,
                seen: Vec::new(),
                worst: f64::NEG_INFINITY,
                stream,
            };
            Trials::new(task, testbed, forecast).search(budget, first, model)
        })
    }
}

struct RandomForest<'s> {
    random_share: f64,
    features: &'s Features,
    /// Logarithms of what runs came to.
    seen: Vec<(usize, f64)>,
    worst: f64,
    stream: &'s mut Stream,
}

impl Model for RandomForest<'_> {
    fn learn(&mut self, at: usize, outcome: TrialOutcome) {
        let log = outcome.log(self.worst);
        if log.is_finite() {
            self.worst = self.worst.max(log);
            self.seen.push((at, log));
        }
    }

    fn next(&mut self, trials: &Trials<'_, '_>) -> Option<(usize, Option<f64>)> {
        let best = trials.best.map(|(_, value)| value);
        if best == Some(0.0) {
            return None; // nothing is better than for nothing
        }
        let is_drawn = self.stream.uniform() < self.random_share;
        let forest = RegressionForest::grow(self.features, &self.seen, self.stream);
        let at = match forest.filter(|_| !is_drawn) {
            None => trials.any_left(self.stream),
            Some(forest) => {
                let best = best.map_or(self.worst, libm::log);
                let belief = |at: usize| forest.belief(self.features.row(at));
                trials.most(|at| belief(at).log_improvement(best))?.0
            }
        };
        Some((at, None))
    }
}
