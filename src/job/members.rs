//! Who is there: VMs that are lost, requested, join and are given back while a job trains.

use super::life::Job;
use super::roster::{Vm, never};
use super::run::Course;
use crate::cluster::groups::MOST_GROUPS;
use crate::cluster::groups::{Cluster, Size};
use crate::cluster::terms::{Chief, Keeps, OnLoss, Pause, Spot};
use crate::training::progress::{Event, Unfinished};
use crate::units::SimTime;
use crate::usage::{EndedBy, Phase};

/// Losses without any work saved in between after which a job is taken not to come to an end.
const MOST_LOSSES: u32 = 20_000;

impl Job {
    /// Meets all that is due now: losses, and another price.
    pub(super) fn meet_changes(
        &mut self,
        cluster: &Cluster,
        course: &mut Course,
        phase: Phase,
    ) -> Result<(), Unfinished> {
        let now = self.now();
        if let Some(spot) = cluster.spot.as_deref() {
            self.roster_mut().meet_market(spot, now);
            while let Some(lost) = self.roster_mut().take_lost(now) {
                self.lose(cluster, spot, course, phase, lost)?;
            }
        }
        if let (Some(elastic), Phase::Training) = (&cluster.elastic, phase) {
            let usual = cluster.groups.first().map_or(0, |group| group.vms);
            let is_due = course.wanted.is_none_or(|(_, until)| until <= now);
            if is_due {
                let (vms, until) = elastic.target(usual, now);
                // A chief on demand is one of them.
                let vms = cluster
                    .groups
                    .first()
                    .map_or(vms, |group| vms.min(group.most));
                course.wanted = Some((vms, until));
                let held = self.roster().count(0);
                for _ in vms..held {
                    self.release_newest(0);
                }
                for _ in held..vms {
                    self.request(cluster, 0, true);
                }
            }
        }
        if cluster.changes_size() {
            self.note_starting();
        }
        Ok(())
    }

    /// A VM is lost: what that leaves of the work, and what happens to its place.
    fn lose(
        &mut self,
        cluster: &Cluster,
        spot: &Spot,
        course: &mut Course,
        phase: Phase,
        lost: Vm,
    ) -> Result<(), Unfinished> {
        let now = self.now();
        self.end_vm(&lost, lost.end, EndedBy::Provider);
        course.losses += 1;
        if course.losses > MOST_LOSSES || now > course.latest {
            return Err(Unfinished::TooManyLosses { at: now });
        }
        let goes_back = lost.is_chief && spot.chief == Chief::GoesBack;
        if lost.is_chief && spot.chief == Chief::EndsTheRun {
            return Err(Unfinished::ChiefLost { at: now });
        }
        if lost.ready > now {
            // It had no part in anything yet.
        } else if lost.is_server || goes_back || spot.keeps == Keeps::Checkpoint {
            course.done = course.saved;
            self.ledger_mut().lose_unsafe_work(phase, now);
            self.log().relabel(phase, Phase::Lost, course.unsafe_s, now);
            course.unsafe_s = 0.0;
            course.restarts = true;
        } else {
            // What others hold is as safe as a checkpoint.
            course.save(now);
            self.ledger_mut().work_is_safe(now);
            course.restarts |= spot.on_loss == OnLoss::Wait || cluster.has_barrier();
        }
        course.due = None;
        let is_replaced = lost.is_server || spot.on_loss != OnLoss::Shrink;
        // One that was let go for its price is not wanted back.
        let group = usize::from(lost.group);
        let is_wanted = match course.wanted {
            Some((vms, _)) if group == 0 => self.roster().count(0) < vms,
            _ => true,
        };
        if is_replaced && is_wanted {
            let joins = spot.on_loss == OnLoss::GoOn;
            self.request(cluster, group, joins);
        }
        self.roster_mut().appoint_chief();
        Ok(())
    }

    /// Requests a VM for a group; one that `joins` the others starts cold.
    fn request(&mut self, cluster: &Cluster, index: usize, joins: bool) {
        let Some(group) = cluster.groups.get(index) else {
            return;
        };
        let now = self.now();
        let spot = cluster.spot.as_deref();
        let key = self.roster().next_request();
        let (mut start, mut join) = (self.start_up(), SimTime::ZERO);
        if let Some(spot) = spot {
            let delays = || self.roster().delays(key);
            start = spot.replacement.draw(delays);
            if joins {
                join = spot.cold_join.draw(|| self.roster().delays(!key));
            }
        }
        let vm = (self.roster_mut()).request((index, group), spot, now, (start, join));
        self.ledger_mut().take(vm.vm, 1, now);
        self.log().request((vm.request as u32, vm.vm), now, vm.runs);
    }

    fn release_newest(&mut self, group: usize) {
        let now = self.now();
        if let Some(vm) = self.roster_mut().take_newest(group) {
            self.end_vm(&vm, now, EndedBy::User);
            self.roster_mut().appoint_chief();
        }
    }

    /// The size that can train now, if one can.
    pub(super) fn size<'c>(&self, cluster: &'c Cluster) -> Option<(usize, &'c Size)> {
        let now = self.now();
        let mut ready = [0u32; MOST_GROUPS];
        for vm in self.roster().vms() {
            ready[usize::from(vm.group)] += u32::from(vm.ready <= now);
        }
        let waits = !cluster.changes_size();
        let mut workers = 0;
        for (group, ready) in cluster.groups.iter().zip(ready) {
            if (waits || group.is_server) && ready < group.vms {
                return None;
            }
            workers += group.workers * ready;
        }
        let fewest = cluster.spot.as_ref().map_or(1, |s| s.fewest_workers.max(1));
        if !waits && workers < fewest {
            return None;
        }
        let place = cluster.place(|group| ready[group]);
        Some((place, cluster.size(place)?))
    }

    /// Waits until a VM is ready or another is lost.
    pub(super) fn wait_for_vms(&mut self, cluster: &Cluster) -> Result<(), Unfinished> {
        let now = self.now();
        let ready = self.roster().next_ready(now);
        // Without anyone to come, losses change nothing for the better.
        if ready == never() && cluster.elastic.is_none() {
            return Err(Unfinished::NobodyLeft { at: now });
        }
        let next = ready.min(self.next_loss(cluster));
        let next = match &cluster.elastic {
            Some(elastic) => next.min(elastic.target(0, now).1),
            None => next,
        };
        if next == never() {
            return Err(Unfinished::NobodyLeft { at: now });
        }
        self.enter(Phase::Waiting);
        self.wait(next - now, Event::VmsReady)
    }

    /// Hours since the oldest VM that can be taken away runs.
    pub(super) fn oldest_age_h(&self) -> f64 {
        let now = self.now();
        let spot = self.roster().vms().iter().filter(|vm| vm.on_spot);
        let oldest = spot.map(|vm| vm.runs).fold(now, SimTime::min);
        (now - oldest).hours()
    }

    /// Tells the ledger which VMs are held but have no part in the training yet.
    fn note_starting(&mut self) {
        let now = self.now();
        let (roster, ledger) = self.roster_and_ledger();
        let starting = roster.vms().iter().filter(|vm| vm.ready > now);
        ledger.set_starting(starting.map(|vm| vm.vm), now);
    }

    /// Holds the VMs of `cluster` in place of those before, as far as they do not suit it, and waits for new ones.
    ///
    /// # Errors
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub(super) fn hold_live(&mut self, cluster: &Cluster, batch: u32) -> Result<(), Unfinished> {
        let now = self.now();
        self.ledger_mut().resize_batch(batch, now);
        let mut given_back = Vec::new();
        self.roster_mut().fit(cluster, |vm| given_back.push(*vm));
        for vm in &given_back {
            self.end_vm(vm, now, EndedBy::User);
        }
        if let Some(first) = cluster.groups.first() {
            let workers = cluster.whole.stepping.workers;
            let vms = cluster.groups.iter().map(|g| g.vms).sum();
            (self.log()).cluster(first.vm, vms, (workers, batch), now);
        }
        let spot = cluster.spot.as_deref();
        let mut start_up = SimTime::ZERO;
        for (index, group) in cluster.groups.iter().enumerate() {
            let missing = group.vms.saturating_sub(self.roster().count(index));
            if missing == 0 {
                continue;
            }
            for _ in 0..missing {
                let key = self.roster().next_request();
                // VMs at the start of a job take as long as those that replace one, where that was measured.
                let start = match spot.map(|s| s.replacement) {
                    Some(measured @ Pause::Measured(_)) => {
                        measured.draw(|| self.roster().delays(key))
                    }
                    _ => self.start_up(),
                };
                start_up = start_up.max(start);
                let times = (start, SimTime::ZERO);
                let vm = (self.roster_mut()).request((index, group), spot, now, times);
                self.log().request((vm.request as u32, vm.vm), now, vm.runs);
            }
            self.ledger_mut().take(group.vm, missing, now);
        }
        self.roster_mut().appoint_chief();
        if start_up > SimTime::ZERO {
            self.enter(Phase::Waiting);
            self.wait(start_up, Event::VmsReady)?;
        }
        Ok(())
    }
}
