//! A configuration's groups of VMs, and its step process at every size that it may shrink or grow to.

use std::sync::Arc;

use super::checkpoint::Policy;
use super::levelling::Levelling;
use super::terms::{Elastic, OnLoss, Spot};
use crate::training::Fidelity;
use crate::training::barrier_waits::Layout;
use crate::training::stepping::Stepping;
use crate::training::sync::fast::Pace;
use crate::training::sync::{Protocol, Stretch};
use scavsim_base::rng::VmTypeKey;
use scavsim_base::units::SimTime;

pub const MOST_GROUPS: usize = 16;

/// A configuration as a cluster: its VMs, what may happen to them, and how its workers step.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub protocol: Protocol,
    /// Whether nothing can happen to it: equal workers step together on VMs that stay, until their steps are over.
    pub is_static: bool,
    /// VMs of the cluster: groups of workers, then parameter servers.
    pub groups: Vec<Group>,
    /// On which terms those of them are rented that can be taken away.
    pub spot: Option<Arc<Spot>>,
    pub elastic: Option<Arc<Elastic>>,
    pub policy: Policy,
    /// Seconds for all to go on from a checkpoint, or in another size.
    pub restart_s: f64,
    /// Why it cannot be simulated in `fast`, where it cannot.
    pub not_in_fast: Option<String>,
    /// The step process of the configuration itself.
    pub whole: Size,
    /// Other sizes, by number of VMs of each group of workers; `None` where the workload does not know the size, and at the
    /// place of the configuration itself. Empty where the size stays.
    pub sizes: Vec<Option<Size>>,
    /// The place of the configuration itself.
    pub usual: usize,
    /// When available shares of cores change, from the start of the job on; empty where they stay. `sizes` has all places for
    /// each.
    pub levels: Vec<SimTime>,
    /// Places of one level.
    pub stride: usize,
}

/// Equal VMs on equal terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub vm: u16,
    pub vm_type: VmTypeKey,
    /// Number of the law of its VMs' lives, 0 for VMs that stay: a VM under another is of another market.
    pub market: u16,
    /// How many the configuration has.
    pub vms: u32,
    /// How many there may be.
    pub most: u32,
    /// Workers on each; 0 where they cannot be told apart by VM.
    pub workers: u32,
    /// Workers on how many VMs, where those cannot.
    pub layout: Layout,
    pub on_spot: bool,
    pub is_server: bool,
}

#[derive(Debug, Clone)]
pub struct Size {
    /// Steps at this size, without luck.
    pub stepping: Stepping,
    /// Steps at this size in fidelity `fast`, without luck.
    pub pace: Pace,
    /// Steps of the configuration, B samples each, that an update is worth, in the mean.
    pub per_update: f64,
    /// Steps that an applied gradient is worth, where updates are not all of one size.
    pub per_gradient: Option<f64>,
    /// Share of the configuration's global batch that a gradient is.
    pub gradient: f64,
    /// Expected seconds of as much as a step is worth.
    pub step_s: f64,
    /// Seconds until the batches of unlike workers suit them, whenever the cluster comes to this size.
    pub settle_s: f64,
    /// What a controller of batches makes of machines that differ by luck, where both are.
    pub levelling: Option<Arc<Levelling>>,
}

impl Size {
    /// Steps of the least work that is credited: an update, or a step where updates are not all of one size.
    pub fn unit(&self) -> f64 {
        self.per_gradient.map_or(self.per_update, |_| 1.0)
    }

    pub fn worth(&self, stretch: &Stretch) -> f64 {
        match self.per_gradient {
            None => stretch.updates as f64 * self.per_update,
            Some(each) => stretch.gradients as f64 * each,
        }
    }
}

impl Cluster {
    pub fn on_loss(&self) -> OnLoss {
        self.spot.as_ref().map_or(OnLoss::Wait, |s| s.on_loss)
    }

    /// The fidelity of its runs when `asked` is wanted: that, or `event` and the reason.
    pub fn settle(&self, asked: Fidelity) -> (Fidelity, Option<&str>) {
        let not = match asked {
            Fidelity::Event => None,
            Fidelity::Fast => self.not_in_fast.as_deref(),
        };
        (not.map_or(asked, |_| Fidelity::Event), not)
    }

    /// The place in `sizes` of so many VMs of each group of workers: mixed radix, the first group fastest.
    pub fn place(&self, vms: impl Fn(usize) -> u32) -> usize {
        if !self.changes_size() {
            return self.usual;
        }
        let (mut place, mut stride) = (0, 1);
        for (index, group) in self.groups.iter().enumerate() {
            if group.is_server {
                continue;
            }
            place += vms(index).min(group.most) as usize * stride;
            stride *= group.most as usize + 1;
        }
        place
    }

    /// The place in `sizes` at `now`, when some shares of the workers' cores are available.
    pub fn place_at(&self, vms: impl Fn(usize) -> u32, now: SimTime) -> usize {
        let level = self.levels.partition_point(|from| *from <= now);
        self.place(vms) + level.saturating_sub(1) * self.stride
    }

    pub fn next_level(&self, now: SimTime) -> Option<SimTime> {
        let next = self.levels.partition_point(|from| *from <= now);
        self.levels.get(next).copied()
    }

    pub fn is_same_size(&self, a: usize, b: usize) -> bool {
        a % self.stride.max(1) == b % self.stride.max(1)
    }

    pub fn vms_at(&self, place: usize) -> [u32; MOST_GROUPS] {
        if !self.is_same_size(place, self.usual) {
            return vms_at(&self.groups, place % self.stride.max(1));
        }
        let mut vms = [0; MOST_GROUPS];
        for (vms, group) in vms.iter_mut().zip(&self.groups) {
            *vms = group.vms;
        }
        vms
    }

    /// The machine of every worker with so many VMs of each group, in the order of the workers: its type, and its
    /// number among the cluster's VMs of that type. The same VMs have the same numbers in every size.
    pub fn machines(&self, vms: &[u32; MOST_GROUPS]) -> Vec<(VmTypeKey, u32)> {
        let mut machines = Vec::new();
        let of_workers = (self.groups.iter().enumerate()).filter(|(_, group)| !group.is_server);
        for (index, group) in of_workers {
            let mut number = self.first_machine(index);
            let even = [(group.workers, vms[index])];
            let layout = match group.workers {
                0 => &group.layout[..],
                _ => &even,
            };
            for &(each, vms) in layout {
                for _ in 0..vms {
                    machines.extend(std::iter::repeat_n((group.vm_type, number), each as usize));
                    number += 1;
                }
            }
        }
        machines
    }

    /// Machines of a group's type before its own. Those of the first group come last, as only it may grow.
    fn first_machine(&self, index: usize) -> u32 {
        let alike = (self.groups.iter().enumerate())
            .filter(|(_, group)| !group.is_server && group.vm_type == self.groups[index].vm_type);
        let before = alike.filter(|(other, _)| match index {
            0 => *other > 0,
            _ => (1..index).contains(other),
        });
        before.map(|(_, group)| group.vms).sum()
    }

    pub fn vm_counts(&self) -> impl Iterator<Item = (u16, u32)> + Clone + '_ {
        self.groups.iter().map(|group| (group.vm, group.vms))
    }

    pub fn size(&self, place: usize) -> Option<&Size> {
        if place == self.usual {
            Some(&self.whole)
        } else {
            self.sizes.get(place).and_then(Option::as_ref)
        }
    }

    /// Whether anything may happen to it while it trains, so that no formula tells its time.
    pub fn may_change(&self) -> bool {
        self.spot.is_some()
            || self.elastic.is_some()
            || !self.levels.is_empty()
            || self.whole.settle_s > 0.0
            || self.whole.levelling.is_some()
    }

    /// Whether a formula tells the mean step where machines differ by luck: of equal machines that all meet at a barrier.
    pub fn is_told_by_formula(&self) -> bool {
        let stepping = &self.whole.stepping;
        let is_of_all = (self.whole.pace.protocol().expected_update_s(1.0)).is_some();
        is_of_all && stepping.machines.is_none()
    }

    pub fn changes_size(&self) -> bool {
        self.on_loss() != OnLoss::Wait || self.elastic.is_some()
    }

    /// Whether another number of workers stops all: those of a protocol with a barrier must agree on who takes part.
    pub fn has_barrier(&self) -> bool {
        self.protocol.has_barrier()
    }
}

pub fn vms_at(groups: &[Group], mut place: usize) -> [u32; MOST_GROUPS] {
    let mut vms = [0; MOST_GROUPS];
    for (index, group) in groups.iter().enumerate().filter(|(_, g)| !g.is_server) {
        let base = group.most as usize + 1;
        vms[index] = (place % base) as u32;
        place /= base;
    }
    vms
}
