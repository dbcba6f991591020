//! Strategies: how a configuration is searched for. A strategy is built once per workload from its [`Task`] and what it takes
//! of the [`Past`], then searches many times on a testbed and leaves a decision, or a [`Forecast`] of the time to the target
//! per configuration, from which the objective picks.
//!
//! A new strategy is a file here and a line in [`registry`]. The oracle is not a search: the experiment gives it the truth.

mod a_optimal;
pub mod average_best;
mod belief;
pub mod bo_step_time;
pub mod by_price;
pub mod cherrypick;
pub mod collaborative_filtering;
pub mod coordinate_descent;
pub mod ei_per_cost;
pub mod ernest;
pub mod external;
mod features;
pub mod fixed;
pub mod full;
mod gaussian_process;
mod goal;
pub mod latin_hypercube;
mod layer_model;
mod lookahead;
pub mod lynceus;
mod machines;
pub mod models;
pub mod no_search;
pub mod objective;
pub mod one_run;
pub mod online;
mod other_jobs;
mod outlook;
pub mod partial;
pub mod past;
pub mod planner;
mod prober;
mod products;
pub mod random;
pub mod random_forest;
pub mod registry;
mod regression_forest;
pub mod rgpe;
pub mod same_job;
pub mod settings;
pub mod space;
pub mod srifty_like;
pub mod successive_halving;
pub mod task;
mod trials;
pub mod trimtuner_like;
mod universal_model;
pub mod value_of_information;
pub mod value_of_information_history;

pub use external::ConversationStrategy;
pub use goal::Goal;
pub use layer_model::LayerModel;
pub use objective::{Limits, Objective, Point};
pub use past::{Offer, Past, UsedPastRun};
pub use registry::{ALL_KNOWING, CLAIRVOYANT, DEFAULT, ORACLE, Registry, STRATEGIES, Settings};
pub use task::{Depends, Prices, Task, WorkloadFacts};

use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;

/// Why a strategy cannot be used on a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableStrategy(pub String);

/// A strategy that is ready for a workload, or why there is none.
type BuildResult = Result<Box<dyn Strategy>, UnusableStrategy>;

/// Settings of a strategy: they say what it is and build it for a workload.
pub trait Recipe: Send + Sync {
    /// One line for people. Strategies that come with scavsim declare theirs.
    fn summary(&self) -> &str {
        ""
    }

    /// The strategy, ready for one workload. What it knows of earlier runs it takes from `past` here.
    ///
    /// # Errors
    /// [`UnusableStrategy`] when the workload lacks what the strategy needs to know.
    fn build(
        &self,
        task: &Task<'_>,
        past: &mut Past<'_>,
    ) -> Result<Box<dyn Strategy>, UnusableStrategy>;
}

/// A search strategy, ready for one workload.
///
/// Threads share it: what a search remembers lives in `search`. `examples/own_strategy.rs` is a whole one.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::{Depends, Extent, Forecast, Stop, Strategy, Stream, Task, Testbed};
///
/// /// Runs every configuration to the target and takes the cheapest.
/// struct ExhaustiveSearch;
///
/// impl Strategy for ExhaustiveSearch {
///     fn depends(&self) -> Depends {
///         Depends::PRICES
///     }
///     fn search(
///         &self,
///         task: &Task<'_>,
///         testbed: &mut dyn Testbed,
///         _: &mut Stream,
///         forecast: &mut Forecast,
///     ) -> Result<(), Stop> {
///         let mut least_usd = f64::INFINITY;
///         for at in 0..task.space.len() {
///             let before_usd = testbed.spent().usd.unwrap_or(0.0);
///             testbed.probe(at, Extent::ToTarget)?;
///             let usd = testbed.spent().usd.unwrap_or(0.0) - before_usd;
///             if usd < least_usd {
///                 (least_usd, forecast.decided) = (usd, Some(at));
///             }
///         }
///         Ok(())
///     }
/// }
/// assert!(ExhaustiveSearch.depends().prices);
/// ```
pub trait Strategy: Send + Sync {
    /// What the search depends on: it is told no more.
    fn depends(&self) -> Depends {
        Depends::NOTHING
    }

    /// Searches: probes on `testbed` as it likes and fills `forecast`. `stream` is for choices
    /// that the strategy makes at random.
    ///
    /// # Errors
    /// [`Stop`] when the testbed ends the search.
    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop>;
}

/// The strategy that depends on this, and searches so.
fn ready<S>(depends: Depends, search: S) -> BuildResult
where
    S: Fn(&Task<'_>, &mut dyn Testbed, &mut Stream, &mut Forecast) -> Result<(), Stop>,
    S: Send + Sync + 'static,
{
    Ok(Box::new(ReadyStrategy { depends, search }))
}

struct ReadyStrategy<S> {
    depends: Depends,
    search: S,
}

impl<S> Strategy for ReadyStrategy<S>
where
    S: Fn(&Task<'_>, &mut dyn Testbed, &mut Stream, &mut Forecast) -> Result<(), Stop>,
    S: Send + Sync,
{
    fn depends(&self) -> Depends {
        self.depends
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        (self.search)(task, testbed, stream, forecast)
    }
}

/// What a search comes to: what it expects of each configuration, or a decision.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Forecast;
///
/// let mut forecast = Forecast::default();
/// forecast.reset(3); // what an experiment does before each search
/// forecast.predict(1, 7200.0);
/// forecast.predict(2, -1.0); // no time: no prediction
/// assert_eq!(forecast.time_s, [None, Some(7200.0), None]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// Predicted seconds to the target from the start; `None` without a prediction.
    pub time_s: Vec<Option<f64>>,
    /// The choice, where the strategy makes it itself; else the objective picks from the times.
    pub decided: Option<usize>,
    /// What is chosen instead, one after the other, where the choice turns out never to reach the target; after these what
    /// the objective picks from the times.
    pub instead: Vec<usize>,
    /// A configuration that was predicted and does not exist.
    stray: Option<usize>,
}

impl Forecast {
    /// Empty, for `count` configurations, keeping the memory.
    pub fn reset(&mut self, count: usize) {
        self.time_s.clear();
        self.time_s.resize(count, None);
        self.decided = None;
        self.instead.clear();
        self.stray = None;
    }

    /// Predicts `time_s` for a configuration. A model that leaves its range can produce a time
    /// that is not above zero: that is no prediction.
    pub fn predict(&mut self, configuration: usize, time_s: f64) {
        if time_s.is_finite() && time_s > 0.0 {
            match self.time_s.get_mut(configuration) {
                Some(place) => *place = Some(time_s),
                None => self.stray = Some(configuration),
            }
        }
    }

    /// Decides for the first, and after it for the next ones; fails for this reason where there is none.
    fn decide_in_order(
        &mut self,
        mut order: impl Iterator<Item = usize>,
        why: &str,
    ) -> Result<(), Stop> {
        let first = order.next();
        self.decided = Some(first.ok_or_else(|| Stop::Failed(why.to_owned()))?);
        self.instead.extend(order);
        Ok(())
    }

    /// The first thing that a forecast of `count` configurations cannot say, in words.
    pub fn fault(&self, count: usize) -> Option<String> {
        if let Some(stray) = self.stray {
            return Some(format!(
                "the strategy predicts configuration {stray} of {count}"
            ));
        }
        if let Some(stray) = self.instead.iter().find(|at| **at >= count) {
            return Some(format!(
                "the strategy would choose configuration {stray} of {count}: what is not in its space is a hole, which \
                 nobody can pick"
            ));
        }
        let length = self.time_s.len();
        (length != count)
            .then(|| format!("the strategy predicts {length} configurations of {count}"))
    }
}
