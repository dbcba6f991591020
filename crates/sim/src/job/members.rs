//! Who is there: VMs that are requested, join, are lost and are given back.

use super::present_vms::{Member, PresentVms};
use super::stage::Stage;
use crate::cluster::groups::MOST_GROUPS;
use crate::cluster::{Cluster, Group, Pause, Size, Spot};
use crate::provider::{Provider, Vm, VmRequest};
use crate::training::progress::{Event, UnfinishedJob};
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, Phase};

#[derive(Debug, Clone)]
pub(super) struct Members {
    pub(super) provider: Provider,
    pub(super) present: PresentVms,
    /// What a request of new VMs takes, where nothing else was measured.
    start_up: SimTime,
}

impl Members {
    pub(super) fn new(start_up: SimTime, streams: Streams) -> Self {
        Members {
            provider: Provider::new(streams, 0, None),
            present: PresentVms::default(),
            start_up,
        }
    }

    /// Nobody again, in `replica`, where VMs are lost on the terms `spot`.
    pub(super) fn restart(&mut self, replica: u64, spot: Option<&Spot>) {
        self.present.clear();
        self.provider
            .restart(replica, spot.map(|spot| &spot.losses));
    }

    /// Hours of the lives of all VMs that were requested, noted from here on.
    pub(super) fn lives_h(&mut self) -> &[f64] {
        self.provider.lives_h.get_or_insert_default()
    }

    pub(super) fn copy_from(&mut self, other: &Members) {
        self.present.copy_from(&other.present);
        self.provider.copy_from(&other.provider);
    }

    /// Holds the VMs of one group that stay, and no others, for so many workers and samples; waits for new ones.
    pub(super) fn hold_alike(
        &mut self,
        stage: &mut Stage,
        group: &Group,
        workers: u32,
        batch: u32,
    ) -> Result<(), UnfinishedJob> {
        let now = stage.now();
        // Those that were told one by one.
        if !self.present.is_empty() {
            for vm in self.present.vms() {
                Members::end(stage, &vm.rented, now, EndedBy::User);
            }
            self.present.clear();
        }
        let (held, ready) = ((group.vm, group.vms), now + self.start_up);
        let grows = stage.ledger.hold(group.vm, group.vms, batch, now);
        stage.log.hold(held, (workers, batch), now, ready);
        if grows && self.start_up > SimTime::ZERO {
            stage.enter(Phase::Waiting);
            stage.wait(self.start_up, Event::VmsReady)?;
        }
        Ok(())
    }

    /// Holds the VMs of `cluster` in place of those before, as far as they do not suit it, and waits for new ones.
    pub(super) fn hold(
        &mut self,
        stage: &mut Stage,
        cluster: &Cluster,
        batch: u32,
    ) -> Result<(), UnfinishedJob> {
        let now = stage.now();
        stage.ledger.resize_batch(batch, now);
        if self.present.is_empty() && stage.ledger.vms() > 0 {
            // Those that nobody told one by one.
            stage.ledger.give_back_all(now);
            stage.log.give_back_all(now);
        }
        for vm in &self.fit(cluster) {
            Members::end(stage, &vm.rented, now, EndedBy::User);
        }
        if let Some(first) = cluster.groups.first() {
            let workers = cluster.whole.stepping.workers;
            let vms = cluster.groups.iter().map(|g| g.vms).sum();
            stage.log.cluster(first.vm, vms, (workers, batch), now);
        }
        let spot = cluster.spot.as_deref();
        let on_demand = Pause::Fixed(self.start_up);
        let on_spot = spot.and_then(|s| s.start_up).unwrap_or(on_demand);
        let mut start_up = SimTime::ZERO;
        for (index, group) in cluster.groups.iter().enumerate() {
            let missing = group.vms.saturating_sub(self.present.held_in_group(index));
            for _ in 0..missing {
                let boot = if group.on_spot { &on_spot } else { &on_demand };
                let vm = self.ask(index, group, spot, now, boot, &Pause::NONE).rented;
                start_up = start_up.max(vm.runs - now);
                (stage.log).request((vm.number, vm.vm), now, vm.runs);
            }
            if missing > 0 {
                stage.ledger.add_vms(group.vm, missing, now);
            }
        }
        self.present.appoint_chief();
        if start_up > SimTime::ZERO {
            stage.enter(Phase::Waiting);
            stage.wait(start_up, Event::VmsReady)?;
        }
        Ok(())
    }

    /// Sorts the VMs into the groups of `cluster`; gives back those that do not suit, and the newest of too many.
    fn fit(&mut self, cluster: &Cluster) -> Vec<Member> {
        let mut given_back = Vec::new();
        let mut held = [0u32; MOST_GROUPS];
        self.present.retain(|vm| {
            let place = (cluster.groups.iter().enumerate()).find(|(index, group)| {
                (group.vm, group.market, group.is_server) == (vm.rented.vm, vm.market, vm.is_server)
                    && held[*index] < group.vms
            });
            if let Some((index, _)) = place {
                held[index] += 1;
                vm.group = index as u16;
            } else {
                given_back.push(*vm);
            }
            place.is_some()
        });
        given_back
    }

    /// Asks for one more VM of a group: it runs after `boot`, and takes part after `join` more.
    fn ask(
        &mut self,
        index: usize,
        group: &Group,
        spot: Option<&Spot>,
        now: SimTime,
        boot: &Pause,
        join: &Pause,
    ) -> Member {
        let wanted = VmRequest {
            vm: group.vm,
            vm_type: group.vm_type,
            market: group.market,
            on_spot: group.on_spot,
        };
        let spot = spot.filter(|_| group.on_spot);
        let law = spot.and_then(|spot| spot.losses.lifetime());
        let key = self.provider.next_request(&wanted);
        let vm = self.provider.request(&wanted, boot, law, now);
        let stream = || self.provider.stream(Purpose::ColdJoin(key));
        let member = Member {
            rented: vm,
            group: index as u16,
            on_spot: group.on_spot,
            market: group.market,
            is_server: group.is_server,
            is_chief: false,
            ready: vm.runs + join.draw(stream),
        };
        self.present.add(member);
        member
    }

    /// Requests a VM for a group; one that `joins` the others starts cold.
    pub(super) fn request(
        &mut self,
        stage: &mut Stage,
        cluster: &Cluster,
        index: usize,
        joins: bool,
    ) {
        let Some(group) = cluster.groups.get(index) else {
            return;
        };
        let now = stage.now();
        let spot = cluster.spot.as_deref();
        let (mut boot, mut join) = (Pause::Fixed(self.start_up), Pause::NONE);
        if let Some(spot) = spot {
            boot = spot.recovery.replacement;
            if joins {
                join = spot.cold_join;
            }
        }
        let vm = self.ask(index, group, spot, now, &boot, &join).rented;
        stage.ledger.add_vms(vm.vm, 1, now);
        (stage.log).request((vm.number, vm.vm), now, vm.runs);
    }

    pub(super) fn release_newest(&mut self, stage: &mut Stage, group: usize) {
        if let Some(vm) = self.present.take_newest(group) {
            let now = stage.now();
            Members::end(stage, &vm.rented, now, EndedBy::User);
            self.present.appoint_chief();
        }
    }

    pub(super) fn end(stage: &mut Stage, vm: &Vm, end: SimTime, ended_by: EndedBy) {
        stage.ledger.end(vm.vm, vm.asked, end, ended_by);
        (stage.log).gone(vm.number, end, ended_by);
    }

    /// The size that can train now, if one can.
    pub(super) fn size<'c>(
        &mut self,
        cluster: &'c Cluster,
        now: SimTime,
    ) -> Option<(usize, &'c Size)> {
        let ready = self.present.ready(now);
        let waits = !cluster.changes_size();
        let mut workers = 0;
        for (group, &ready) in cluster.groups.iter().zip(ready) {
            if (waits || group.is_server) && ready < group.vms {
                return None;
            }
            workers += group.workers * ready;
        }
        let fewest = cluster.spot.as_ref().map_or(1, |s| s.fewest_workers.max(1));
        if !waits && workers < fewest {
            return None;
        }
        let place = cluster.place_at(|group| ready[group], now);
        Some((place, cluster.size(place)?))
    }

    /// Waits until a VM is ready or another is lost, or until time is up.
    pub(super) fn wait(
        &mut self,
        stage: &mut Stage,
        cluster: &Cluster,
        until: SimTime,
    ) -> Result<(), UnfinishedJob> {
        let now = stage.now();
        let ready = self.present.next_ready(now);
        // Without anyone to come, losses change nothing for the better.
        if ready == SimTime::LAST && cluster.elastic.is_none() {
            return Err(UnfinishedJob::NobodyLeft { at: now });
        }
        let next = ready.min(self.next_end()).min(self.next_told(cluster));
        let next = match &cluster.elastic {
            Some(elastic) => next.min(elastic.target(0, now).1),
            None => next,
        };
        if next == SimTime::LAST {
            return Err(UnfinishedJob::NobodyLeft { at: now });
        }
        stage.enter(Phase::Waiting);
        stage.wait(next.min(until) - now, Event::VmsReady)
    }

    /// Tells the ledger which VMs are held but have no part in the training yet.
    pub(super) fn note_starting(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let starting = self.present.starting(now);
        (stage.ledger).set_starting(starting.map(|vm| vm.rented.vm), now);
    }

    /// Hours since the oldest VM that can be taken away runs.
    pub(super) fn oldest_age_h(&mut self, now: SimTime) -> f64 {
        // One that does not run yet has no age.
        let oldest = self.present.oldest_runs().unwrap_or(now);
        (now - oldest).hours()
    }

    /// When a loss in the market is told of next that may take a VM.
    pub(super) fn next_told(&self, cluster: &Cluster) -> SimTime {
        let spot = cluster.spot.as_deref();
        let market = self.provider.market.as_ref();
        market.map_or(SimTime::LAST, |market| market.told_at(spot))
    }

    /// When a VM is lost next, as far as that is decided.
    pub(super) fn next_end(&self) -> SimTime {
        self.present.next_end()
    }

    /// Meets the losses in the market that are told of by `now`: VMs that they take end then.
    pub(super) fn meet_market(&mut self, spot: &Spot, now: SimTime) {
        let Some(market) = &mut self.provider.market else {
            return;
        };
        while market.told_at(Some(spot)) <= now {
            let (told, at) = (market.told_at(Some(spot)), market.at);
            let running = |vm: &Member| vm.on_spot && vm.rented.runs <= told && vm.rented.lost > at;
            (self.present).end_some(at, running, |own, take| {
                market.strike(&spot.losses, own, take);
            });
        }
    }

    /// Takes out one VM whose end has come by `now`, the oldest first.
    pub(super) fn take_lost(&mut self, now: SimTime) -> Option<Member> {
        self.present.take_lost(now)
    }

    pub(super) fn lose_one(&mut self, at: SimTime) {
        self.provider.market = None;
        let is_worker = |vm: &Member| vm.on_spot && !vm.is_server && !vm.is_chief;
        self.present.end_only(at, is_worker);
    }

    pub(super) fn restart_time(&self, cluster: &Cluster, now: SimTime) -> SimTime {
        let spot = cluster.spot.as_deref();
        match spot.and_then(|s| s.recovery.restart) {
            Some(pause) => pause.draw(|| self.provider.stream(Purpose::Restart(now))),
            None => SimTime::from_seconds(cluster.restart_s),
        }
    }

    pub(super) fn write_time(&self, cluster: &Cluster, now: SimTime) -> SimTime {
        let spot = cluster.spot.as_deref();
        spot.map_or(SimTime::ZERO, |s| {
            (s.recovery.write).draw(|| self.provider.stream(Purpose::CheckpointWrite(now)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::barrier_waits::Layout;
    use scavsim_base::rng::VmTypeKey;

    fn group(on_spot: bool) -> Group {
        Group {
            vm: 0,
            vm_type: VmTypeKey::from_name("vm"),
            market: u16::from(on_spot),
            vms: 1,
            most: 1,
            workers: 1,
            layout: Layout::new(),
            on_spot,
            is_server: false,
        }
    }

    #[test]
    fn age_counts_from_when_the_oldest_vm_runs_that_can_be_taken_away() {
        let mut members = Members::new(SimTime::ZERO, Streams::new(1));
        let at = |hours: f64| SimTime::from_seconds(3600.0 * hours);
        let mut request = |on_spot: bool, hours: f64, start_h: f64| {
            let boot = Pause::Fixed(at(start_h));
            let group = group(on_spot);
            members.ask(0, &group, None, at(hours), &boot, &Pause::NONE);
            members.oldest_age_h(at(3.0))
        };
        assert_eq!(request(false, 0.0, 0.0), 0.0);
        // It does not run yet.
        assert_eq!(request(true, 2.0, 4.0), 0.0);
        assert_eq!(request(true, 1.0, 0.5), 1.5);
        assert_eq!(request(true, 2.0, 0.0), 1.5);
        assert_eq!(request(true, 0.0, 1.0), 2.0);
    }
}
