//! How workers step: computing, meeting, communicating, in three fidelities.
//!
//! In: the step process of a cluster and the variation to add. Out: the simulated time of so many
//! updates. It knows neither VMs nor prices nor strategies.
//!
//! - [`variation`]: what varies at random, each part with its own switch.
//! - [`slowest`]: the slowest of K workers: its moments and its draws; [`waits`]: the moments, once per K.
//! - [`stepping`]: synchronous steps of one configuration in one replica, in three fidelities:
//!   [`event`], [`step`], [`fast`].
//! - [`sync`]: other ways for workers to come together.
//! - [`drift`]: the slow change of the network.
//! - [`progress`]: what can happen in a job.
//! - [`floor`]: what a protocol works with. [`log`]: what happened, for those who want to see it.

pub mod drift;
pub mod event;
pub mod fast;
pub mod floor;
pub mod log;
pub mod progress;
pub mod slowest;
pub mod step;
pub mod stepping;
pub mod sync;
pub mod variation;
pub mod waits;

pub use floor::Floor;
pub use log::Log;
pub use progress::{Stalled, Unfinished};
pub use stepping::Stepping;
pub use variation::Variation;

use serde::{Deserialize, Serialize};

/// How finely a run is simulated. All three agree in distribution; tests hold them to it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, schemars::JsonSchema,
)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Every worker's step is an event in the queue: the reference.
    Event,
    /// One draw of the slowest worker per step, no queue inside a step.
    Step,
    /// All steps between two changes of the cluster in one draw.
    #[default]
    Fast,
}

impl Fidelity {
    /// Name in scenarios and results.
    pub fn name(self) -> &'static str {
        match self {
            Fidelity::Event => "event",
            Fidelity::Step => "step",
            Fidelity::Fast => "fast",
        }
    }
}
