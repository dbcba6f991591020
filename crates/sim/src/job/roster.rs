//! Which VMs a job has at a moment, and when the next is ready or lost.

use super::market::Market;
use super::present::Present;
use crate::cluster::groups::{Cluster, Group, MOST_GROUPS};
use crate::cluster::terms::{Losses, Spot};
use scavsim_base::rng::{Purpose, RequestKey, Stream, Streams, VmTypeKey};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};

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
    present: Present,
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
            present: Present::default(),
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
        self.present.clear();
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
        self.present.copy_from(&other.present);
        self.by_market.clone_from(&other.by_market);
        (self.requested, self.lost) = (other.requested, other.lost);
        self.market.clone_from(&other.market);
    }

    /// Whether it has no VMs.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// The stream for a purpose in this replica.
    pub fn stream(&self, purpose: Purpose) -> Stream {
        self.streams.stream(self.replica, purpose)
    }

    /// The key of the next request of a VM of `group`.
    pub fn next_request(&self, group: &Group) -> RequestKey {
        let number = self.place(group).map_or(0, |at| self.by_market[at].2);
        RequestKey {
            vm_type: group.vm_type,
            on_spot: group.on_spot,
            number,
        }
    }

    /// The place of a group's type and market among those that were requested: a search that goes from type to type asks
    /// for the last ones.
    fn place(&self, group: &Group) -> Option<usize> {
        let own = (group.vm_type, group.market);
        (self.by_market.iter()).rposition(|(vm_type, market, _)| (*vm_type, *market) == own)
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
        match self.place(group) {
            Some(at) => self.by_market[at].2 += 1,
            None => (self.by_market).push((group.vm_type, group.market, 1)),
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
        self.present.add(vm);
        vm
    }

    /// Sorts the VMs into the groups of `cluster`, as far as they suit it; those that do not, and the newest of too
    /// many, are given back to `release`.
    pub fn fit(&mut self, cluster: &Cluster, mut release: impl FnMut(&Vm)) {
        let mut held = [0u32; MOST_GROUPS];
        self.present.retain(|vm| {
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

    /// Gives back all VMs to `release`, the oldest first.
    pub fn give_back(&mut self, release: impl FnMut(&Vm)) {
        if !self.present.is_empty() {
            self.present.vms().for_each(release);
            self.present.clear();
        }
    }

    /// VMs of a group, whether ready or not.
    pub fn count(&self, group: usize) -> u32 {
        self.present.held(group)
    }

    /// VMs of each group that take part at `now`.
    pub fn ready(&mut self, now: SimTime) -> &[u32; MOST_GROUPS] {
        self.present.ready(now)
    }

    /// VMs that do not take part at `now`, in any order.
    pub fn starting(&mut self, now: SimTime) -> impl Iterator<Item = &Vm> {
        self.present.starting(now)
    }

    /// Since when the oldest VM runs, or will, that can be taken away.
    pub fn oldest_runs(&mut self) -> Option<SimTime> {
        self.present.oldest_runs()
    }

    /// The oldest worker is the chief, one on demand before all others, if there is none.
    pub fn appoint_chief(&mut self) {
        self.present.appoint_chief();
    }

    /// When the next VM is lost, as far as that is decided.
    pub fn next_end(&self) -> SimTime {
        self.present.next_end()
    }

    /// When a loss in the market is told of that may take one.
    pub fn next_told(&self, spot: Option<&Spot>) -> SimTime {
        self.market.as_ref().map_or(never(), |m| m.told_at(spot))
    }

    /// When the next VM takes part that does not at `now`.
    pub fn next_ready(&mut self, now: SimTime) -> SimTime {
        self.present.next_ready(now)
    }

    /// Meets the losses in the market that are told of by `now`: VMs that they take end then.
    pub fn meet_market(&mut self, spot: &Spot, now: SimTime) {
        let Some(market) = &mut self.market else {
            return;
        };
        while market.told_at(Some(spot)) <= now {
            let (told, at) = (market.told_at(Some(spot)), market.at);
            let running = |vm: &Vm| vm.on_spot && vm.runs <= told && vm.end > at;
            (self.present).end_some(at, running, |own, take| {
                market.strike(&spot.losses, own, take);
            });
        }
    }

    /// Takes away the newest worker but the chief at `at`, and no other VM.
    pub fn lose_one(&mut self, at: SimTime) {
        self.market = None;
        let is_worker = |vm: &Vm| vm.on_spot && !vm.is_server && !vm.is_chief;
        self.present.end_only(at, is_worker);
    }

    /// Takes out one VM whose end has come by `now`, the oldest first.
    pub fn take_lost(&mut self, now: SimTime) -> Option<Vm> {
        let lost = self.present.take_lost(now)?;
        self.lost += 1;
        Some(lost)
    }

    /// Takes out the newest VM of a group.
    pub fn take_newest(&mut self, group: usize) -> Option<Vm> {
        self.present.take_newest(group)
    }
}
