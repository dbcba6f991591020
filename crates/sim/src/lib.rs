//! Jobs on clusters, as discrete events.
//!
//! - [`training`]: how workers step, in two fidelities. [`cluster`]: what a configuration is. [`job`]: its life, through all losses.
//! - [`provider`]: VMs that are asked for and taken away.

pub mod cluster;
pub mod job;
pub mod provider;
#[cfg(test)]
mod tests;
pub mod training;

/// What users of the crate `scavsim` may rely on, of this floor and those below.
pub mod face {
    pub use scavsim_data::face::*;

    pub use scavsim_engine::Interrupt;
}
