//! Training while the cluster changes. Between two changes (a loss, a VM that joins, a checkpoint, another price) the workers
//! step as one stationary process: one stretch of the protocol, in the fidelity of the cluster. A stretch that is cut off
//! gives up the worker-steps in progress.

use super::Totals;
use super::members::Members;
use super::present_vms::Member;
use super::stage::Stage;
use super::work::{JobWork, RELIEF};
use crate::cluster::random_effects::RandomEffects;
use crate::cluster::{Chief, Cluster, Keeps, OnLoss, Size, Spot};
use crate::training::log::LogEvent;
use crate::training::progress::{Advance, Event, UnfinishedJob};
use crate::training::sync::{Goal, Invalid, Stretch};
use scavsim_base::rng::Stream;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::usage::{EndedBy, Phase};

/// Fraction of a run's steps that the mean number of gradients of an update may leave over.
const LEFT_OVER: f64 = 0.02;

pub(super) struct LiveRun<'a> {
    stage: &'a mut Stage,
    members: &'a mut Members,
    totals: &'a mut Totals,
    cluster: &'a Cluster,
    luck: &'a RandomEffects,
    phase: Phase,
    /// Steps to go, and when time is up.
    total: u64,
    until: SimTime,
    work: JobWork,
    times: Advance,
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
}

enum NextAction<'a> {
    /// Waits until a VM is ready or another is lost.
    Wait,
    /// Sets the batches of unlike workers for the size at this place, which takes a time.
    Settle(usize, SimTime),
    /// All go on from a checkpoint, or in another size.
    Restart,
    Stretch(StretchPlan<'a>),
    /// Writes a checkpoint, warned of a loss at a moment or without a warning.
    Checkpoint(Option<SimTime>),
    /// The run has come to its end, or time is up.
    End,
}

struct StretchPlan<'a> {
    size: &'a Size,
    /// Steps of the configuration after which it stops anyway.
    end: f64,
    /// When something may change.
    until: SimTime,
    /// The next loss as far as it is known, and when the provider warns of it.
    loss: SimTime,
    notice: SimTime,
}

impl<'a> LiveRun<'a> {
    /// A run of `steps` steps, which ends before when it is `until`.
    pub(super) fn new(
        stage: &'a mut Stage,
        members: &'a mut Members,
        totals: &'a mut Totals,
        cluster: &'a Cluster,
        luck: &'a RandomEffects,
        steps: u64,
        until: SimTime,
    ) -> Self {
        let mut work = JobWork::new(steps as f64 * cluster.whole.step_s);
        work.save(stage);
        stage.log.trains();
        LiveRun {
            phase: stage.ledger.phase(),
            times: Advance::from(stage.now()),
            stage,
            members,
            totals,
            cluster,
            luck,
            total: steps,
            until,
            work,
            restarts: false,
            place: cluster.usual,
            settled: None,
            warned_of: SimTime::LAST,
            wanted: None,
        }
    }

    /// Trains through all that happens; times, with the end as the mark, and complete steps. Fails when nobody is left to go
    /// on, the run is given up, or time is up.
    pub(super) fn finish(&mut self, stream: &mut Stream) -> Result<(Advance, u64), UnfinishedJob> {
        let mut next = self.look()?;
        loop {
            next = match next {
                NextAction::Wait => {
                    self.members.wait(self.stage, self.cluster, self.until)?;
                    self.look()?
                }
                NextAction::Settle(place, time) => {
                    if self.pause(time, Event::Restored)? {
                        self.settled = Some(place);
                    }
                    self.look()?
                }
                NextAction::Restart => {
                    let time = self.members.restart_time(self.cluster, self.stage.now());
                    self.restarts = !self.pause(time, Event::Restored)?;
                    self.look()?
                }
                NextAction::Stretch(ahead) => self.train(&ahead, stream)?,
                NextAction::Checkpoint(warned_of) => {
                    self.write(warned_of)?;
                    self.look()?
                }
                NextAction::End => break,
            };
        }
        self.times.at_mark = self.stage.now();
        let steps = (self.work.done + RELIEF) as u64;
        Ok((self.times, steps.min(self.total)))
    }

    /// Meets what is due now, and says what comes next.
    fn look(&mut self) -> Result<NextAction<'a>, UnfinishedJob> {
        let (cluster, total) = (self.cluster, self.total as f64);
        let now = self.stage.now();
        if self.work.done >= total - RELIEF || now >= self.until {
            return Ok(NextAction::End);
        }
        self.work.turn(now)?;
        self.meet_losses()?;
        self.meet_price();
        if cluster.changes_size() {
            self.members.note_starting(self.stage);
        }
        let Some((place, size)) = self.members.size(cluster, now) else {
            return Ok(NextAction::Wait);
        };
        if place != self.place {
            self.restarts |= cluster.has_barrier() && !cluster.is_same_size(place, self.place);
            self.place = place;
        }
        if self.phase == Phase::Training && self.settled != Some(place) {
            let seconds = self.luck.settle_s(cluster, place, size);
            if seconds > 0.0 {
                return Ok(NextAction::Settle(place, SimTime::from_seconds(seconds)));
            }
        }
        if self.restarts {
            return Ok(NextAction::Restart);
        }
        self.stage.enter(self.phase);
        let done = self.work.done;
        let due = *self.work.due.get_or_insert_with(|| {
            let age_h = if cluster.policy.heeds_age() {
                self.members.oldest_age_h(now)
            } else {
                0.0
            };
            match checkpoint_after(cluster, size, total - done, age_h) {
                Some(steps) => done + steps,
                None => f64::INFINITY,
            }
        });
        let loss = self.members.next_end();
        let notice = notice_of(cluster, loss, self.warned_of, now);
        let mut until = loss.min(self.members.next_told(cluster)).min(notice);
        if cluster.changes_size() {
            until = until.min(self.members.present.next_ready(now));
        }
        if let Some((_, changes)) = self.wanted {
            until = until.min(changes);
        }
        if let Some(changes) = cluster.next_level(now) {
            until = until.min(changes);
        }
        let ahead = StretchPlan {
            size,
            end: end_of(size, done, due).min(total),
            until: until.min(self.until),
            loss,
            notice,
        };
        match until > now {
            true => Ok(NextAction::Stretch(ahead)),
            // All other changes that were due are met.
            false if notice <= now => Ok(NextAction::Checkpoint(Some(loss))),
            false => Err(UnfinishedJob::defect(now)),
        }
    }

    /// Steps until something changes, in the fidelity of the cluster; and what comes behind.
    fn train(
        &mut self,
        ahead: &StretchPlan<'a>,
        stream: &mut Stream,
    ) -> Result<NextAction<'a>, UnfinishedJob> {
        let (size, start) = (ahead.size, self.stage.now());
        let wanted = ((ahead.end - self.work.done) / size.per_update - RELIEF).ceil();
        let goal = Goal {
            updates: wanted.clamp(1.0, 1e18) as u64,
            mark: 0,
            until: ahead.until,
        };
        let stretch = self.stretch(size, goal, stream)?;
        self.times.compute_s += stretch.advance.compute_s;
        self.times.communication_s += stretch.advance.communication_s;
        let work = &mut self.work;
        work.done += size.worth(&stretch);
        let now = self.stage.now();
        work.unsafe_s += (now - start).seconds();
        if stretch.updates < goal.updates {
            return self.look();
        }
        if size.per_gradient.is_none() {
            // More than was asked for is not credited: a step is done or not.
            work.done = work.done.min(ahead.end).max(ahead.end - RELIEF);
        }
        let is_due = work.due.is_some_and(|due| work.done >= due - RELIEF);
        if work.done >= self.total as f64 - RELIEF {
            Ok(NextAction::End)
        } else if now == ahead.notice {
            Ok(NextAction::Checkpoint(Some(ahead.loss)))
        } else if is_due {
            Ok(NextAction::Checkpoint(None))
        } else {
            self.look()
        }
    }

    fn stretch(
        &mut self,
        size: &Size,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<Stretch, UnfinishedJob> {
        let stepping = self.luck.stepping_at(self.cluster, self.place, size);
        let (fidelity, _) = self.cluster.settle(self.stage.fidelity);
        let (stretch, why) = (self.stage).stretch(fidelity, &size.pace, &stepping, goal, stream)?;
        // What is left over by updates of any number of gradients is little, and no other fidelity of the run.
        let is_rest = size.per_gradient.is_some()
            && goal.updates as f64 * size.per_update < LEFT_OVER * self.total as f64;
        let left_mean = why == Some(Invalid::LeftMean);
        self.totals.fell_back |=
            fidelity != self.stage.fidelity || left_mean || (why.is_some() && !is_rest);
        self.totals.left_mean |= left_mean;
        self.totals.add(&stretch, size.gradient);
        Ok(stretch)
    }

    fn write(&mut self, warned_of: Option<SimTime>) -> Result<(), UnfinishedJob> {
        if let Some(loss) = warned_of {
            self.warned_of = loss;
        }
        let time = self.members.write_time(self.cluster, self.stage.now());
        if self.pause(time, Event::CheckpointWritten)? {
            self.work.save(self.stage);
        }
        self.work.due = None;
        self.stage.enter(self.phase);
        Ok(())
    }

    /// All stand still for `time`; whether that was over before a VM was lost, or time was up.
    fn pause(&mut self, time: SimTime, what: Event) -> Result<bool, UnfinishedJob> {
        if time == SimTime::ZERO {
            return Ok(true);
        }
        self.stage.enter(Phase::Restoring);
        let start = self.stage.now();
        let end = start + time;
        let is_over = loop {
            let now = self.stage.now();
            let lost = self.members.next_end();
            let loss = lost.min(self.members.next_told(self.cluster));
            if end <= loss.min(self.until) {
                self.stage.wait(end - now, what)?;
                break true;
            }
            if self.until < loss {
                self.stage.wait(self.until - now, Event::StepsDone)?;
                break false;
            }
            if lost <= loss {
                self.stage.wait(loss - now, Event::VmLost)?;
                break false;
            }
            // A loss in the market, which may take none of ours.
            self.stage.wait(loss - now, Event::StepsDone)?;
            if let Some(spot) = self.cluster.spot.as_deref() {
                self.members.meet_market(spot, loss);
            }
        };
        let what = match (what, is_over) {
            (Event::CheckpointWritten, true) => LogEvent::WRITTEN,
            (Event::CheckpointWritten, false) => LogEvent::NOT_WRITTEN,
            (_, true) => LogEvent::RESTORED,
            (_, false) => LogEvent::NOT_RESTORED,
        };
        let now = self.stage.now();
        self.stage.log.checkpoint(what, start, now);
        Ok(is_over)
    }

    fn meet_losses(&mut self) -> Result<(), UnfinishedJob> {
        let now = self.stage.now();
        if let Some(spot) = self.cluster.spot.as_deref() {
            self.members.meet_market(spot, now);
            while let Some(lost) = self.members.take_lost(now) {
                self.lose(spot, lost)?;
            }
        }
        Ok(())
    }

    fn meet_price(&mut self) {
        let (Some(elastic), Phase::Training) = (&self.cluster.elastic, self.phase) else {
            return;
        };
        let now = self.stage.now();
        if self.wanted.is_some_and(|(_, until)| until > now) {
            return;
        }
        let first = self.cluster.groups.first();
        let (vms, until) = elastic.target(first.map_or(0, |group| group.vms), now);
        // A chief on demand is one of them.
        let vms = first.map_or(vms, |group| vms.min(group.most));
        self.wanted = Some((vms, until));
        let held = self.members.present.held_in_group(0);
        for _ in vms..held {
            self.members.release_newest(self.stage, 0);
        }
        for _ in held..vms {
            self.members.request(self.stage, self.cluster, 0, true);
        }
    }

    /// A VM is lost: what that leaves of the work, and what happens to its place.
    fn lose(&mut self, spot: &Spot, lost: Member) -> Result<(), UnfinishedJob> {
        let now = self.stage.now();
        let vm = &lost.rented;
        Members::end(self.stage, vm, vm.lost, EndedBy::Provider);
        self.work.count_loss(now)?;
        let goes_back = lost.is_chief && spot.chief == Chief::GoesBack;
        if lost.is_chief && spot.chief == Chief::EndsTheRun {
            return Err(UnfinishedJob::ChiefLost { at: now });
        }
        if lost.ready > now {
            // It had no part in anything yet.
        } else if lost.is_server || goes_back || spot.recovery.keeps == Keeps::Checkpoint {
            self.work.fall_back(self.phase, self.stage);
            self.restarts = true;
        } else {
            // What others hold is as safe as a checkpoint.
            self.work.save(self.stage);
            self.restarts |= spot.on_loss == OnLoss::Wait || self.cluster.has_barrier();
        }
        self.work.due = None;
        let is_replaced = lost.is_server || spot.on_loss != OnLoss::Shrink;
        // One that was let go for its price is not wanted back.
        let group = usize::from(lost.group);
        let is_wanted = match self.wanted {
            Some((vms, _)) if group == 0 => self.members.present.held_in_group(0) < vms,
            _ => true,
        };
        if is_replaced && is_wanted {
            let joins = spot.on_loss == OnLoss::GoOn;
            self.members.request(self.stage, self.cluster, group, joins);
        }
        self.members.present.appoint_chief();
        Ok(())
    }
}

/// Steps until a checkpoint is due, if one is, with `left` steps to go.
fn checkpoint_after(cluster: &Cluster, size: &Size, left: f64, age_h: f64) -> Option<f64> {
    let step_h = size.step_s / SECONDS_PER_HOUR;
    let steps = cluster.policy.next_h(left * step_h, age_h)? / step_h;
    Some(match size.per_gradient {
        None => steps,
        Some(_) => steps.ceil().max(size.unit()),
    })
}

/// Steps after which a stretch ends for what is `due`, in whole updates: part of one would not be credited.
fn end_of(size: &Size, done: f64, due: f64) -> f64 {
    match size.per_gradient {
        None => done + ((due - done - RELIEF) / size.unit()).ceil().max(1.0) * size.unit(),
        Some(_) => due,
    }
}

/// When the job writes a checkpoint for `loss`; never if that is not agreed, cannot be complete in time, or was done.
fn notice_of(cluster: &Cluster, loss: SimTime, warned_of: SimTime, now: SimTime) -> SimTime {
    let Some(spot) = cluster.spot.as_deref() else {
        return SimTime::LAST;
    };
    let Some(notice) = spot.notice else {
        return SimTime::LAST;
    };
    // A warning that came while nobody trained is heeded now.
    let heeded = (loss - notice).max(now);
    let is_long_enough = spot.recovery.write.mean_s() <= (loss - heeded).seconds();
    if loss == SimTime::LAST || loss == warned_of || !is_long_enough {
        return SimTime::LAST;
    }
    heeded
}
