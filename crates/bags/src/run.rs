//! A bag from its first request of VMs to its last job: slots that run one job after the other.

use crate::job::{BagEvent, BagJob, BagRunSpec, Slot, State};
use crate::rental::is_worth;
use crate::{Bag, Loss};
use scavsim_base::units::SimTime;
use scavsim_sim::provider::MOST_LOSSES;
use scavsim_sim::training::UnfinishedJob;

impl BagJob {
    /// Runs a bag from now on until there are `results`, or it is `until`, and gives back all VMs; results that there are,
    /// those of a surrogate included.
    pub fn run(
        &mut self,
        of: BagRunSpec<'_>,
        (results, until): (u32, SimTime),
    ) -> Result<u32, UnfinishedJob> {
        let from = self.now;
        self.begin(of);
        let goal = of.bag.simulated(results);
        // Nobody submits jobs that no result comes of, but in place of those that may be lost.
        self.most = if goal < of.bag.needed && of.bag.rerun {
            goal
        } else {
            of.bag.jobs
        };
        for slot in 0..of.size.parallel_jobs {
            self.look_after(slot, of);
        }
        let ended = self.go_on(of, (goal, until));
        let mut at = self.queue.now().max(from);
        if ended == Ok(false) {
            // The clock stood still at the last event.
            at = at.max(until);
        }
        let surrogate = of
            .bag
            .surrogate
            .filter(|_| ended == Ok(true) && results > goal);
        let end = surrogate.map(|surrogate| {
            let more_s = surrogate.train_s + f64::from(results - goal) * surrogate.result_s;
            at + SimTime::from_seconds(more_s)
        });
        let stop = end.map(|end| end.min(until.max(at)));
        self.give_all_back(of, (at, stop));
        if let Some(stop) = stop {
            let vms = (of.size.vm, of.size.vms_per_job);
            self.hold(of.phase, vms, at, stop);
        }
        self.now = match &ended {
            Ok(_) => stop.unwrap_or(at),
            Err(why) => why.ended_at().max(from),
        };
        self.note_run(of, from);
        let is_trained = stop.is_some() && stop == end;
        ended.map(|_| if is_trained { results } else { self.done })
    }

    /// Until `goal` jobs are done, or it is `until`; whether they are done.
    fn go_on(
        &mut self,
        of: BagRunSpec<'_>,
        (goal, until): (u32, SimTime),
    ) -> Result<bool, UnfinishedJob> {
        loop {
            if self.queue.is_interrupted() {
                return Err(UnfinishedJob::Interrupted {
                    at: self.queue.now(),
                });
            }
            let next = self.queue.next_at();
            let strike = self.next_strike(of);
            if let Some((at, strike)) = strike
                && next.is_some_and(|next| at <= next)
                && at <= until
            {
                self.queue.rest_until(at);
                self.strike(strike, of);
                continue;
            }
            let Some(event) = self.queue.advance_until(until) else {
                if self.queue.is_interrupted() {
                    continue;
                }
                return match next {
                    Some(_) => Ok(false),
                    None => Err(UnfinishedJob::Unreached {
                        at: self.queue.now(),
                    }),
                };
            };
            if self.queue.now() >= SimTime::LAST {
                return Err(UnfinishedJob::ClockEnded);
            }
            match event {
                BagEvent::Ready(slot) => self.look_after(slot, of),
                BagEvent::Over(slot, attempt) if self.slots[slot as usize].attempt == attempt => {
                    self.end_attempt(slot, of);
                    if self.done >= goal {
                        return Ok(true);
                    }
                }
                // A strike came between.
                BagEvent::Over(..) => {}
            }
            if self.lost_since_done > MOST_LOSSES {
                return Err(UnfinishedJob::TooManyLosses {
                    at: self.queue.now(),
                });
            }
        }
    }

    /// A slot that is free takes a job, where there is one and its VMs run; else it asks for what is missing.
    fn look_after(&mut self, slot: u32, of: BagRunSpec<'_>) {
        let BagRunSpec { bag, size, .. } = of;
        let now = self.queue.now();
        let Slot { state, has_vms, .. } = self.slots[slot as usize];
        if state == State::Runs {
            return;
        }
        let is_first = self.slots[slot as usize].attempt == 0 && !has_vms;
        if self.pending() == 0 {
            self.idle_slot(slot, of);
            return;
        }
        // What a slot waited for is not weighed again: it would never begin.
        let is_weighed = state == State::Boots;
        let mut ready = now;
        for place in BagJob::places(size, slot) {
            let own = self.vms[place];
            let keeps = has_vms && own.lost > now && (is_weighed || is_worth(bag, size, &own, now));
            if !keeps {
                if has_vms {
                    self.release(&own, now);
                    self.lost_since_done += u32::from(own.lost <= now);
                }
                let spare = self.take_spare(of);
                let boot = if is_first { &bag.first_boot } else { &bag.boot };
                self.vms[place] = spare.unwrap_or_else(|| self.request(of, boot));
            }
            ready = ready.max(self.vms[place].runs);
        }
        if is_first && slot > 0 {
            let late = bag.start_stagger.seconds() * f64::from(slot);
            ready += SimTime::from_seconds(late);
        }
        let own = &mut self.slots[slot as usize];
        own.has_vms = true;
        if ready > now {
            own.state = State::Boots;
            self.queue.after(ready - now, BagEvent::Ready(slot));
            return;
        }
        self.start_attempt(slot, of);
    }

    fn start_attempt(&mut self, slot: u32, of: BagRunSpec<'_>) {
        let BagRunSpec { bag, size, .. } = of;
        let now = self.queue.now();
        let factor = self.again.pop().unwrap_or_else(|| {
            self.submitted += 1;
            bag.job_time.sample(&mut self.jobs)
        });
        let length = SimTime::from_seconds(size.job_s * factor);
        let places = BagJob::places(size, slot);
        let first = places.clone().map(|at| self.vms[at].lost).min();
        let mut over = now + length;
        let mut lost = first.filter(|at| *at < over);
        if let Some(at) = lost {
            over = bag.notice.heard(now, at, &mut self.notice);
        } else if let Loss::Attempts(losses) = bag.loss
            && size.life.is_none()
            && self.is_drawn(losses, bag)
        {
            let (at, heard) = bag.notice.anywhere(now, length, &mut self.notice);
            let hit = places.start + self.hits.below(size.vms_per_job as usize);
            self.vms[hit].lost = at;
            (lost, over) = (Some(at), heard);
        }
        let own = &mut self.slots[slot as usize];
        own.state = State::Runs;
        own.attempt += 1;
        (own.began, own.factor, own.is_lost) = (now, factor, lost.is_some());
        let event = BagEvent::Over(slot, own.attempt);
        self.queue.after(over - now, event);
    }

    /// Whether the attempt that begins is one of the `losses` among all that the bag needs, each as likely.
    fn is_drawn(&mut self, losses: u32, bag: &Bag) -> bool {
        let left = losses.saturating_sub(self.drawn);
        let all = u64::from(bag.needed) + u64::from(losses);
        let rest = all.saturating_sub(self.attempts).max(1);
        self.attempts += 1;
        let is_hit = left > 0 && self.hits.uniform() * (rest as f64) < f64::from(left);
        self.drawn += u32::from(is_hit);
        is_hit
    }

    fn end_attempt(&mut self, slot: u32, of: BagRunSpec<'_>) {
        let BagRunSpec { bag, size, .. } = of;
        let now = self.queue.now();
        let Slot {
            began,
            is_lost,
            factor,
            ..
        } = self.slots[slot as usize];
        self.slots[slot as usize].state = State::Waits;
        self.note_attempt(slot, (began, now), is_lost);
        if is_lost {
            for place in BagJob::places(size, slot) {
                let to = self.vms[place].lost.min(now);
                self.held.work(of.lost_phase(), (size.vm, 1), (began, to));
            }
            self.lost_since_done += 1;
            if bag.rerun {
                self.again.push(factor);
            }
        } else {
            let vms = (size.vm, size.vms_per_job);
            self.held.work(of.phase, vms, (began, now));
            self.done += 1;
            self.lost_since_done = 0;
        }
        self.queue.after(bag.dispatch_lag, BagEvent::Ready(slot));
    }
}
