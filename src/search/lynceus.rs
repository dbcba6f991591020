//! Lynceus (ICDCS 2020): Bayesian optimisation that looks ahead and has a budget.
//!
//! Whole runs, the first from a Latin hypercube over 3 % of the space. Each further one begins the path of runs that
//! is expected to improve most over what it takes: the run itself, and with each of three values that it may come to
//! the one that would then be made. Only runs that the rest of the budget pays for with 99 % are asked. A run is
//! given up at the best value so far, and counts as what the model expects above it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::latin_hypercube::design;
use super::outlook::View;
use super::trials::{self, Outcome, Trials, most_values};
use super::{Depends, Forecast, Past, Recipe, Strategy, Task, Unusable};
use crate::input::checked::{Count, Positive, ShareOf, StepsAhead};
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Nodes of a Gauss-Hermite quadrature of three points, in deviations from the mean, and their weights.
const NODES: [(f64, f64); 3] = [
    (-1.732_050_807_568_877_2, 1.0 / 6.0),
    (0.0, 2.0 / 3.0),
    (1.732_050_807_568_877_2, 1.0 / 6.0),
];
/// Φ⁻¹(0.99).
const SURE: f64 = 2.326_347_874_040_841;
/// Candidates that are looked ahead from: those with the greatest improvement over what they take themselves.
const WIDTH: usize = 64;

/// Settings of Lynceus.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LynceusSettings {
    /// Runs, whatever they take; without it, `spend` says when to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Count>,
    /// Share of the space that is run before anything is modelled; at least two configurations.
    pub first_share: ShareOf,
    /// What the whole search may take, over what its first runs took.
    pub spend: Positive,
    /// Runs that it looks ahead; with 0 it asks for expected improvement over what a run takes.
    pub lookahead: StepsAhead,
    /// What a run that comes later counts, over the one before it.
    pub discount: ShareOf,
    /// Whether a run is given up when it has come to the best value so far.
    pub give_up: bool,
}

impl Default for LynceusSettings {
    fn default() -> Self {
        LynceusSettings {
            budget: None,
            first_share: ShareOf::new(0.03).expect("it is a share"),
            spend: Positive::new(3.0).expect("it is positive"),
            lookahead: StepsAhead::new(1).expect("it is at most 2"),
            discount: ShareOf::new(0.9).expect("it is a share"),
            give_up: true,
        }
    }
}

impl Recipe for LynceusSettings {
    fn summary(&self) -> &str {
        "Bayesian optimisation with a step of lookahead: expected improvement over what a path of runs takes, in a budget"
    }

    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        Ok(Box::new(Lynceus(self.clone())))
    }
}

struct Lynceus(LynceusSettings);

impl Strategy for Lynceus {
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
        let features = Features::of(task.space, task.prices);
        let most = most_values(task);
        let mut process = GaussianProcess::new(&features, count);
        let mut trials = Trials::new(task, testbed, forecast);
        let (mut worst, mut taken) = (0.0_f64, 0.0);
        let first = (settings.first_share.get() * count as f64).ceil() as usize;
        for at in design(&features, count, first.max(2).min(budget), stream) {
            if let Some((value, own)) = model_value(trials.run(at, None)?, None, worst) {
                (worst, taken) = (worst.max(value), taken + own);
                process.observe(at, value);
            }
        }
        let mut left = match settings.budget {
            Some(_) => f64::INFINITY,
            None => (settings.spend.get() - 1.0) * taken,
        };
        while trials.goes_on(budget) {
            let best = trials.best.map(|(_, value)| value);
            if best == Some(0.0) {
                break; // nothing is better than for nothing
            }
            let beliefs = process.beliefs();
            let next = match &beliefs {
                None => trials.left().next(),
                Some(beliefs) => {
                    let widest = beliefs.iter().map(|b| b.deviation).fold(0.0, f64::max);
                    // Without a run that keeps the limits, anything is better than all that was seen.
                    let best = best.unwrap_or(worst + 3.0 * widest);
                    let pays = |at: &usize| !trials.is_reached || is_paid(&beliefs[*at], left);
                    let payable: Vec<usize> = trials.left().filter(pays).collect();
                    self.next(&process, beliefs, &most, payable, (best, left))
                }
            };
            let Some(at) = next else { break };
            let cap = best.filter(|_| settings.give_up);
            let belief = beliefs.map(|beliefs| beliefs[at]);
            if let Some((value, own)) = model_value(trials.run(at, cap)?, belief, worst) {
                (worst, left) = (worst.max(value), left - own);
                process.observe(at, value);
            }
        }
        trials.decide()
    }
}

/// What the model takes an outcome for, and what the run itself came to; `None` where nothing is known of it.
fn model_value(outcome: Outcome, belief: Option<Belief>, worst: f64) -> Option<(f64, f64)> {
    let above = |value: f64| belief.map_or(value, |belief| belief.mean_above(value));
    let (value, own) = match outcome {
        Outcome::Reached(value) => (value, value),
        Outcome::Above(value) => (above(value), value),
        Outcome::Failed(value) => (above(value).max(worst), value),
    };
    (value.is_finite() && own.is_finite()).then_some((value, own))
}

/// Whether so much pays for a run with 99 %.
fn is_paid(belief: &Belief, left: f64) -> bool {
    belief.mean + SURE * belief.deviation <= left
}

/// A path of runs: what it is expected to improve and to take.
type Path = (f64, f64);

impl Lynceus {
    /// The first of the best path, of those that are payable.
    fn next(
        &self,
        process: &GaussianProcess<'_>,
        beliefs: &[Belief],
        most: &[f64],
        payable: Vec<usize>,
        (best, left): (f64, f64),
    ) -> Option<usize> {
        let alone = |&at: &usize| {
            let belief = &beliefs[at];
            let gain = belief.improvement(best) * belief.at_most(most[at]);
            (at, ratio((gain, belief.above_zero())))
        };
        let mut ranked: Vec<(usize, f64)> = payable.iter().map(alone).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let steps = self.0.lookahead.get();
        if steps == 0 {
            return ranked.first().map(|(at, _)| *at);
        }
        ranked.truncate(WIDTH);
        let candidates: Vec<usize> = ranked.into_iter().map(|(at, _)| at).collect();
        let outlook = process.outlook(&candidates)?;
        let ahead = Ahead {
            most: candidates.iter().map(|&at| most[at]).collect(),
            discount: self.0.discount.get(),
        };
        let view = outlook.view();
        (0..candidates.len())
            .map(|at| (at, ratio(ahead.path(&view, at, best, left, steps))))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(at, _)| candidates[at])
    }
}

/// Improvement over what it takes.
fn ratio((gain, takes): Path) -> f64 {
    gain / takes.max(f64::MIN_POSITIVE)
}

/// A look ahead over a few candidates.
struct Ahead {
    /// The greatest value of each that keeps the limits.
    most: Vec<f64>,
    discount: f64,
}

impl Ahead {
    /// The path that begins with a run of candidate `at`, against the `best` value so far, with so much `left` to be spent.
    fn path(&self, view: &View<'_>, at: usize, best: f64, left: f64, steps: u32) -> Path {
        let belief = view.belief(at);
        let mut gain = belief.improvement(best) * belief.at_most(self.most[at]);
        let mut takes = belief.above_zero();
        if steps == 0 {
            return (gain, takes);
        }
        let row = view.row(at);
        for (node, weight) in NODES {
            let value = belief.mean + node * belief.deviation;
            if value <= 0.0 || value >= left {
                continue; // no such value, or nothing left to go on with
            }
            let after = view.after(at, &row, value);
            let best = match value <= self.most[at] {
                true => best.min(value),
                false => best,
            };
            if let Some(next) = self.greatest(&after, best, left - value) {
                let (more, cost) = self.path(&after, next, best, left - value, steps - 1);
                gain += self.discount * weight * more;
                takes += self.discount * weight * cost;
            }
        }
        (gain, takes)
    }

    /// The payable candidate that is expected to improve most by itself.
    fn greatest(&self, view: &View<'_>, best: f64, left: f64) -> Option<usize> {
        let mut greatest: Option<(usize, f64)> = None;
        for (at, belief) in view.beliefs() {
            // Improvement is at most what the mean and the deviation allow: s·φ(0) above the gain of the mean.
            let bound = (best - belief.mean).max(0.0) + 0.4 * belief.deviation;
            if greatest.is_some_and(|(_, gain)| bound <= gain) || !is_paid(&belief, left) {
                continue;
            }
            let gain = belief.improvement(best) * belief.at_most(self.most[at]);
            if greatest.is_none_or(|(_, most)| gain > most) {
                greatest = Some((at, gain));
            }
        }
        greatest.map(|(at, _)| at)
    }
}
