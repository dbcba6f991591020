//! Training while the cluster changes.
//!
//! Between two changes (a loss, a VM that joins, a checkpoint, another price) the workers step as one stationary
//! process: one stretch of the protocol, in the fidelity of the cluster. A stretch that is cut off gives up the
//! worker-steps in progress.

use super::cluster::{LiveCluster, Size};
use super::roster::{Vm, never};
use super::terms::{Chief, Keeps, OnLoss, Pause, Spot};
use crate::pricing::{EndedBy, Phase};
use crate::rng::Stream;
use crate::training::Fidelity;
use crate::training::job::Job;
use crate::training::luck::Luck;
use crate::training::progress::{Advance, Event, Unfinished};
use crate::training::sync::{Goal, Stretch};
use crate::units::{SECONDS_PER_HOUR, SimTime};

/// Losses without any work saved in between after which a job is taken not to come to an end.
const MOST_LOSSES: u32 = 20_000;
/// The same for time, as a multiple of what all steps take without losses.
const LONGEST: f64 = 1000.0;
/// Turns of the loop without progress or time after which the job stalls.
const MOST_IDLE: u32 = 10_000;
/// Rounding errors of sums of steps stay below this fraction of a step.
const RELIEF: f64 = 1e-6;

/// Where a stretch of training to so many steps stands.
struct Course {
    /// Steps complete, of the configuration, B samples each.
    done: f64,
    /// Of them in a checkpoint.
    saved: f64,
    /// Where the next checkpoint is due, once that is known.
    due: Option<f64>,
    /// Whether all have to stop before they go on.
    restarts: bool,
    /// The place of the size that trained last.
    place: usize,
    /// The size for which batches are set.
    settled: Option<usize>,
    /// The loss for which the last checkpoint at notice was written.
    warned_of: SimTime,
    /// VMs of the first group that are wanted, where that changes with the price; and when it may change.
    wanted: Option<(u32, SimTime)>,
    /// Losses since work was last saved, and until when that must happen.
    losses: u32,
    latest: SimTime,
    /// How long it may take.
    patience: SimTime,
    /// Seconds of training since the last checkpoint.
    unsafe_s: f64,
    /// Clock and progress of the turn before, and how many turns changed neither.
    seen: (SimTime, u64),
    idle: u32,
}

impl Course {
    /// All steps complete are safe at `now`.
    fn save(&mut self, now: SimTime) {
        if self.done > self.saved || self.latest == never() {
            (self.losses, self.latest) = (0, now + self.patience);
        }
        self.saved = self.done;
        self.unsafe_s = 0.0;
    }
}

impl Job {
    /// Trains `steps` steps in the ledger's phase through all that happens to `cluster`.
    ///
    /// # Errors
    /// [`Unfinished`] when nobody is left to go on, the run is given up, or losses leave no time to reach the end.
    pub fn train_live(
        &mut self,
        cluster: &LiveCluster,
        luck: &Luck,
        steps: u64,
        stream: &mut Stream,
    ) -> Result<Advance, Unfinished> {
        let phase = self.phase();
        let total = steps as f64;
        let step_s = cluster.size(cluster.whole).map_or(0.0, |size| size.step_s);
        let patience = SimTime::from_seconds(LONGEST * (total * step_s).max(1.0));
        let mut all = Advance::from(self.now());
        let mut course = Course {
            done: 0.0,
            saved: 0.0,
            due: None,
            restarts: false,
            place: cluster.whole,
            settled: None,
            warned_of: never(),
            wanted: None,
            losses: 0,
            latest: never(),
            patience,
            unsafe_s: 0.0,
            seen: (never(), 0),
            idle: 0,
        };
        let now = self.now();
        course.save(now);
        self.ledger_mut().work_is_safe(now);
        self.log().trains();
        while course.done < total - RELIEF {
            let at = (self.now(), course.done.to_bits());
            course.idle = if at == course.seen {
                course.idle + 1
            } else {
                0
            };
            course.seen = at;
            if course.idle > MOST_IDLE {
                return Err(Unfinished::defect(self.now()));
            }
            self.meet_changes(cluster, &mut course, phase)?;
            let now = self.now();
            let Some((place, size)) = self.size(cluster) else {
                self.wait_for_vms(cluster)?;
                continue;
            };
            if place != course.place {
                course.place = place;
                course.restarts |= cluster.has_barrier();
            }
            if phase == Phase::Training && size.settle_s > 0.0 && course.settled != Some(place) {
                let settle = SimTime::from_seconds(size.settle_s);
                if self.pause(settle, Event::Restored)? {
                    course.settled = Some(place);
                }
                continue;
            }
            if course.restarts {
                let restart = self.restart_time(cluster);
                course.restarts = !self.pause(restart, Event::Restored)?;
                continue;
            }
            self.enter(phase);
            let left = total - course.done;
            let due = *course.due.get_or_insert_with(|| {
                let age_h = self.oldest_age_h();
                match checkpoint_after(cluster, size, left, age_h) {
                    Some(steps) => course.done + steps,
                    None => f64::INFINITY,
                }
            });
            let loss = self.roster().next_loss();
            let notice = notice_of(cluster, loss, course.warned_of, now);
            let mut until = loss.min(notice);
            if cluster.changes_size() {
                until = until.min(self.roster().next_ready(now));
            }
            if let Some((_, changes)) = course.wanted {
                until = until.min(changes);
            }
            if until > now {
                let end = due.min(total);
                let wanted = ((end - course.done) / size.per_update - RELIEF).ceil();
                let goal = Goal {
                    updates: wanted.clamp(1.0, 1e18) as u64,
                    mark: 0,
                    until,
                };
                let stretch = self.stretch(cluster, size, luck, goal, stream)?;
                all.compute_s += stretch.advance.compute_s;
                all.communication_s += stretch.advance.communication_s;
                course.done += size.worth(&stretch);
                course.unsafe_s += (self.now() - now).seconds();
                if stretch.updates < goal.updates {
                    continue;
                }
                if size.per_gradient.is_none() {
                    // More than was asked for is not credited: a step is done or not.
                    course.done = course.done.min(end).max(end - RELIEF);
                }
            }
            if course.done >= total - RELIEF {
                break;
            }
            if course.done >= due - RELIEF || self.now() == notice {
                if self.now() == notice {
                    course.warned_of = loss;
                }
                let write = self.write_time(cluster);
                if self.pause(write, Event::CheckpointWritten)? {
                    let now = self.now();
                    course.save(now);
                    self.ledger_mut().work_is_safe(now);
                }
                course.due = None;
                self.enter(phase);
            }
        }
        all.at_mark = self.now();
        Ok(all)
    }

    /// Steps until the goal is reached, in the fidelity of the cluster.
    fn stretch(
        &mut self,
        cluster: &LiveCluster,
        size: &Size,
        luck: &Luck,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<Stretch, Unfinished> {
        let start = self.now();
        let stepping = luck.at(&size.stepping);
        let mut done = None;
        let (fidelity, _) = cluster.settle(self.fidelity());
        if fidelity != Fidelity::Event {
            let pace = size.pace.in_fidelity(fidelity);
            let (drift, scratch) = self.drift_and_scratch();
            let paced = pace.advance(start, drift, &stepping, goal, stream, scratch);
            if let Ok((stretch, end)) = paced {
                self.wait(end - start, Event::StepsDone)?;
                done = Some(stretch);
            }
        }
        let by_events = done.is_none();
        let stretch = match done {
            Some(stretch) => stretch,
            None => {
                let mut floor = self.floor(&stepping, stream);
                (cluster.protocol).advance(&mut floor, goal)?
            }
        };
        let seconds = (self.now() - start).seconds();
        self.totals.fell_back |= by_events && self.fidelity() != Fidelity::Event;
        self.totals.add(&stretch, seconds);
        Ok(stretch)
    }

    /// Meets all that is due now: losses, and another price.
    fn meet_changes(
        &mut self,
        cluster: &LiveCluster,
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
        cluster: &LiveCluster,
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
        if lost.runs > now {
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
    fn request(&mut self, cluster: &LiveCluster, index: usize, joins: bool) {
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
    fn size<'c>(&self, cluster: &'c LiveCluster) -> Option<(usize, &'c Size)> {
        let now = self.now();
        let mut ready = [0u32; super::roster::MOST_GROUPS];
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
    fn wait_for_vms(&mut self, cluster: &LiveCluster) -> Result<(), Unfinished> {
        let now = self.now();
        let ready = self.roster().next_ready(now);
        // Without anyone to come, losses change nothing for the better.
        if ready == never() && cluster.elastic.is_none() {
            return Err(Unfinished::NobodyLeft { at: now });
        }
        let next = ready.min(self.roster().next_loss());
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

    /// All stand still for `time`; whether that was over before the next loss.
    fn pause(&mut self, time: SimTime, what: Event) -> Result<bool, Unfinished> {
        let now = self.now();
        let loss = self.roster().next_loss();
        if time == SimTime::ZERO {
            return Ok(true);
        }
        self.enter(Phase::Restoring);
        if now + time <= loss {
            self.wait(time, what)?;
            return Ok(true);
        }
        self.wait(loss.max(now) - now, Event::VmLost)?;
        Ok(false)
    }

    fn restart_time(&self, cluster: &LiveCluster) -> SimTime {
        let spot = cluster.spot.as_deref();
        match spot.and_then(|s| s.warm_restart) {
            Some(pause) => pause.draw(|| self.roster().delays(self.delay_key())),
            None => SimTime::from_seconds(cluster.restart_s),
        }
    }

    fn write_time(&self, cluster: &LiveCluster) -> SimTime {
        let spot = cluster.spot.as_deref();
        spot.map_or(SimTime::ZERO, |s| {
            s.write.draw(|| self.roster().delays(self.delay_key()))
        })
    }

    /// A key for a delay that begins now.
    fn delay_key(&self) -> u64 {
        self.now().nanoseconds() | 1 << 63
    }

    /// Hours since the oldest VM that can be taken away runs.
    fn oldest_age_h(&self) -> f64 {
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
}

/// Steps until a checkpoint is due, if one is, with `left` steps to go.
fn checkpoint_after(cluster: &LiveCluster, size: &Size, left: f64, age_h: f64) -> Option<f64> {
    let step_h = size.step_s / SECONDS_PER_HOUR;
    let work_h = cluster.policy.next_h(left * step_h, age_h)?;
    Some((work_h / step_h).ceil().max(1.0))
}

/// When the job is warned of `loss` and writes a checkpoint for it; never, if that is not agreed, could not be
/// complete in time, or was done.
fn notice_of(cluster: &LiveCluster, loss: SimTime, warned_of: SimTime, now: SimTime) -> SimTime {
    let Some(spot) = cluster.spot.as_deref() else {
        return never();
    };
    let Some(notice) = spot.notice else {
        return never();
    };
    // A warning that came while nobody trained is heeded now.
    let heeded = (loss - notice).max(now);
    let is_long_enough = spot.write.mean_s() <= (loss - heeded).seconds();
    if loss == never() || loss == warned_of || !is_long_enough {
        return never();
    }
    heeded
}

impl Job {
    /// Holds the VMs of `cluster` in place of those before, as far as they do not suit it, and waits for new ones.
    ///
    /// # Errors
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub fn hold_live(&mut self, cluster: &LiveCluster, batch: u32) -> Result<(), Unfinished> {
        let now = self.now();
        self.ledger_mut().resize_batch(batch, now);
        let mut given_back = Vec::new();
        self.roster_mut().fit(cluster, |vm| given_back.push(*vm));
        for vm in &given_back {
            self.end_vm(vm, now, EndedBy::User);
        }
        if let Some(first) = cluster.groups.first() {
            let workers = cluster
                .size(cluster.whole)
                .map_or(0, |s| s.stepping.workers);
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
