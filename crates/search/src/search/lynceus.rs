//! Lynceus (ICDCS 2020): Bayesian optimisation that looks ahead and has a budget. Whole runs, the first from a Latin
//! hypercube over 3 % of the space (at most half of a budget of runs). Each further one begins the path of runs that is
//! expected to improve most over what it takes: the run, and with each of three values that it may come to, the one that
//! would follow. Only runs that the rest of the budget pays for with 99 % are asked. A run is given up at the best value so
//! far, and counts as what the model expects above it.

use super::belief::Belief;
use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::latin_hypercube::design;
use super::lookahead::{Imagined, Lookahead, is_paid, ratio};
use super::regression_forest::RegressionForest;
use super::trials::{Model, TrialOutcome, Trials, check_size, most_values, runs};
use super::{BuildResult, Depends, Past, Recipe, Task, ready};
use scavsim_base::rng::Stream;
use scavsim_base::settings;
use scavsim_read::input::checked::{Count, Positive, ShareOf, StepsAhead};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Configurations at most: of more it makes hundreds of runs, each of which is a row over all of them, and ranks all after each.
const MOST: usize = 50_000;
/// First runs at most; their twelve of 384 configurations were less.
const MOST_FIRST: usize = 30;
/// Candidates that are looked ahead from: those with the greatest improvement over what they take themselves.
const WIDTH: usize = 32;

settings! {
    /// Settings of Lynceus.
    pub struct LynceusSettings {
        /// Runs, whatever they take; without it, `spend` says when to stop.
        pub budget: Option<Count>,
        /// Share of the space that is run before anything is modelled; at least 2 configurations and at most 30, or half of `budget`.
        pub first_share: ShareOf = ShareOf::new(0.03).expect("it is a share"),
        /// What the whole search may take, over what its first runs took.
        pub spend: Positive = Positive::new(3.0).expect("it is positive"),
        /// Runs that it looks ahead; with 0 it asks for expected improvement over what a run takes.
        pub lookahead: StepsAhead = StepsAhead::new(1).expect("it is at most 2"),
        /// What a run that comes later counts, over the one before it.
        pub discount: ShareOf = ShareOf::new(0.9).expect("it is a share"),
        /// Whether a run is given up when it has come to the best value so far.
        pub give_up: bool = true,
        /// What is believed of runs.
        pub model: RunModel = RunModel::GaussianProcess,
    }

    name: "lynceus",
    what: "Bayesian optimisation with a step of lookahead: expected improvement over what a path of runs takes, in a budget",
    formula: "probes: runs to the target that begin the path with the most expected improvement over what the path takes",
    source: "Casimiro et al., Lynceus, ICDCS 2020, and the program of its authors",
    example: "strategy.lynceus = { lookahead = 1, discount = 0.9 }",
}

/// What believes of whole runs, from those that were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunModel {
    /// A Gaussian process, Matérn 5/2.
    #[default]
    GaussianProcess,
    /// Ten regression trees, each on runs drawn with repetition: their mean and how they differ.
    BaggedTrees,
}

impl Recipe for LynceusSettings {
    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        check_size(task, MOST)?;
        let settings = self.clone();
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let count = task.space.len();
            let budget = runs(settings.budget, count);
            let features = Features::for_space(task.space, task.prices);
            let first = (settings.first_share.get() * count as f64).ceil() as usize;
            // A budget leaves as many runs to what the first ones tell.
            let first = first
                .clamp(2, MOST_FIRST)
                .min(budget.div_ceil(2).max(2))
                .min(budget);
            let first = design(&features, count, first, stream);
            let model = Lynceus {
                settings: &settings,
                most: most_values(task),
                process: GaussianProcess::new(&features, count),
                seen: Vec::new(),
                features: &features,
                stream: stream.clone(),
                asked: None,
                taken: 0.0,
                left: None,
            };
            Trials::new(task, testbed, forecast).search(budget, first, model)
        })
    }
}

struct Lynceus<'s> {
    settings: &'s LynceusSettings,
    most: Vec<f64>,
    process: GaussianProcess<'s>,
    /// What trees are grown on.
    seen: Vec<(usize, f64)>,
    features: &'s Features,
    /// Draws what each tree is grown on.
    stream: Stream,
    /// What was believed of the run that was asked for.
    asked: Option<Belief>,
    /// What the first runs took.
    taken: f64,
    /// What further ones may take; `None` before the first of them.
    left: Option<f64>,
}

impl Model for Lynceus<'_> {
    fn learn(&mut self, at: usize, outcome: TrialOutcome) {
        let above = |value: f64| self.asked.map_or(value, |belief| belief.mean_above(value));
        let worst = self.process.worst.max(0.0);
        let (value, own) = match outcome {
            TrialOutcome::Reached(value) => (value, value),
            TrialOutcome::Above(value) => (above(value), value),
            TrialOutcome::Failed(value) => (above(value).max(worst), value),
        };
        if value.is_finite() && own.is_finite() {
            match &mut self.left {
                Some(left) => *left -= own,
                None => self.taken += own,
            }
            match self.settings.model {
                RunModel::GaussianProcess => self.process.learn(at, value),
                RunModel::BaggedTrees => {
                    self.process.worst = self.process.worst.max(value);
                    self.seen.push((at, value));
                }
            }
        }
    }

    fn next(&mut self, trials: &Trials<'_, '_>) -> Option<(usize, Option<f64>)> {
        let known = trials.best.map(|(_, value)| value);
        if known == Some(0.0) {
            return None; // nothing is better than for nothing
        }
        let left = *self.left.get_or_insert(match self.settings.budget {
            Some(_) => f64::INFINITY,
            None => (self.settings.spend.get() - 1.0) * self.taken,
        });
        let forest = match self.settings.model {
            RunModel::GaussianProcess => None,
            RunModel::BaggedTrees => {
                RegressionForest::grow(self.features, &self.seen, &mut self.stream)
            }
        };
        let of_trees = |forest: &RegressionForest| {
            let all = 0..trials.tried.len();
            all.map(|at| forest.belief(self.features.row(at))).collect()
        };
        let beliefs: Option<Vec<Belief>> = match &forest {
            Some(forest) => Some(of_trees(forest)),
            None => self.process.beliefs(),
        };
        let at = match &beliefs {
            None => trials.left().next()?,
            Some(beliefs) => {
                let widest = beliefs.iter().map(|b| b.deviation).fold(0.0, f64::max);
                // Without a run that keeps the limits, anything is better than all that was seen.
                let best = known.unwrap_or(self.process.worst.max(0.0) + 3.0 * widest);
                let pays = |at: &usize| !trials.is_reached || is_paid(&beliefs[*at], left);
                self.best_path((beliefs, forest), trials.left().filter(pays), (best, left))?
            }
        };
        self.asked = beliefs.map(|beliefs| beliefs[at]);
        Some((at, known.filter(|_| self.settings.give_up)))
    }
}

impl Lynceus<'_> {
    /// The first of the best path, of those that are payable.
    fn best_path(
        &self,
        (beliefs, forest): (&[Belief], Option<RegressionForest>),
        payable: impl Iterator<Item = usize>,
        (best, left): (f64, f64),
    ) -> Option<usize> {
        let alone = |at: usize| {
            let belief = &beliefs[at];
            let gain = belief.improvement(best) * belief.at_most(self.most[at]);
            (at, ratio((gain, belief.above_zero())))
        };
        let mut ranked: Vec<(usize, f64)> = payable.map(alone).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let steps = self.settings.lookahead.get();
        if steps == 0 {
            return ranked.first().map(|(at, _)| *at);
        }
        ranked.truncate(WIDTH);
        let candidates: Vec<usize> = ranked.into_iter().map(|(at, _)| at).collect();
        let ahead = Lookahead {
            most: candidates.iter().map(|&at| self.most[at]).collect(),
            discount: self.settings.discount.get(),
        };
        let paths: Vec<f64> = match forest {
            None => {
                let outlook = self.process.outlook(&candidates)?;
                ratios(&ahead, &outlook.view(), (best, left, steps))
            }
            Some(forest) => {
                let view = ImaginedTrees {
                    features: self.features,
                    candidates: &candidates,
                    seen: self.seen.clone(),
                    stream: self.stream.clone(),
                    forest,
                };
                ratios(&ahead, &view, (best, left, steps))
            }
        };
        let all = candidates.into_iter().zip(paths);
        let best = all.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(at, _)| at)
    }
}

/// What the path from each candidate improves over what it takes.
fn ratios(
    ahead: &Lookahead,
    view: &impl Imagined,
    (best, left, steps): (f64, f64, u32),
) -> Vec<f64> {
    let path = |at: usize| ratio(ahead.path(view, at, best, left, steps));
    (0..ahead.most.len()).map(path).collect()
}

/// Trees that are grown again with each imagined run, from the same draws.
struct ImaginedTrees<'t> {
    features: &'t Features,
    candidates: &'t [usize],
    seen: Vec<(usize, f64)>,
    stream: Stream,
    forest: RegressionForest,
}

impl Imagined for ImaginedTrees<'_> {
    type Row = ();

    fn beliefs(&self) -> impl Iterator<Item = (usize, Belief)> {
        let is_left = |at: &usize| {
            self.seen
                .iter()
                .all(|(seen, _)| *seen != self.candidates[*at])
        };
        let places = (0..self.candidates.len()).filter(is_left);
        places.map(|at| (at, self.belief(at)))
    }

    fn belief(&self, at: usize) -> Belief {
        self.forest.belief(self.features.row(self.candidates[at]))
    }

    fn row(&self, _: usize) {}

    fn after(&self, at: usize, (): &(), value: f64) -> Self {
        let mut seen = self.seen.clone();
        seen.push((self.candidates[at], value));
        let grown = RegressionForest::grow(self.features, &seen, &mut self.stream.clone());
        ImaginedTrees {
            forest: grown.unwrap_or_else(|| self.forest.clone()),
            seen,
            stream: self.stream.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::search::Forecast;
    use crate::testbed::{Extent, History, Observation, SearchCost, Stop, Target, Testbed};
    use scavsim_base::rng::Stream;
    use scavsim_data::space::{Axis, Space};

    pub(in crate::search) fn grid(width: u32, height: u32) -> Space {
        let rows =
            (0..width * height).map(|i| [f64::from(i % width + 1), f64::from(i / width + 1)]);
        let axes = vec![Axis::numeric("x", "1"), Axis::numeric("y", "1")];
        Space::new(axes, rows.collect::<Vec<_>>()).expect("a space")
    }

    fn seconds(space: &Space, at: usize) -> f64 {
        let (x, y) = (space.value(at, 0), space.value(at, 1));
        1000.0 / x + 40.0 * x + 30.0 * (y - 3.0) * (y - 3.0) + 7.0 * ((at * 7) % 5) as f64
    }

    struct Runs<'s> {
        space: &'s Space,
        seconds: f64,
        count: usize,
    }

    impl Testbed for Runs<'_> {
        fn cold_start(&mut self, _: usize, _: u64) -> Result<(), Stop> {
            Ok(())
        }
        fn probe(&mut self, at: usize, extent: Extent) -> Result<Observation, Stop> {
            let time_s = seconds(self.space, at);
            let most = match extent {
                Extent::ToTargetInSeconds(seconds) => seconds,
                _ => f64::INFINITY,
            };
            self.seconds += time_s.min(most);
            self.count += 1;
            let target = if time_s <= most {
                Target::Reached(time_s)
            } else {
                Target::MoreThan(most)
            };
            Ok(Observation {
                target,
                ..Observation::default()
            })
        }
        fn spent(&mut self) -> SearchCost {
            SearchCost::new(self.seconds, None)
        }
    }

    fn search(space: &Space, settings: LynceusSettings) -> (Forecast, f64, usize) {
        let mut task = Task::new("made up", space);
        task.objective = Some(crate::search::Objective::Time);
        let mut forecast = Forecast::default();
        forecast.reset(space.len());
        let mut runs = Runs {
            space,
            seconds: 0.0,
            count: 0,
        };
        let mut stream = Stream::seeded(11);
        let none = History::default();
        let strategy = settings.build(&task, &mut Past::new(&none, &[]));
        let strategy = strategy.expect("few configurations");
        let done = strategy.search(&task, &mut runs, &mut stream, &mut forecast);
        done.expect("every run reaches the target");
        (forecast, runs.seconds, runs.count)
    }

    /// What it spends stays within three times its first runs but for the last run, of which one in a hundred takes more.
    #[test]
    fn it_keeps_to_its_budget() {
        let space = grid(23, 3);
        let of = |spend: f64| {
            let settings = LynceusSettings {
                spend: Positive::new(spend).expect("it is positive"),
                ..LynceusSettings::default()
            };
            search(&space, settings)
        };
        let (_, first_s, runs) = of(1.0);
        assert_eq!(runs, 3); // 3 % of 69 and no more
        for spend in [2.0, 3.0, 5.0] {
            let (forecast, seconds, runs) = of(spend);
            assert!(
                seconds <= spend * first_s * 1.05 && runs > 3,
                "{spend}: {seconds} of {first_s}"
            );
            assert!(forecast.decided.is_some());
        }
    }

    /// With 30 of 400 runs the choice of trees is among the best fiftieth; they ask for other runs than the process.
    #[test]
    fn bagged_trees_search_as_well() {
        let space = grid(40, 10);
        let of = |model: RunModel| {
            let settings = LynceusSettings {
                budget: Count::new(30),
                model,
                ..LynceusSettings::default()
            };
            search(&space, settings)
        };
        let (by_trees, _, runs) = of(RunModel::BaggedTrees);
        let (by_process, ..) = of(RunModel::GaussianProcess);
        assert_eq!(runs, 30);
        assert!(by_trees.time_s != by_process.time_s);
        let chosen = seconds(&space, by_trees.decided.expect("a choice"));
        let better = (0..space.len()).filter(|at| seconds(&space, *at) < chosen);
        let better = better.count();
        assert!(better < space.len() / 50, "{better}");
    }

    /// However few runs it has: of 400 configurations 3 % are 12, which would be all of ten. With another draw of the first five the
    /// last five are others, as the model chooses them.
    #[test]
    fn half_of_a_budget_is_left_to_search() {
        let space = grid(40, 10);
        let settings = LynceusSettings {
            budget: Count::new(10),
            ..LynceusSettings::default()
        };
        let features = Features::for_space(&space, None);
        let designed = design(&features, space.len(), 10, &mut Stream::seeded(11));
        let (forecast, _, runs) = search(&space, settings);
        assert_eq!(runs, 10);
        let tried = |at: &&usize| forecast.time_s[**at].is_some();
        assert!(designed.iter().filter(tried).count() < 10);
        let chosen = forecast.decided.expect("a choice");
        let best = designed
            .iter()
            .map(|&at| seconds(&space, at))
            .fold(f64::INFINITY, f64::min);
        assert!(seconds(&space, chosen) < best);
    }
}
