//! How the workers of a job come together: one file per protocol.
//!
//! In: a [`Floor`](super::Floor), which is the event queue, the [`Stepping`](super::Stepping) of a configuration and
//! its luck, and a [`Goal`]. Out: a [`Stretch`]: what was done, how long it took, and what the
//! statistical price needs.
//!
//! - [`stretch`]: goals and outcomes; [`event_protocol`]: what a protocol does, [`synchronisation`]: what it says of itself,
//!   [`stationary`]: what it comes to; [`fidelity`]: why it cannot be simulated in `fast`.
//! - [`registry`]: all protocols by name. [`bsp`], [`backup`], [`speculative`]: with a barrier. [`ssp`], [`asp`],
//!   [`flexible`]: without waiting for the slowest of every step.
//! - [`asp_alone`]: what an asynchronous cluster reaches by itself.
//! - `draws`: worker times in blocks; `network`: what communication takes now; [`service`]: what a server takes.
//! - [`fast`]: many updates at once, [`leap`]: what they touch; `steps`: of workers that end a step together, `sampled_steps` where no formula tells
//!   those; `flow`: of workers that do not; `renewal`: by formulas; `slack`: held back by one; `long_run`: measured once; `shared_measurements`: in a
//!   process. `turns`: few of them, each by itself but in no queue.

pub mod asp;
pub mod asp_alone;
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
pub use asp_alone::{AspAlone, NoSpeed};
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
