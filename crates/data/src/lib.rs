//! What a simulation is given: workloads, clouds, prices, and the laws that are fitted to measurements.
//!
//! - [`configuration`]: VM shape, workers, batch. [`space`]: configurations over named axes.
//! - [`usage`]: which VMs were held, and what for.
//! - [`cloud`]: VM types, their dated prices, lifetimes and delays. [`pricing`]: usage → bill.
//! - [`workload`]: what is trained: measured tables and their interpolation.

pub mod cloud;
pub mod configuration;
pub mod pricing;
pub mod space;
#[cfg(test)]
mod tests;
pub mod usage;
pub mod workload;

/// What users of the crate `scavsim` may rely on, of this floor and those below.
pub mod face {
    pub use scavsim_base::face::*;
    pub use scavsim_read::face::*;

    pub use crate::cloud::{Fleet, Machine, Market, VmType};
    pub use crate::pricing::{NoPrice, RentedVmType, VmPrice};
    pub use crate::space::{Axis, AxisKind, NoSpace, Space};
}
