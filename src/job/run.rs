//! Training while the cluster changes.
//!
//! Between two changes (a loss, a VM that joins, a checkpoint, another price) the workers step as one stationary
//! process: one stretch of the protocol, in the fidelity of the cluster. A stretch that is cut off gives up the
//! worker-steps in progress.

use super::life::Job;
use super::roster::never;
use crate::cluster::groups::{Cluster, Size};
use crate::cluster::luck::Luck;
use crate::rng::Stream;
use crate::training::Fidelity;
use crate::training::progress::{Advance, Event, Unfinished};
use crate::training::sync::{Goal, Stretch};
use crate::units::{SECONDS_PER_HOUR, SimTime};
use crate::usage::Phase;

/// Time without any work saved after which a job is taken not to come to an end, as a multiple of what all steps take
/// without losses.
const LONGEST: f64 = 1000.0;
/// Turns of the loop without progress or time after which the job stalls.
const MOST_IDLE: u32 = 10_000;
/// Rounding errors of sums of steps stay below this fraction of a step.
const RELIEF: f64 = 1e-6;

/// Where a stretch of training to so many steps stands.
pub(super) struct Course {
    /// Steps complete, of the configuration, B samples each.
    pub(super) done: f64,
    /// Of them in a checkpoint.
    pub(super) saved: f64,
    /// Where the next checkpoint is due, once that is known.
    pub(super) due: Option<f64>,
    /// Whether all have to stop before they go on.
    pub(super) restarts: bool,
    /// The place of the size that trained last.
    pub(super) place: usize,
    /// The size for which batches are set.
    pub(super) settled: Option<usize>,
    /// The loss for which the last checkpoint at notice was written.
    pub(super) warned_of: SimTime,
    /// VMs of the first group that are wanted, where that changes with the price; and when it may change.
    pub(super) wanted: Option<(u32, SimTime)>,
    /// Losses since work was last saved, and until when that must happen.
    pub(super) losses: u32,
    pub(super) latest: SimTime,
    /// How long it may take.
    pub(super) patience: SimTime,
    /// Seconds of training since the last checkpoint.
    pub(super) unsafe_s: f64,
    /// Clock and progress of the turn before, and how many turns changed neither.
    pub(super) seen: (SimTime, u64),
    pub(super) idle: u32,
}

impl Course {
    /// All steps complete are safe at `now`.
    pub(super) fn save(&mut self, now: SimTime) {
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
    pub(super) fn train_live(
        &mut self,
        cluster: &Cluster,
        luck: &Luck,
        steps: u64,
        stream: &mut Stream,
    ) -> Result<Advance, Unfinished> {
        let phase = self.phase();
        let total = steps as f64;
        let step_s = cluster.whole.step_s;
        let patience = SimTime::from_seconds(LONGEST * (total * step_s).max(1.0));
        let mut all = Advance::from(self.now());
        let mut course = Course {
            done: 0.0,
            saved: 0.0,
            due: None,
            restarts: false,
            place: cluster.usual,
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
                if self.pause(cluster, settle, Event::Restored)? {
                    course.settled = Some(place);
                }
                continue;
            }
            if course.restarts {
                let restart = self.restart_time(cluster);
                course.restarts = !self.pause(cluster, restart, Event::Restored)?;
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
            let loss = self.roster().next_end();
            let notice = notice_of(cluster, loss, course.warned_of, now);
            let mut until = self.next_loss(cluster).min(notice);
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
                let stretch = self.part(cluster, size, luck, goal, stream)?;
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
                if self.pause(cluster, write, Event::CheckpointWritten)? {
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
    fn part(
        &mut self,
        cluster: &Cluster,
        size: &Size,
        luck: &Luck,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<Stretch, Unfinished> {
        let start = self.now();
        let stepping = luck.at(&size.stepping);
        let (fidelity, _) = cluster.settle(self.fidelity());
        let (stretch, by_events) =
            self.stretch_in(fidelity, &size.pace, &stepping, goal, stream)?;
        let seconds = (self.now() - start).seconds();
        let fell_back = by_events && self.fidelity() != Fidelity::Event;
        self.totals_mut().fell_back |= fell_back;
        self.totals_mut().add(&stretch, seconds);
        Ok(stretch)
    }

    /// All stand still for `time`; whether that was over before a VM was lost.
    fn pause(&mut self, cluster: &Cluster, time: SimTime, what: Event) -> Result<bool, Unfinished> {
        if time == SimTime::ZERO {
            return Ok(true);
        }
        self.enter(Phase::Restoring);
        let end = self.now() + time;
        loop {
            let now = self.now();
            let loss = self.next_loss(cluster);
            if end <= loss {
                self.wait(end - now, what)?;
                return Ok(true);
            }
            if self.roster().next_end() <= loss {
                self.wait(loss.max(now) - now, Event::VmLost)?;
                return Ok(false);
            }
            // A loss in the market, which may take none of ours.
            self.wait(loss - now, Event::StepsDone)?;
            if let Some(spot) = cluster.spot.as_deref() {
                self.roster_mut().meet_market(spot, loss);
            }
        }
    }

    /// When a VM may be lost next.
    pub(super) fn next_loss(&self, cluster: &Cluster) -> SimTime {
        self.roster().next_loss(cluster.spot.as_deref())
    }

    fn restart_time(&self, cluster: &Cluster) -> SimTime {
        let spot = cluster.spot.as_deref();
        match spot.and_then(|s| s.warm_restart) {
            Some(pause) => pause.draw(|| self.roster().delays(self.delay_key())),
            None => SimTime::from_seconds(cluster.restart_s),
        }
    }

    fn write_time(&self, cluster: &Cluster) -> SimTime {
        let spot = cluster.spot.as_deref();
        spot.map_or(SimTime::ZERO, |s| {
            s.write.draw(|| self.roster().delays(self.delay_key()))
        })
    }

    /// A key for a delay that begins now.
    fn delay_key(&self) -> u64 {
        self.now().nanoseconds() | 1 << 63
    }
}

/// Steps until a checkpoint is due, if one is, with `left` steps to go.
fn checkpoint_after(cluster: &Cluster, size: &Size, left: f64, age_h: f64) -> Option<f64> {
    let step_h = size.step_s / SECONDS_PER_HOUR;
    let work_h = cluster.policy.next_h(left * step_h, age_h)?;
    Some((work_h / step_h).ceil().max(1.0))
}

/// When the job is warned of `loss` and writes a checkpoint for it; never, if that is not agreed, could not be
/// complete in time, or was done.
fn notice_of(cluster: &Cluster, loss: SimTime, warned_of: SimTime, now: SimTime) -> SimTime {
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
