//! A cluster configuration: what a strategy chooses between.

pub mod shape;

pub use shape::{Shape, vm_type};

use std::fmt;
use std::sync::Arc;

use scavsim_base::rng;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// VM shape: the type of the VMs, with the workers on each where that is not one.
    pub vm: Arc<str>,
    pub workers: u32,
    /// Global batch B in samples, over all workers.
    pub batch: u32,
}

impl Configuration {
    /// Local batch b = B/K in samples per worker and step; may be a fraction in a measured table.
    pub fn local_batch(&self) -> f64 {
        f64::from(self.batch) / f64::from(self.workers)
    }

    /// Key of the random streams. It depends on the configuration alone, so adding one changes no other's draws.
    pub fn identity(&self) -> u64 {
        rng::mix(
            rng::identity(&self.vm),
            u64::from(self.workers) << 32 | u64::from(self.batch),
        )
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}, B {}", self.workers, self.vm, self.batch)
    }
}
