//! How a job on a plan is kept going: what takes the place of a lost VM, what is saved, and when.

use super::{Terms, Way};
use crate::cluster::checkpoint::{Policy, between_losses_h};
use crate::cluster::{Checkpoints, Keeps, Pause, Spot, Write};
use scavsim_base::units::SECONDS_PER_HOUR;

/// What keeps a job going.
#[derive(Debug, Clone)]
pub struct Upkeep {
    /// From a loss until another VM runs in its place.
    pub replacement: Pause,
    /// What all need to go on from a checkpoint, beside reading it.
    pub restart: Option<Pause>,
    /// What a loss leaves of the work.
    pub keeps: Keeps,
    /// When checkpoints are written.
    pub checkpoints: Checkpoints,
    /// How long one takes to write, where its size does not tell.
    pub write: Write,
}

impl Upkeep {
    /// That of a job on spot VMs.
    pub fn of_spot(spot: &Spot) -> Upkeep {
        Upkeep {
            replacement: spot.replacement,
            restart: spot.warm_restart,
            keeps: spot.keeps,
            checkpoints: spot.checkpoints.clone(),
            write: spot.write,
        }
    }
}

impl Terms {
    /// What keeps a job on a plan going; `None` where nothing is ever lost.
    pub fn upkeep(&self, way: &Way) -> Option<Upkeep> {
        let of_fleet = || {
            self.failures
                .as_ref()
                .map(|failures| failures.upkeep.clone())
        };
        self.spot_of(way).map(Upkeep::of_spot).or_else(of_fleet)
    }

    /// Mean hours between losses and failures that stop a plan.
    pub fn between_losses_h(&self, way: &Way, gpus: u32) -> f64 {
        let by_market = self
            .spot_of(way)
            .map_or(0.0, |spot| 1.0 / between_losses_h(spot, way.vms()));
        let by_failure = (self.failures.as_ref()).map_or(0.0, |failures| {
            let vms = way.vms();
            // Of nodes of unlike sizes, the mean.
            f64::from(vms) * failures.of_node_h(gpus / vms.max(1))
        });
        1.0 / (by_market + by_failure)
    }

    /// When checkpoints of a plan on so many GPUs are written.
    pub fn checkpoints(&self, way: &Way, gpus: u32) -> Policy {
        let Some(upkeep) = self.upkeep(way) else {
            return Policy::None;
        };
        let write_h = self.mean_write_s(way) / SECONDS_PER_HOUR;
        let mean_h = || self.between_losses_h(way, gpus);
        // Plans have no ages that would decide.
        (upkeep.checkpoints.at_rate(write_h, mean_h)).unwrap_or(Policy::None)
    }
}
