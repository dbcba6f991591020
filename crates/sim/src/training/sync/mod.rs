//! How the workers of a job come together: one file per protocol. From a [`Floor`](super::Floor), the
//! [`Stepping`](super::Stepping) of a configuration and a [`Goal`] to a [`Stretch`]: what was done, how long it took, and
//! what the statistical price needs.

pub mod asp;
pub mod backup;
pub mod bsp;
mod draws;
pub mod event_protocol;
pub mod fast;
pub mod fidelity;
pub mod flexible;
mod flow;
pub mod leap;
pub mod local_sgd;
pub mod long_run;
mod network;
pub mod registry;
mod renewal;
mod sampled_steps;
pub mod service;
mod shared_measurements;
mod slack;
pub mod speculative;
pub mod ssp;
pub mod stationary;
mod steps;
pub mod stretch;
pub mod synchronisation;
mod turns;
#[cfg(test)]
mod unqueued_tests;

pub use super::scratch::Scratch;
pub use asp::Asp;
pub use backup::Backup;
pub use bsp::Bsp;
pub use fidelity::Invalid;
pub use flexible::Flexible;
pub use registry::{PROTOCOLS, Protocol};
pub use service::ServiceTime;
pub use speculative::Speculative;
pub use ssp::Ssp;
pub use stretch::{Goal, Stretch};
pub use synchronisation::{Synchronisation, WrongWorkers};
