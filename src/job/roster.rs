//! Which VMs a job has at a moment, and when the next is ready or lost.

use super::market::Market;
use crate::cluster::groups::{Cluster, Group, MOST_GROUPS};
use crate::cluster::terms::{Losses, Spot};
use crate::rng::{Purpose, RequestKey, Stream, Streams, VmTypeKey};
use crate::units::{SECONDS_PER_HOUR, SimTime};

/// A VM of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vm {
    /// Index of its group in the cluster.
    pub group: u16,
    /// Index of its type.
    pub vm: u16,
    /// Whether the provider may take it away.
    pub on_spot: bool,
    /// Number of the law of its life, as its group has it.
    pub market: u16,
    /// Whether it is a parameter server's.
    pub is_server: bool,
    /// Whether its first worker is the chief.
    pub is_chief: bool,
    /// When it was requested: it is billed from then on.
    pub from: SimTime,
    /// When it runs.
    pub runs: SimTime,
    /// When it takes part.
    pub ready: SimTime,
    /// When the provider takes it away.
    pub end: SimTime,
    /// Which request of its replica it came of.
    pub request: u64,
}

/// The VMs of a job, the oldest first.
#[derive(Debug, Clone)]
pub struct Roster {
    streams: Streams,
    replica: u64,
    vms: Vec<Vm>,
    /// VMs that were requested so far, and of them those of each type and market.
    requested: u64,
    by_market: Vec<(VmTypeKey, u16, u64)>,
    market: Option<Market>,
    /// VMs that the provider took away so far.
    pub lost: u32,
    /// Hours of the lives drawn so far, where somebody wants to know them.
    pub lives_h: Option<Vec<f64>>,
}

/// A time that never comes.
pub fn never() -> SimTime {
    SimTime::from_seconds(f64::INFINITY)
}

impl Roster {
    /// Nothing yet.
    pub fn new(streams: Streams) -> Self {
        Roster {
            streams,
            replica: 0,
            vms: Vec::new(),
            requested: 0,
            by_market: Vec::new(),
            market: None,
            lost: 0,
            lives_h: None,
        }
    }

    /// Nothing again, in `replica`, where VMs are lost on the terms `spot`.
    pub fn restart(&mut self, replica: u64, spot: Option<&Spot>) {
        self.replica = replica;
        self.vms.clear();
        if let Some(lives_h) = &mut self.lives_h {
            lives_h.clear();
        }
        self.by_market.clear();
        (self.requested, self.lost) = (0, 0);
        self.market = spot.and_then(|s| Market::new(&s.losses, &self.streams, replica));
    }

    /// Becomes the same as `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Roster) {
        self.replica = other.replica;
        self.vms.clone_from(&other.vms);
        self.by_market.clone_from(&other.by_market);
        (self.requested, self.lost) = (other.requested, other.lost);
        self.market.clone_from(&other.market);
    }

    /// All VMs, the oldest first.
    pub fn vms(&self) -> &[Vm] {
        &self.vms
    }

    /// The stream for a purpose in this replica.
    pub fn stream(&self, purpose: Purpose) -> Stream {
        self.streams.stream(self.replica, purpose)
    }

    /// The key of the next request of a VM of `group`.
    pub fn next_request(&self, group: &Group) -> RequestKey {
        let own = |(vm_type, market, _): &&(VmTypeKey, u16, u64)| {
            (*vm_type, *market) == (group.vm_type, group.market)
        };
        RequestKey {
            vm_type: group.vm_type,
            on_spot: group.on_spot,
            number: self
                .by_market
                .iter()
                .find(own)
                .map_or(0, |(_, _, number)| *number),
        }
    }

    /// One more VM of `group`, requested at `now`: it runs after `start`, and takes part after `join` more. The n-th
    /// VM of a type and market that a replica requests lives equally long, whatever else was requested before.
    pub fn request(
        &mut self,
        (index, group): (usize, &Group),
        spot: Option<&Spot>,
        now: SimTime,
        (start, join): (SimTime, SimTime),
    ) -> Vm {
        let key = self.next_request(group);
        let own = (group.vm_type, group.market);
        match (self.by_market.iter_mut()).find(|(vm_type, market, _)| (*vm_type, *market) == own) {
            Some((_, _, number)) => *number += 1,
            None => self.by_market.push((own.0, own.1, 1)),
        }
        let request = self.requested;
        self.requested += 1;
        let runs = now + start;
        let mut end = never();
        if let (true, Some(spot)) = (group.on_spot, spot)
            && let Losses::Alone(lifetime) = &spot.losses
        {
            let mut stream = self.stream(Purpose::Life(key.vm_type, key.number));
            let life_h = lifetime.sample(&mut stream);
            if let Some(lives_h) = &mut self.lives_h {
                lives_h.push(life_h);
            }
            end = runs + SimTime::from_seconds(life_h * SECONDS_PER_HOUR);
        }
        let vm = Vm {
            group: index as u16,
            vm: group.vm,
            on_spot: group.on_spot,
            market: group.market,
            is_server: group.is_server,
            is_chief: false,
            from: now,
            runs,
            ready: runs + join,
            end,
            request,
        };
        self.vms.push(vm);
        vm
    }

    /// Sorts the VMs into the groups of `cluster`, as far as they suit it; those that do not, and the newest of too
    /// many, are given back to `release`.
    pub fn fit(&mut self, cluster: &Cluster, mut release: impl FnMut(&Vm)) {
        let mut held = [0u32; MOST_GROUPS];
        self.vms.retain_mut(|vm| {
            let place = (cluster.groups.iter().enumerate()).find(|(index, group)| {
                (group.vm, group.market, group.is_server) == (vm.vm, vm.market, vm.is_server)
                    && held[*index] < group.vms
            });
            match place {
                Some((index, _)) => {
                    held[index] += 1;
                    vm.group = index as u16;
                    true
                }
                None => {
                    release(vm);
                    false
                }
            }
        });
    }

    /// Gives back all VMs to `release`.
    pub fn give_back(&mut self, mut release: impl FnMut(&Vm)) {
        self.vms.drain(..).for_each(|vm| release(&vm));
    }

    /// VMs of a group, whether ready or not.
    pub fn count(&self, group: usize) -> u32 {
        let own = self.vms.iter().filter(|vm| usize::from(vm.group) == group);
        own.count() as u32
    }

    /// The oldest worker is the chief, one on demand before all others, if there is none.
    pub fn appoint_chief(&mut self) {
        if self.vms.iter().any(|vm| vm.is_chief) {
            return;
        }
        let stays = (self.vms.iter()).position(|vm| !vm.is_server && !vm.on_spot);
        let first = stays.or((self.vms.iter()).position(|vm| !vm.is_server));
        if let Some(vm) = first.and_then(|place| self.vms.get_mut(place)) {
            vm.is_chief = true;
        }
    }

    /// When the next VM is lost, as far as that is decided.
    pub fn next_end(&self) -> SimTime {
        self.vms.iter().map(|vm| vm.end).fold(never(), SimTime::min)
    }

    /// When a loss in the market is told of that may take one.
    pub fn next_told(&self, spot: Option<&Spot>) -> SimTime {
        self.market.as_ref().map_or(never(), |m| m.told_at(spot))
    }

    /// When the next VM takes part that does not at `now`.
    pub fn next_ready(&self, now: SimTime) -> SimTime {
        let starting = self.vms.iter().filter(|vm| vm.ready > now);
        starting.map(|vm| vm.ready).fold(never(), SimTime::min)
    }

    /// Meets the losses in the market that are told of by `now`: VMs that they take end then.
    pub fn meet_market(&mut self, spot: &Spot, now: SimTime) {
        let Some(market) = &mut self.market else {
            return;
        };
        while market.told_at(Some(spot)) <= now {
            let (told, at) = (market.told_at(Some(spot)), market.at);
            let running = |vm: &Vm| vm.on_spot && vm.runs <= told && vm.end > at;
            let own = self.vms.iter().filter(|vm| running(vm)).count() as u32;
            let vms = &mut self.vms;
            market.strike(&spot.losses, own, |place| {
                let hit = vms.iter_mut().filter(|vm| running(vm)).nth(place as usize);
                if let Some(vm) = hit {
                    vm.end = at;
                }
            });
        }
    }

    /// Takes away the newest worker but the chief at `at`, and no other VM.
    pub fn lose_one(&mut self, at: SimTime) {
        self.market = None;
        self.vms.iter_mut().for_each(|vm| vm.end = never());
        let is_worker = |vm: &&mut Vm| vm.on_spot && !vm.is_server && !vm.is_chief;
        if let Some(vm) = self.vms.iter_mut().rev().find(is_worker) {
            vm.end = at;
        }
    }

    /// Takes out one VM whose end has come by `now`.
    pub fn take_lost(&mut self, now: SimTime) -> Option<Vm> {
        let place = self.vms.iter().position(|vm| vm.end <= now)?;
        self.lost += 1;
        Some(self.vms.remove(place))
    }

    /// Takes out the newest VM of a group.
    pub fn take_newest(&mut self, group: usize) -> Option<Vm> {
        let place = (self.vms.iter()).rposition(|vm| usize::from(vm.group) == group)?;
        Some(self.vms.remove(place))
    }
}
