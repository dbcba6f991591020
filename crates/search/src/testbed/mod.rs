//! What a strategy can touch, and what an experiment can. A strategy never sees the truth. It gets a [`Testbed`]: a way to
//! start and to probe the configurations of its task, the clock, and the bill where it depends on prices. What earlier runs
//! left behind comes as [`History`].

pub mod by_replica;
pub mod environment;
pub mod history;
pub mod job_trial;
pub mod metered;
pub mod plan_metrics;
pub mod simulated;
pub mod stepwise;
pub mod transcript;
pub mod work_trial;
pub mod world;

pub use environment::{Environment, Facts, Point, Terms};
pub use history::{History, PastRun};
pub use job_trial::{JobTrial, Length, Timeline};
pub use metered::{Metered, TestbedExchange, TestbedRequest};
pub use plan_metrics::PlanMetrics;
pub use simulated::SimulatedCluster;

use std::borrow::Cow;

use scavsim_read::input::foreign::harmless;
use scavsim_sim::training::UnfinishedJob;

/// How long a probe goes on.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Extent;
///
/// let looks = [Extent::Steps(20), Extent::Share(0.01), Extent::Seconds(60.0), Extent::Usd(0.5)];
/// assert_ne!(looks[0], Extent::ToTarget);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Extent {
    /// So many steps, at least 1.
    Steps(u64),
    /// This share of a run to the target, above 0 and at most 1.
    Share(f64),
    /// A run of its own, from scratch to the target.
    ToTarget,
    /// A run to the target, given up when so many seconds have passed since it was asked for.
    ToTargetInSeconds(f64),
    /// A run to the target, given up when it has cost so many USD; for strategies that depend on prices.
    ToTargetForUsd(f64),
    /// A cheap version of a whole run, such as one on part of the data, that has this share of it: one of
    /// [`Task::fidelities`](crate::search::Task::fidelities). It is charged what it took; a configuration that was not
    /// run so shows nothing, for nothing.
    Fidelity(f64),
    /// Until so many seconds have passed since it was asked for, VMs that start included.
    Seconds(f64),
    /// Until it has cost so many USD; for strategies that depend on prices.
    Usd(f64),
    /// So many passes over every layer by itself on one VM, at every degree and micro-batch of the space: what planners are
    /// made from. Only where models are cut over GPUs.
    Profile(u64),
}

/// What a probe of one configuration shows. What it does not show is `None`.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::{Observation, Target};
///
/// let mut seen = Observation::default();
/// seen.target = Target::MoreThan(600.0);
/// assert_eq!(seen.step_s, None); // a testbed without steps shows none
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Observation {
    /// Steps that were seen.
    pub steps: Option<u64>,
    /// Mean seconds of a step.
    pub step_s: Option<f64>,
    /// Whether that is the time of a whole run over its steps, and no figure of its own.
    pub step_is_of_run: bool,
    /// Seconds of the run for compute and waiting at the barrier.
    pub compute_s: Option<f64>,
    /// Seconds of the run for exposed communication.
    pub communication_s: Option<f64>,
    /// Normalised SGD noise γ/K as read.
    pub noise_normalised: Option<f64>,
    /// What the target is about, such as an accuracy, as far as the probe came.
    pub quality: Option<f64>,
    /// What it showed of the time to the target.
    pub target: Target,
}

impl Observation {
    /// So many steps of so many seconds, and what they show of the target.
    #[doc(hidden)]
    #[inline]
    pub fn of_steps(steps: Option<u64>, step_s: Option<f64>, target: Target) -> Observation {
        Observation {
            steps,
            step_s,
            target,
            ..Observation::default()
        }
    }
}

/// What a probe shows of the time from the start to the target in one configuration.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Target;
///
/// /// The least time to the target that a probe leaves possible, in seconds.
/// fn at_least(seen: Target) -> f64 {
///     match seen {
///         Target::Reached(seconds) | Target::MoreThan(seconds) => seconds,
///         Target::Failed(_) => f64::INFINITY,
///         _ => 0.0,
///     }
/// }
/// assert_eq!(at_least(Target::MoreThan(600.0)), 600.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Target {
    /// Nothing.
    #[default]
    Unknown,
    /// More than so many seconds.
    MoreThan(f64),
    /// So many seconds.
    Reached(f64),
    /// The target is never reached: the run failed after so many seconds.
    Failed(f64),
}

/// What was spent since the start of the job.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::{Stop, Testbed};
///
/// /// Ends a search that has gone on for an hour.
/// fn within_an_hour(testbed: &mut dyn Testbed) -> Result<(), Stop> {
///     match testbed.spent().seconds > 3600.0 {
///         true => Err(Stop::Failed("searched for more than an hour".to_owned())),
///         false => Ok(()),
///     }
/// }
/// # let _ = within_an_hour;
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SearchCost {
    /// Seconds.
    pub seconds: f64,
    /// USD as if everything were released now; for strategies that depend on prices.
    pub usd: Option<f64>,
}

impl SearchCost {
    /// So many seconds and, where prices are told, USD.
    pub fn new(seconds: f64, usd: Option<f64>) -> SearchCost {
        SearchCost { seconds, usd }
    }
}

/// Why a search ends early.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Stop;
///
/// // A reason of one's own stands in the record of a case without a result.
/// let stop = Stop::Failed("the model has no solution".to_owned());
/// assert_eq!(stop.to_string(), "the model has no solution");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The job does not come to its end.
    #[error(transparent)]
    Unfinished(#[from] UnfinishedJob),
    /// Something that the strategy cannot go on with, in words.
    #[error("{0}")]
    Failed(String),
}

impl Stop {
    /// Why, for records: words from outside without what would spoil a table.
    #[doc(hidden)]
    pub fn reason(&self) -> Cow<'static, str> {
        match self {
            Stop::Unfinished(why) => why.reason(),
            Stop::Failed(why) => Cow::Owned(harmless(why).into_owned()),
        }
    }
}

/// A place where the configurations of a task can be tried. They are named by their index in its space.
///
/// Experiments bring one. To test a strategy by itself, bring your own:
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::{Extent, Observation, SearchCost, Stop, Testbed};
///
/// /// Steps of 2 s at 0.10 USD, whatever the configuration.
/// #[derive(Default)]
/// struct ConstantTestbed {
///     steps: u64,
/// }
///
/// impl Testbed for ConstantTestbed {
///     fn cold_start(&mut self, _: usize, steps: u64) -> Result<(), Stop> {
///         self.steps += steps;
///         Ok(())
///     }
///     fn probe(&mut self, _: usize, extent: Extent) -> Result<Observation, Stop> {
///         let Extent::Steps(steps) = extent else {
///             return Err(Stop::Failed("only steps can be had".to_owned()));
///         };
///         self.steps += steps;
///         let mut seen = Observation::default();
///         seen.step_s = Some(2.0);
///         Ok(seen)
///     }
///     fn spent(&mut self) -> SearchCost {
///         let seconds = 2.0 * self.steps as f64;
///         SearchCost::new(seconds, Some(0.10 * self.steps as f64))
///     }
/// }
///
/// let mut toy = ConstantTestbed::default();
/// assert_eq!(toy.probe(0, Extent::Steps(20))?.step_s, Some(2.0));
/// assert_eq!(toy.spent().seconds, 40.0);
/// # Ok::<(), Stop>(())
/// ```
pub trait Testbed {
    /// Trains `steps` steps in a configuration until its noise has settled.
    ///
    /// # Errors
    /// [`Stop`] when the search is over.
    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop>;

    /// Tries a configuration for a while and looks.
    ///
    /// # Errors
    /// [`Stop`] when the search is over, or the extent cannot be had.
    fn probe(&mut self, configuration: usize, extent: Extent) -> Result<Observation, Stop>;

    /// What was spent so far.
    fn spent(&mut self) -> SearchCost;
}
