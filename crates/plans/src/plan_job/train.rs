//! Training through losses, failures, checkpoints and changes of what trains.

use super::{Paces, PlanJob, Restart};
use crate::pace::{self, PlanPace};
use crate::reaction::StateSaving;
use crate::terms::PlanWithTerms;
use scavsim_base::rng::{Purpose, Stream};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::usage::{Phase, Phases};
use scavsim_sim::cluster::checkpoint::Policy;
use scavsim_sim::cluster::{Keeps, Pause};
use scavsim_sim::job::TrainingResult;
use scavsim_sim::provider::MOST_LOSSES;
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::log::{LogEvent, Track};
use scavsim_sim::training::progress::Advance;
use scavsim_sim::training::sync::Goal;

/// Steps until a mark or until time is up: those that are kept, and what all took.
#[derive(Default)]
struct Done {
    kept: u64,
    saved: u64,
    /// A checkpoint that is being written: when it is safe, its steps, and the books when they were done.
    under_way: Option<(SimTime, u64, Phases)>,
    advance: pace::PlanAdvance,
}

impl PlanJob {
    /// Trains to the mark of a goal, then to its end, or until time is up. Both parts draw from the beginning of `stream`.
    pub fn train(
        &mut self,
        on: PlanWithTerms<'_>,
        paces: &mut dyn Paces,
        goal: Goal,
        phase: Phase,
        stream: &Stream,
    ) -> Result<TrainingResult, UnfinishedJob> {
        self.ledger.forget_mark();
        self.meet_plan(on);
        let mut done =
            self.train_steps(on, paces, goal.mark, goal.until, phase, &mut stream.clone())?;
        let (at_mark, lost_vms) = (self.now, self.ledger.lost_vms());
        if done.kept >= goal.mark && goal.updates > goal.mark {
            self.ledger.keep_mark(at_mark);
            let left = goal.updates - goal.mark;
            let more = self.train_steps(on, paces, left, goal.until, phase, &mut stream.clone())?;
            done.kept += more.kept;
            done.advance.add_all(&more.advance);
        }
        Ok(TrainingResult {
            advance: Advance {
                at_mark,
                compute_s: done.advance.compute_s,
                communication_s: done.advance.communication_s,
            },
            steps: done.kept,
            passed: done.advance.steps,
            lost_vms,
            totals: None,
        })
    }

    fn train_steps(
        &mut self,
        on: PlanWithTerms<'_>,
        paces: &mut dyn Paces,
        goal: u64,
        until: SimTime,
        phase: Phase,
        stream: &mut Stream,
    ) -> Result<Done, UnfinishedJob> {
        let upkeep = on.terms.upkeep(on.way);
        let policy = on.terms.checkpoints(on.way, on.way.draft.gpus());
        let keeps = upkeep.map_or(Keeps::Checkpoint, |upkeep| upkeep.keeps);
        let replacement = upkeep.map_or(Pause::NONE, |upkeep| upkeep.replacement);
        // Steps before this training are another's.
        let mut done = Done::default();
        let mut fruitless = 0;
        self.ledger.work_is_safe(self.now);
        loop {
            self.go_back(&mut done, keeps, phase);
            if done.kept >= goal || self.now >= until {
                break;
            }
            let left_s = (goal - done.kept) as f64 * on.way.step_s;
            self.form(on, &replacement, left_s)?;
            if !self.get_ready(on) || !self.maintain(on, &mut done) {
                fruitless += 1;
                if fruitless > MOST_LOSSES {
                    return Err(UnfinishedJob::TooManyLosses { at: self.now });
                }
                continue;
            }
            let Some(formation) = self.forming.now else {
                continue;
            };
            let whole_s = paces
                .pace_of(self.forming.whole.unwrap_or(formation))
                .mean_s();
            let pace = paces.pace_of(formation);
            let slowness = (1.0 - whole_s / pace.mean_s()).max(0.0);
            self.ledger.set_slowness(slowness, self.now);
            let left = goal - done.kept;
            let to_checkpoint = until_checkpoint(&policy, pace, &done, left);
            let steps = to_checkpoint.unwrap_or(left);
            let (advance, is_lost) = self.stretch(on, pace, steps, until, phase, stream)?;
            done.kept += advance.steps;
            done.advance.add_all(&advance);
            self.settle(&mut done);
            if is_lost {
                let response_s = self.take_lost(on, phase);
                self.forming.response_s += response_s;
                let is_kept = keeps == Keeps::Steps || self.restarts != Restart::Storage;
                fruitless = if is_kept && advance.steps > 0 {
                    0
                } else {
                    fruitless + 1
                };
                if fruitless > MOST_LOSSES {
                    return Err(UnfinishedJob::TooManyLosses { at: self.now });
                }
            } else if to_checkpoint.is_some_and(|to| to < left && advance.steps >= to)
                && done.kept < goal
                && self.now < until
                && self.save(on, &mut done)
            {
                fruitless = 0;
            }
            self.note((self.now, self.now), Track::Job, LogEvent::Steps(done.kept));
        }
        if done.kept >= goal {
            self.ledger.work_is_safe(self.now);
        }
        Ok(done)
    }

    /// Who has to go on from storage goes back to what is there.
    fn go_back(&mut self, done: &mut Done, keeps: Keeps, phase: Phase) {
        if self.restarts != Restart::Storage {
            return;
        }
        done.under_way = None;
        if done.kept == done.saved {
            return;
        }
        match keeps {
            Keeps::Checkpoint => {
                self.ledger.lose_unsafe_work(phase, self.now);
                done.kept = done.saved;
            }
            Keeps::Steps => {
                done.saved = done.kept;
                self.ledger.work_is_safe(self.now);
            }
        }
    }

    /// Up to so many steps in which no VM is lost; whether one was lost at their end. They end before, with a step, when VMs come.
    fn stretch(
        &mut self,
        on: PlanWithTerms<'_>,
        pace: &mut PlanPace,
        steps: u64,
        until: SimTime,
        phase: Phase,
        stream: &mut Stream,
    ) -> Result<(pace::PlanAdvance, bool), UnfinishedJob> {
        let from = self.now;
        self.ledger.enter(phase, from);
        let offer = self.next_offer(on).min(self.maintenance_at);
        let is_soon = (offer - from).seconds() < 2.0 * pace.mean_s();
        let (steps, offer) = if is_soon {
            (steps.min(2), SimTime::LAST)
        } else {
            (steps, offer)
        };
        // The steps up to the next loss that is known; a market may take VMs before.
        let hard = until.min(self.known_loss(on));
        let limit = hard.min(offer);
        let (drift, before) = (self.drift.clone(), stream.clone());
        let (mut advance, mut end) = pace.advance(
            steps,
            (from, limit),
            &mut self.drift,
            stream,
            &self.interrupt,
        )?;
        if advance.steps < steps && (limit == hard || advance.steps == 0) {
            // In the middle of a step.
            end = limit;
        }
        let loss = self.first_loss(on, end);
        if let Some(loss) = loss.filter(|loss| *loss < end) {
            (self.drift, *stream) = (drift, before);
            let span = (from, loss);
            (advance, _) = pace.advance(steps, span, &mut self.drift, stream, &self.interrupt)?;
            end = loss;
        }
        self.pass_until(end, phase);
        Ok((advance, loss.is_some()))
    }

    /// Lets pass the pauses before training (to react, to meet, to hand on state); whether nothing was lost meanwhile.
    fn get_ready(&mut self, on: PlanWithTerms<'_>) -> bool {
        let response_s = std::mem::take(&mut self.forming.response_s);
        if response_s > 0.0 && !self.pause(on, SimTime::from_seconds(response_s)) {
            return false;
        }
        if self.forming.pause_s > 0.0 {
            let pause = SimTime::from_seconds(self.forming.pause_s);
            if !self.pause(on, pause) {
                return false;
            }
            self.forming.pause_s = 0.0;
        }
        if self.restarts == Restart::None {
            return true;
        }
        let purpose = Purpose::Restart(self.now);
        let from_storage = self.restarts == Restart::Storage;
        let time = (on.terms).restart(on.way, from_storage, || self.provider.stream(purpose));
        let is_done = self.pause(on, time);
        if is_done {
            self.restarts = Restart::None;
        }
        is_done
    }

    /// Planned maintenance, where its time has come: what was done is saved, and all stop; whether nothing was lost meanwhile.
    fn maintain(&mut self, on: PlanWithTerms<'_>, done: &mut Done) -> bool {
        if self.now < self.maintenance_at {
            return true;
        }
        let planned = on
            .terms
            .failures
            .as_ref()
            .and_then(|failures| failures.maintenance);
        let Some((every, takes)) = planned else {
            return true;
        };
        if done.kept > done.saved && !self.save(on, done) {
            return false;
        }
        let is_done = self.pause(on, takes);
        self.maintenance_at = self.now + every;
        self.restarts = Restart::Storage;
        is_done && self.get_ready(on)
    }

    /// Writes a checkpoint; whether it was written, or is under way.
    fn save(&mut self, on: PlanWithTerms<'_>, done: &mut Done) -> bool {
        let from = self.now;
        let purpose = Purpose::CheckpointWrite(from);
        let time = (on.terms).write(on.way, || self.provider.stream(purpose));
        let is_done = match on.terms.reacting.saves {
            StateSaving::Asynchronous(copying) => {
                let books = self.ledger.books(from);
                let is_copied = self.pause(on, copying);
                if is_copied {
                    done.under_way = Some((self.now + time, done.kept, books));
                }
                is_copied
            }
            _ => {
                let is_done = self.pause(on, time);
                if is_done {
                    done.saved = done.kept;
                    self.ledger.work_is_safe(self.now);
                }
                is_done
            }
        };
        let what = if is_done {
            LogEvent::WRITTEN
        } else {
            LogEvent::NOT_WRITTEN
        };
        self.note((from, self.now), Track::Checkpoints, what);
        is_done
    }

    fn settle(&mut self, done: &mut Done) {
        if let Some((_, kept, books)) = done.under_way.take_if(|(at, ..)| *at <= self.now) {
            done.saved = kept;
            self.ledger.work_was_safe(books);
        }
    }
}

/// Steps until the next checkpoint; `None`: there is none.
fn until_checkpoint(policy: &Policy, pace: &PlanPace, done: &Done, left: u64) -> Option<u64> {
    let begun = done
        .under_way
        .as_ref()
        .map_or(done.saved, |(_, kept, _)| *kept);
    let since = done.kept - begun;
    let left_h = (left + since) as f64 * pace.mean_s() / SECONDS_PER_HOUR;
    let work_h = policy.next_h(left_h, 0.0)?;
    let steps = work_h * SECONDS_PER_HOUR / pace.mean_s();
    Some((steps.ceil() as u64).saturating_sub(since).clamp(1, left))
}
