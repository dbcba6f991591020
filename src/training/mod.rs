//! A training job on a cluster, as events.
//!
//! In: a workload's truth about each configuration and the variation to add. Out: the simulated
//! time and the usage (which VMs were held from when to when) of one job. It knows neither prices
//! nor strategies.
//!
//! - [`variation`]: what varies at random, each part with its own switch.
//! - [`slowest`]: the slowest of K workers: its moments and its draws.
//! - [`world`]: everything about a configuration that is computed once, before any run.
//! - [`luck`]: what one replica deals to one configuration.
//! - [`stepping`]: synchronous steps of one configuration in one replica, in three fidelities:
//!   [`event`], [`step`], [`fast`].
//! - [`sync`]: other ways for workers to come together.
//! - [`drift`]: the slow change of the network.
//! - [`progress`]: what can happen in a job.
//! - [`ledger`]: which VMs are held.
//! - [`floor`]: what a protocol works with. [`log`]: what happened, for those who want to see it.
//! - [`batching`]: unequal workers in one cluster and the controller that balances them.
//! - [`job`]: request VMs → start-up → restore → train → release.
//! - [`live`]: clusters that change while they train: VMs lost and replaced, other sizes.
//! - [`checkpoint`]: when a job saves its state, and how long it takes with losses.

pub mod batching;
pub mod checkpoint;
pub mod drift;
pub mod event;
pub mod fast;
pub mod floor;
pub mod job;
pub mod ledger;
pub mod live;
pub mod log;
pub mod luck;
pub mod progress;
pub mod slowest;
pub mod step;
pub mod stepping;
pub mod sync;
pub mod variation;
pub mod world;

pub use floor::Floor;
pub use job::Job;
pub use live::{Checkpoints, Keeps, Spot};
pub use log::Log;
pub use progress::{Stalled, Unfinished};
pub use stepping::Stepping;
pub use variation::Variation;
pub use world::{Truth, World};

use serde::{Deserialize, Serialize};

/// How finely a run is simulated. All three agree in distribution; tests hold them to it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Deserialize,
    Serialize,
    schemars::JsonSchema,
    clap::ValueEnum,
)]
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
