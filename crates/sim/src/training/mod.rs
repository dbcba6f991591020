//! How workers step: computing, meeting, communicating, in two fidelities. From the step process of a cluster and its
//! variation to the simulated time of updates. It knows neither VMs nor prices nor strategies.

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
