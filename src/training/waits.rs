//! The wait for the slowest of K workers, computed once per worker count.

use std::collections::BTreeMap;

use super::slowest::{self, Moments};
use super::variation::{Variation, WorkerTime};
use crate::configuration::Configuration;

/// The slowest of K workers relative to one worker's mean, per worker count: the same for all
/// workloads and VM types of a scenario, and dear to compute.
#[derive(Debug, Clone, Default)]
pub struct Waits {
    /// On equal machines, and on machines that differ.
    by_workers: BTreeMap<u32, (Moments, Moments)>,
}

impl Waits {
    /// For the worker counts of `configurations`.
    pub fn new<'c>(
        variation: &Variation,
        configurations: impl IntoIterator<Item = &'c Configuration>,
    ) -> Waits {
        let mut by_workers = BTreeMap::new();
        for configuration in configurations {
            let workers = configuration.workers;
            (by_workers.entry(workers)).or_insert_with(|| Waits::of(variation, workers));
        }
        Waits { by_workers }
    }

    fn of(variation: &Variation, workers: u32) -> (Moments, Moments) {
        let time = variation.worker_time();
        // Machines that differ and steps that vary are, over all replicas, one log-normal.
        let over_all = WorkerTime {
            sigma: libm::hypot(time.sigma, variation.vm_sigma),
            ..time
        };
        let equal = slowest::moments(workers, time);
        let over_all = match variation.vm_sigma {
            0.0 => equal,
            _ => slowest::moments(workers, over_all),
        };
        (equal, over_all)
    }

    /// On equal machines, and on machines that differ, for any worker count.
    pub fn at(&self, variation: &Variation, workers: u32) -> (Moments, Moments) {
        match self.by_workers.get(&workers) {
            Some(known) => *known,
            None => Waits::of(variation, workers),
        }
    }
}
