//! Who is there: VMs that are requested, join, are lost and are given back.

use super::roster::{Roster, Vm, never};
use super::stage::Stage;
use crate::cluster::{Cluster, Group, Pause, Size, Spot};
use crate::training::progress::{Event, Unfinished};
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, Phase};

/// The VMs of a job, as they come and go.
#[derive(Debug, Clone)]
pub(super) struct Members {
    roster: Roster,
    /// What a request of new VMs takes, where nothing else was measured.
    start_up: SimTime,
}

impl Members {
    /// Nobody yet.
    pub(super) fn new(start_up: SimTime, streams: Streams) -> Self {
        Members {
            roster: Roster::new(streams),
            start_up,
        }
    }

    /// Nobody again, in `replica`, where VMs are lost on the terms `spot`.
    pub(super) fn restart(&mut self, replica: u64, spot: Option<&Spot>) {
        self.roster.restart(replica, spot);
    }

    /// Hours of the lives of all VMs that were requested, noted from here on.
    pub(super) fn lives_h(&mut self) -> &[f64] {
        self.roster.lives_h.get_or_insert_default()
    }

    /// Becomes the same as `other`, keeping the memory.
    pub(super) fn copy_from(&mut self, other: &Members) {
        self.roster.copy_from(&other.roster);
    }

    /// Holds the VMs of one group that stay, and no others, for so many workers and samples; waits for new ones.
    pub(super) fn hold_alike(
        &mut self,
        stage: &mut Stage,
        group: &Group,
        (workers, batch): (u32, u32),
    ) -> Result<(), Unfinished> {
        let now = stage.now();
        // Those that were told one by one.
        self.roster
            .give_back(|vm| Members::end(stage, vm, now, EndedBy::User));
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
    ) -> Result<(), Unfinished> {
        let now = stage.now();
        stage.ledger.resize_batch(batch, now);
        if self.roster.is_empty() && stage.ledger.vms() > 0 {
            // Those that nobody told one by one.
            stage.ledger.give_back_all(now);
            stage.log.give_back_all(now);
        }
        let mut given_back = Vec::new();
        self.roster.fit(cluster, |vm| given_back.push(*vm));
        for vm in &given_back {
            Members::end(stage, vm, now, EndedBy::User);
        }
        if let Some(first) = cluster.groups.first() {
            let workers = cluster.whole.stepping.workers;
            let vms = cluster.groups.iter().map(|g| g.vms).sum();
            stage.log.cluster(first.vm, vms, (workers, batch), now);
        }
        let spot = cluster.spot.as_deref();
        let mut start_up = SimTime::ZERO;
        for (index, group) in cluster.groups.iter().enumerate() {
            let missing = group.vms.saturating_sub(self.roster.count(index));
            for _ in 0..missing {
                let key = self.roster.next_request(group);
                // VMs at the start of a job take as long as those that replace one, where that was measured.
                let start = match spot.map(|s| s.replacement) {
                    Some(measured @ Pause::Measured(_)) => {
                        measured.draw(|| self.roster.stream(Purpose::StartUp(key)))
                    }
                    _ => self.start_up,
                };
                start_up = start_up.max(start);
                let times = (start, SimTime::ZERO);
                let vm = self.roster.request((index, group), spot, now, times);
                (stage.log).request((vm.request as u32, vm.vm), now, vm.runs);
            }
            if missing > 0 {
                stage.ledger.take(group.vm, missing, now);
            }
        }
        self.roster.appoint_chief();
        if start_up > SimTime::ZERO {
            stage.enter(Phase::Waiting);
            stage.wait(start_up, Event::VmsReady)?;
        }
        Ok(())
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
        let key = self.roster.next_request(group);
        let (mut start, mut join) = (self.start_up, SimTime::ZERO);
        if let Some(spot) = spot {
            start = (spot.replacement).draw(|| self.roster.stream(Purpose::StartUp(key)));
            if joins {
                join = (spot.cold_join).draw(|| self.roster.stream(Purpose::ColdJoin(key)));
            }
        }
        let vm = (self.roster).request((index, group), spot, now, (start, join));
        stage.ledger.take(vm.vm, 1, now);
        (stage.log).request((vm.request as u32, vm.vm), now, vm.runs);
    }

    /// Gives back the newest VM of a group.
    pub(super) fn release_newest(&mut self, stage: &mut Stage, group: usize) {
        if let Some(vm) = self.roster.take_newest(group) {
            let now = stage.now();
            Members::end(stage, &vm, now, EndedBy::User);
            self.roster.appoint_chief();
        }
    }

    /// A VM is no longer held.
    pub(super) fn end(stage: &mut Stage, vm: &Vm, end: SimTime, ended_by: EndedBy) {
        stage.ledger.end(vm.vm, vm.from, end, ended_by);
        let number = vm.request as u32;
        (stage.log).gone(number, end, ended_by == EndedBy::Provider);
    }

    /// The size that can train now, if one can.
    pub(super) fn size<'c>(
        &mut self,
        cluster: &'c Cluster,
        now: SimTime,
    ) -> Option<(usize, &'c Size)> {
        let ready = self.roster.ready(now);
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
    ) -> Result<(), Unfinished> {
        let now = stage.now();
        let ready = self.roster.next_ready(now);
        // Without anyone to come, losses change nothing for the better.
        if ready == never() && cluster.elastic.is_none() {
            return Err(Unfinished::NobodyLeft { at: now });
        }
        let next = ready.min(self.next_end()).min(self.next_told(cluster));
        let next = match &cluster.elastic {
            Some(elastic) => next.min(elastic.target(0, now).1),
            None => next,
        };
        if next == never() {
            return Err(Unfinished::NobodyLeft { at: now });
        }
        stage.enter(Phase::Waiting);
        stage.wait(next.min(until) - now, Event::VmsReady)
    }

    /// Tells the ledger which VMs are held but have no part in the training yet.
    pub(super) fn note_starting(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let starting = self.roster.starting(now);
        (stage.ledger).set_starting(starting.map(|vm| vm.vm), now);
    }

    /// Hours since the oldest VM that can be taken away runs.
    pub(super) fn oldest_age_h(&mut self, now: SimTime) -> f64 {
        // One that does not run yet has no age.
        let oldest = self.roster.oldest_runs().unwrap_or(now);
        (now - oldest).hours()
    }

    /// When a loss in the market is told of next that may take a VM.
    pub(super) fn next_told(&self, cluster: &Cluster) -> SimTime {
        self.roster.next_told(cluster.spot.as_deref())
    }

    /// When a VM is lost next, as far as that is decided.
    pub(super) fn next_end(&self) -> SimTime {
        self.roster.next_end()
    }

    /// When the next VM takes part that does not at `now`.
    pub(super) fn next_ready(&mut self, now: SimTime) -> SimTime {
        self.roster.next_ready(now)
    }

    /// Meets the losses in the market that are told of by `now`.
    pub(super) fn meet_market(&mut self, spot: &Spot, now: SimTime) {
        self.roster.meet_market(spot, now);
    }

    /// Takes out one VM whose end has come by `now`.
    pub(super) fn take_lost(&mut self, now: SimTime) -> Option<Vm> {
        self.roster.take_lost(now)
    }

    /// VMs of a group, whether ready or not.
    pub(super) fn count(&self, group: usize) -> u32 {
        self.roster.count(group)
    }

    /// Some worker is the chief, if there is one.
    pub(super) fn appoint_chief(&mut self) {
        self.roster.appoint_chief();
    }

    /// Takes away the newest worker but the chief at `at`, and no other VM.
    pub(super) fn lose_one(&mut self, at: SimTime) {
        self.roster.lose_one(at);
    }

    /// VMs that the provider took away so far.
    pub(super) fn lost(&self) -> u32 {
        self.roster.lost
    }

    /// What all need to go on from a checkpoint at `now`.
    pub(super) fn restart_time(&self, cluster: &Cluster, now: SimTime) -> SimTime {
        let spot = cluster.spot.as_deref();
        match spot.and_then(|s| s.warm_restart) {
            Some(pause) => pause.draw(|| self.roster.stream(Purpose::Restart(now))),
            None => SimTime::from_seconds(cluster.restart_s),
        }
    }

    /// What writing a checkpoint takes at `now`.
    pub(super) fn write_time(&self, cluster: &Cluster, now: SimTime) -> SimTime {
        let spot = cluster.spot.as_deref();
        spot.map_or(SimTime::ZERO, |s| {
            (s.write).draw(|| self.roster.stream(Purpose::CheckpointWrite(now)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::waits::Layout;
    use scavsim_base::rng::VmTypeKey;

    fn group(on_spot: bool) -> Group {
        Group {
            vm: 0,
            vm_type: VmTypeKey::of("vm"),
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
            let times = (at(start_h), SimTime::ZERO);
            let group = group(on_spot);
            (members.roster).request((0, &group), None, at(hours), times);
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
