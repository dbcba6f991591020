//! The wait for the slowest of K workers, computed once per worker count.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::shared_machines;
use super::slowest::{self, Moments};
use super::variation::{Variation, WorkerTime};
use scavsim_data::configuration::{Configuration, Shape};

/// Workers on each VM and how many such VMs, in the order of the workers.
pub type Layout = Vec<(u32, u32)>;

/// The slowest of K workers relative to one worker's mean: dear to compute, and the same for all workloads and VM types.
#[derive(Debug, Clone, Default)]
pub struct BarrierWaits {
    by_workers: BTreeMap<u32, BarrierWait>,
    /// Mean on machines that differ, where workers share them.
    by_layout: BTreeMap<Layout, f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarrierWait {
    /// On equal machines.
    pub equal: Moments,
    /// Mean of the wait on machines that differ, over all replicas.
    pub mean: f64,
}

impl BarrierWaits {
    pub fn new<'c>(
        variation: &Variation,
        configurations: impl IntoIterator<Item = &'c Configuration>,
    ) -> BarrierWaits {
        let mut waits = BarrierWaits::default();
        for configuration in configurations {
            let workers = configuration.workers;
            (waits.by_workers.entry(workers))
                .or_insert_with(|| BarrierWait::new(variation, workers));
            let shape = Shape::parse(&configuration.vm).ok();
            if let Some(layout) = shape.and_then(|s| shared(variation, || s.layout(workers)))
                && let Entry::Vacant(place) = waits.by_layout.entry(layout)
            {
                let mean = mean_on(variation, place.key());
                place.insert(mean);
            }
        }
        waits
    }

    /// For any worker count, whose `layout` matters only where machines differ.
    pub fn wait_for(
        &self,
        variation: &Variation,
        workers: u32,
        layout: impl FnOnce() -> Layout,
    ) -> BarrierWait {
        let mut wait = match self.by_workers.get(&workers) {
            Some(known) => *known,
            None => BarrierWait::new(variation, workers),
        };
        if let Some(layout) = shared(variation, layout) {
            let known = self.by_layout.get(&layout).copied();
            wait.mean = known.unwrap_or_else(|| mean_on(variation, &layout));
        }
        wait
    }
}

impl BarrierWait {
    /// The wait of workers each on a VM of its own.
    fn new(variation: &Variation, workers: u32) -> BarrierWait {
        let time = variation.worker_time();
        // Machines that differ and steps that vary are, over all replicas, one log-normal.
        let over_all = WorkerTime {
            sigma: libm::hypot(time.sigma, variation.vm_sigma),
            ..time
        };
        let equal = slowest::moments(workers, time);
        let mean = match variation.vm_sigma {
            0.0 => equal.mean,
            _ => slowest::moments(workers, over_all).mean,
        };
        BarrierWait { equal, mean }
    }
}

/// The layout in one order, if machines differ and workers share them.
fn shared(variation: &Variation, layout: impl FnOnce() -> Layout) -> Option<Layout> {
    if variation.vm_sigma == 0.0 {
        return None;
    }
    let mut by_size = BTreeMap::new();
    for (each, vms) in layout() {
        *by_size.entry(each).or_insert(0) += vms;
    }
    let is_shared = by_size.keys().any(|each| *each > 1);
    is_shared.then(|| by_size.into_iter().collect())
}

fn mean_on(variation: &Variation, layout: &Layout) -> f64 {
    shared_machines::mean_of_slowest(layout, variation.worker_time(), variation.vm_sigma)
}
