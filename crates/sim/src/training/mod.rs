//! How workers step: computing, meeting, communicating, in two fidelities.
//!
//! In: the step process of a cluster and the variation to add. Out: the simulated time of so many
//! updates. It knows neither VMs nor prices nor strategies.
//!
//! - [`variation`]: what varies at random, each part with its own switch.
//! - [`slowest`]: the slowest of K workers: its moments and its draws; [`barrier_waits`]: the moments, once per K;
//!   `slowest_unequal_worker`: on machines that differ, for every replica; [`shared_machines`]: on VMs that hold several workers and differ.
//! - [`stepping`]: the steps of one configuration in one replica. [`fidelity`]: how finely they are simulated;
//!   [`sums`]: many of them in one draw.
//! - [`sync`]: how workers come together, one file per protocol.
//! - [`drift`]: the slow change of the network.
//! - [`progress`]: what can happen in a job.
//! - [`floor`]: what a protocol works with; [`scratch`]: its memory. [`log`]: what happened, for those who want to see it.

pub mod barrier_waits;
pub mod drift;
pub mod fidelity;
pub mod floor;
pub mod log;
mod moments;
pub mod progress;
pub mod scratch;
pub mod shared_machines;
pub mod slowest;
mod slowest_unequal_worker;
pub mod stepping;
pub mod sums;
pub mod sync;
pub mod variation;

pub use fidelity::Fidelity;
pub use floor::Floor;
pub use log::Log;
pub use progress::{StalledJob, UnfinishedJob};
pub use stepping::Stepping;
pub use variation::Variation;
