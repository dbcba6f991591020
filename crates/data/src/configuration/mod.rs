//! A cluster configuration: what a strategy chooses between.
//!
//! - [`mod@shape`]: how its VMs are written: a type, and the workers on every VM of it.

pub mod shape;

pub use shape::{Shape, vm_type};

use std::fmt;
use std::sync::Arc;

use scavsim_base::rng;

/// One configuration of a synchronous training cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// VM shape: the type of the VMs, with the workers on each where that is not one.
    pub vm: Arc<str>,
    /// Worker count K.
    pub workers: u32,
    /// Global batch B in samples, over all workers.
    pub batch: u32,
}

impl Configuration {
    /// Local batch b = B/K in samples per worker and step; a fraction where K does not divide B,
    /// as a measured table may have it.
    pub fn local_batch(&self) -> f64 {
        f64::from(self.batch) / f64::from(self.workers)
    }

    /// Key of this configuration's random streams. It depends on what the configuration is and not
    /// on its place in a list, so adding a configuration to a scenario changes no other's draws.
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
