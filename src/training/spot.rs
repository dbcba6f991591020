//! VMs that the provider may take away: what is agreed, and which of a job's VMs live how long.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::checkpoint::{Policy, YoungDaly};
use crate::cloud::lifetimes::Lifetime;
use crate::rng::{Purpose, Streams, mix};
use crate::units::{SECONDS_PER_HOUR, SimTime};

/// The terms on which a job runs on spot VMs.
#[derive(Debug, Clone)]
pub struct Spot {
    /// How long a VM lives, from when it runs.
    pub lifetime: Lifetime,
    /// From a loss until another VM runs in its place.
    pub replacement: SimTime,
    /// What a loss leaves.
    pub keeps: Keeps,
    /// When checkpoints are written.
    pub checkpoints: Checkpoints,
    /// How long one takes to write.
    pub write: SimTime,
}

/// What the loss of a VM leaves of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// What the last checkpoint holds.
    #[default]
    Checkpoint,
    /// All complete steps: the other workers, or parameter servers that are not on spot VMs, have them.
    Steps,
}

/// When checkpoints are written.
#[derive(Debug, Clone, PartialEq)]
pub enum Checkpoints {
    /// By a policy that is the same for every cluster.
    By(Policy),
    /// After Daly's interval for the losses of the cluster's size: every VM's mean life over their number.
    YoungDaly,
}

impl Spot {
    /// The policy for `vms` VMs.
    pub fn policy(&self, vms: u32) -> Policy {
        match &self.checkpoints {
            Checkpoints::By(policy) => policy.clone(),
            Checkpoints::YoungDaly => {
                let write_h = self.write.seconds() / SECONDS_PER_HOUR;
                let mean_h = self.lifetime.mean_until(f64::INFINITY) / f64::from(vms.max(1));
                // Without losses, or at no cost of writing, there is no interval.
                YoungDaly::higher_order(write_h, mean_h).map_or(Policy::None, Policy::YoungDaly)
            }
        }
    }
}

/// The VMs that a job holds on these terms, in the order of its ledger.
#[derive(Debug, Clone)]
pub struct Lives {
    /// The terms.
    pub spot: Arc<Spot>,
    /// Seconds that a restart from a checkpoint takes.
    pub restore_s: f64,
    streams: Streams,
    replica: u64,
    vm_key: u64,
    /// When each VM is taken away.
    ends: Vec<SimTime>,
    requested: u64,
    /// VMs lost so far.
    pub lost: u32,
}

impl Lives {
    /// No VMs yet.
    pub fn new(spot: Arc<Spot>, restore_s: f64, streams: Streams) -> Self {
        Lives {
            spot,
            restore_s,
            streams,
            replica: 0,
            vm_key: 0,
            ends: Vec::new(),
            requested: 0,
            lost: 0,
        }
    }

    /// No VMs again, in `replica`.
    pub fn restart(&mut self, replica: u64) {
        self.replica = replica;
        self.ends.clear();
        (self.requested, self.lost) = (0, 0);
    }

    /// Becomes the same as `other`, on the same terms, keeping the memory.
    pub fn copy_from(&mut self, other: &Lives) {
        (self.replica, self.vm_key) = (other.replica, other.vm_key);
        self.ends.clone_from(&other.ends);
        (self.requested, self.lost) = (other.requested, other.lost);
    }

    /// `vms` VMs are held from now on, of a type with the key `vm_key`, the newest given back first; new ones
    /// run from `from` on. VMs of `other_type` are all new.
    pub fn hold(&mut self, vm_key: u64, vms: u32, other_type: bool, from: SimTime) {
        if other_type {
            self.ends.clear();
        }
        self.vm_key = vm_key;
        self.ends.truncate(vms as usize);
        self.fill_up(vms, from);
    }

    /// As many new VMs as make it `vms` run from `from` on. The n-th VM of a type that a replica requests lives
    /// equally long whatever the strategy.
    pub fn fill_up(&mut self, vms: u32, from: SimTime) {
        while self.ends.len() < vms as usize {
            let key = mix(self.vm_key, self.requested);
            self.requested += 1;
            let mut stream = self.streams.stream(Purpose::Losses, self.replica, key);
            let life_h = self.spot.lifetime.sample(&mut stream);
            self.ends
                .push(from + SimTime::from_seconds(life_h * SECONDS_PER_HOUR));
        }
    }

    /// Number of VMs held.
    pub fn vms(&self) -> u32 {
        self.ends.len() as u32
    }

    /// When the next VM is lost.
    pub fn next_loss(&self) -> SimTime {
        let never = SimTime::from_seconds(f64::INFINITY);
        self.ends.iter().copied().min().unwrap_or(never)
    }

    /// Takes out one VM whose end has come by `now`: its place and its end.
    pub fn take_lost(&mut self, now: SimTime) -> Option<(usize, SimTime)> {
        let place = self.ends.iter().position(|end| *end <= now)?;
        self.lost += 1;
        Some((place, self.ends.remove(place)))
    }
}
