//! What a strategy can touch.
//!
//! A strategy never sees the world. It gets a [`Testbed`]: the configurations it may choose from,
//! a way to start and to probe them, and the clock and the bill running meanwhile. What earlier
//! runs left behind comes as [`History`].
//!
//! - [`simulated`]: the simulated cluster as a testbed.
//! - [`history`]: what an earlier run of a workload left behind.

pub mod history;
pub mod simulated;

pub use history::{History, PastRun};
pub use simulated::SimulatedCluster;

use crate::training::Unfinished;

/// What a probe of one configuration shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Mean seconds of a step.
    pub step_s: f64,
    /// Of these, compute and waiting at the barrier.
    pub compute_s: f64,
    /// Of these, exposed communication.
    pub communication_s: f64,
    /// Normalised SGD noise γ/K as read, where it can be.
    pub noise_normalised: Option<f64>,
}

/// Why a search ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The probes themselves have trained the model to its target.
    #[error("the target was reached during the search")]
    TargetReached,
    /// The job does not come to its end.
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
}

/// A cluster that configurations can be tried on. Configurations are named by their index in the
/// list the strategy was built with.
pub trait Testbed {
    /// Trains `steps` steps in a configuration until its noise has settled.
    ///
    /// # Errors
    /// [`Stop`] when the search is over.
    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop>;

    /// Trains `steps` steps (at least 1) in a configuration and looks at them.
    ///
    /// # Errors
    /// [`Stop`] when the search is over.
    fn probe(&mut self, configuration: usize, steps: u64) -> Result<Observation, Stop>;
}
