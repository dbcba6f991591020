//! A bag from its first request of VMs to its last job: slots that run one job after the other.
//!
//! - `rental`: its VMs.

mod rental;

use std::collections::VecDeque;

use rental::is_worth;

use super::fate::Fate;
use super::vms::{Held, Vm};
use super::{Bag, Loss, Size};
use crate::engine::{Interrupt, Queue};
use crate::training::Unfinished;
use crate::training::log::Entry;
use scavsim_base::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;

/// Attempts that are lost one after the other, and VMs of one slot, after which no end is in sight.
const MOST_LOSSES: u32 = 10_000;

/// How a bag, or a part of one, ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// When.
    pub at: SimTime,
    /// Results that there are, those of a surrogate included.
    pub results: u32,
}

/// What is drawn for a job on a bag, wherever it runs; it goes on from one run to the next.
#[derive(Debug, Clone)]
pub struct Luck {
    jobs: Stream,
    notice: Stream,
    fate: Fate,
    /// VMs requested so far, by their type.
    requests: Vec<u64>,
    requested: u32,
}

impl Luck {
    /// That of `replica`.
    pub fn new(bag: &Bag, name: &str, streams: &Streams, replica: u64) -> Luck {
        let key = WorkloadKey::of(name);
        Luck {
            jobs: streams.stream(replica, Purpose::BagJobs(key)),
            notice: streams.stream(replica, Purpose::BagNotice(key)),
            fate: Fate::new(bag, streams, replica, Purpose::BagLosses(key)),
            requests: Vec::new(),
            requested: 0,
        }
    }
}

/// What happens next.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A slot may take a job.
    Ready(u32),
    /// An attempt of a slot is over: its job is done, or its loss is noticed.
    Over(u32, u32),
}

/// A place where one job runs at a time.
#[derive(Debug, Clone, Copy)]
struct Slot {
    state: State,
    /// Whether it holds VMs.
    has_vms: bool,
    /// Its attempts so far.
    attempt: u32,
    /// When the last began.
    began: SimTime,
    /// Time of its job over the mean.
    factor: f64,
    /// Whether the attempt is known to end in a loss.
    is_lost: bool,
}

/// What a slot does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There is no job for it, and none will come: what is lost elsewhere runs again there.
    Idle,
    /// It is about to take a job.
    Waits,
    /// It has looked which of its VMs to keep, and waits for others.
    Boots,
    /// It runs a job.
    Runs,
}

/// A run of a bag and its memory, which is kept from one to the next.
#[derive(Debug)]
pub struct Run {
    queue: Queue<Event>,
    slots: Vec<Slot>,
    /// VMs of the slots, as many for each.
    vms: Vec<Vm>,
    /// VMs without work, and since when.
    spares: VecDeque<(Vm, SimTime)>,
    /// Factors of lost jobs that are to be run again.
    again: Vec<f64>,
    /// Slots of the VMs that a strike may take, and the places of these; spares behind.
    alive: Vec<(Option<u32>, usize)>,
    /// Jobs that may be submitted.
    most: u32,
    submitted: u32,
    done: u32,
    lost_since_done: u32,
    /// Attempts where some are drawn to be lost, and how many were.
    attempts: u64,
    drawn: u32,
    began: SimTime,
    /// What happens, where somebody wants to see it.
    pub log: Option<Vec<Entry>>,
}

/// What a run is of.
#[derive(Debug, Clone, Copy)]
pub struct Of<'a> {
    /// The bag.
    pub bag: &'a Bag,
    /// How it is run.
    pub size: &'a Size,
    /// Its VMs cost as spot VMs do.
    pub on_spot: bool,
    /// Random streams.
    pub streams: &'a Streams,
    /// The replica.
    pub replica: u64,
}

/// What a run does to what goes on after it.
#[derive(Debug)]
pub struct Onto<'a> {
    /// What is drawn.
    pub luck: &'a mut Luck,
    /// What is held.
    pub held: &'a mut Held,
    /// What it counts as.
    pub phase: Phase,
}

impl Run {
    /// None yet.
    pub fn new(interrupt: &Interrupt) -> Run {
        Run {
            queue: Queue::heeding(interrupt.clone()),
            slots: Vec::new(),
            vms: Vec::new(),
            spares: VecDeque::new(),
            again: Vec::new(),
            alive: Vec::new(),
            most: 0,
            submitted: 0,
            done: 0,
            lost_since_done: 0,
            attempts: 0,
            drawn: 0,
            began: SimTime::ZERO,
            log: None,
        }
    }

    /// Runs a bag from `from` until there are `results`, or it is `until`. All VMs are given back then.
    ///
    /// # Errors
    /// [`Unfinished`] where so many results never come.
    pub fn run(
        &mut self,
        of: Of<'_>,
        onto: Onto<'_>,
        from: SimTime,
        (results, until): (u32, SimTime),
    ) -> Result<Ended, Unfinished> {
        self.begin(&of, from);
        onto.luck.fate.begin();
        let Onto { luck, held, phase } = onto;
        let goal = of.bag.simulated(results);
        // Nobody submits jobs that no result comes of, but in place of those that may be lost.
        self.most = match goal < of.bag.needed && of.bag.rerun {
            true => goal,
            false => of.bag.jobs,
        };
        for slot in 0..of.size.parallel_jobs {
            self.look_after(slot, &of, luck, held);
        }
        let ended = self.go_on(&of, luck, held, phase, (goal, until));
        let at = self.queue.now().max(from);
        let at = match ended {
            // The clock stood still at the last event.
            Ok(false) => at.max(until),
            _ => at,
        };
        let is_done = matches!(ended, Ok(true));
        let surrogate = of.bag.surrogate.filter(|_| is_done && results > goal);
        let end = surrogate.map(|surrogate| {
            let more_s = surrogate.train_s + f64::from(results - goal) * surrogate.result_s;
            at + SimTime::from_seconds(more_s)
        });
        let stop = end.map(|end| end.min(until.max(at)));
        self.give_all_back(&of, held, phase, (at, stop));
        ended?;
        let ended = |at, results| Ended { at, results };
        let (Some(end), Some(stop)) = (end, stop) else {
            return Ok(ended(at, self.done));
        };
        held.hold(of.size.vm, of.size.vms_per_job, at, stop);
        held.did(phase, of.size.vm, of.size.vms_per_job, (at, stop));
        Ok(match stop < end {
            true => ended(stop, self.done),
            false => ended(end, results),
        })
    }

    fn begin(&mut self, of: &Of<'_>, from: SimTime) {
        let size = of.size;
        self.queue.reset();
        self.queue.rest_until(from);
        self.slots.clear();
        self.slots.resize(
            size.parallel_jobs as usize,
            Slot {
                state: State::Waits,
                has_vms: false,
                attempt: 0,
                began: from,
                factor: 1.0,
                is_lost: false,
            },
        );
        let none = Vm {
            number: 0,
            asked: from,
            runs: from,
            lost: SimTime::LAST,
        };
        self.vms.clear();
        self.vms.resize(size.vms() as usize, none);
        self.spares.clear();
        self.again.clear();
        (self.submitted, self.done) = (0, 0);
        (self.lost_since_done, self.began) = (0, from);
        (self.attempts, self.drawn) = (0, 0);
    }

    /// Until `goal` jobs are done, or it is `until`; whether they are done.
    fn go_on(
        &mut self,
        of: &Of<'_>,
        luck: &mut Luck,
        held: &mut Held,
        phase: Phase,
        (goal, until): (u32, SimTime),
    ) -> Result<bool, Unfinished> {
        loop {
            if self.queue.is_interrupted() {
                return Err(Unfinished::Interrupted {
                    at: self.queue.now(),
                });
            }
            let next = self.queue.next_at();
            let strike = luck.fate.next(of.bag, of.size, self.began);
            if let Some((at, strike)) = strike
                && next.is_some_and(|next| at <= next)
                && at <= until
            {
                self.queue.rest_until(at);
                self.strike(strike, of, luck);
                continue;
            }
            let Some(event) = self.queue.advance_until(until) else {
                if self.queue.is_interrupted() {
                    continue;
                }
                return match next {
                    Some(_) => Ok(false),
                    None => Err(Unfinished::Unreached {
                        at: self.queue.now(),
                    }),
                };
            };
            if self.queue.now() >= SimTime::LAST {
                return Err(Unfinished::ClockEnded);
            }
            match event {
                Event::Ready(slot) => self.look_after(slot, of, luck, held),
                Event::Over(slot, attempt) if self.slots[slot as usize].attempt == attempt => {
                    self.end_attempt(slot, of, held, phase);
                    if self.done >= goal {
                        return Ok(true);
                    }
                }
                // A strike came between.
                Event::Over(..) => {}
            }
            if self.lost_since_done > MOST_LOSSES {
                return Err(Unfinished::TooManyLosses {
                    at: self.queue.now(),
                });
            }
        }
    }

    /// Jobs that nobody runs yet.
    fn pending(&self) -> usize {
        self.most.saturating_sub(self.submitted) as usize + self.again.len()
    }

    /// Places of a slot's VMs.
    fn places(size: &Size, slot: u32) -> std::ops::Range<usize> {
        let each = size.vms_per_job as usize;
        slot as usize * each..(slot as usize + 1) * each
    }

    /// A slot that is free takes a job, where there is one and its VMs run; else it asks for what is missing.
    fn look_after(&mut self, slot: u32, of: &Of<'_>, luck: &mut Luck, held: &mut Held) {
        let Of { bag, size, .. } = *of;
        let now = self.queue.now();
        let Slot { state, has_vms, .. } = self.slots[slot as usize];
        if state == State::Runs {
            return;
        }
        let is_first = self.slots[slot as usize].attempt == 0 && !has_vms;
        if self.pending() == 0 {
            self.rest(slot, of, held);
            return;
        }
        // What a slot waited for is not weighed again: it would never begin.
        let is_weighed = state == State::Boots;
        let mut ready = now;
        for place in Run::places(size, slot) {
            let own = self.vms[place];
            let keeps = has_vms && own.lost > now && (is_weighed || is_worth(bag, size, &own, now));
            if !keeps {
                if has_vms {
                    self.release(&own, of, held, now);
                }
                if has_vms {
                    self.lost_since_done += u32::from(own.lost <= now);
                }
                let spare = self.take_spare(of, held);
                let boot = match is_first {
                    true => &bag.first_boot,
                    false => &bag.boot,
                };
                self.vms[place] = spare.unwrap_or_else(|| self.request(of, luck, boot, now));
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
            self.queue.after(ready - now, Event::Ready(slot));
            return;
        }
        self.start_attempt(slot, of, luck);
    }

    /// A slot runs a job from now on.
    fn start_attempt(&mut self, slot: u32, of: &Of<'_>, luck: &mut Luck) {
        let Of { bag, size, .. } = *of;
        let now = self.queue.now();
        let factor = self.again.pop().unwrap_or_else(|| {
            self.submitted += 1;
            bag.job_time.sample(&mut luck.jobs)
        });
        let length = SimTime::from_seconds(size.job_s * factor);
        let places = Run::places(size, slot);
        let first = places.clone().map(|at| self.vms[at].lost).min();
        let mut over = now + length;
        let mut lost = first.filter(|at| *at < over);
        if let Some(at) = lost {
            over = bag.notice.heard(now, at, &mut luck.notice);
        } else if let Loss::Attempts(losses) = bag.loss
            && size.life.is_none()
            && self.is_drawn(losses, bag, luck)
        {
            let (at, heard) = bag.notice.anywhere(now, length, &mut luck.notice);
            let hit = places.start + luck.fate.hits.below(size.vms_per_job as usize);
            self.vms[hit].lost = at;
            (lost, over) = (Some(at), heard);
        }
        let own = &mut self.slots[slot as usize];
        own.state = State::Runs;
        own.attempt += 1;
        (own.began, own.factor, own.is_lost) = (now, factor, lost.is_some());
        let event = Event::Over(slot, own.attempt);
        self.queue.after(over - now, event);
    }

    /// Whether the attempt that begins is one of the `losses` among all that the bag needs, each as likely.
    fn is_drawn(&mut self, losses: u32, bag: &Bag, luck: &mut Luck) -> bool {
        let left = losses.saturating_sub(self.drawn);
        let all = u64::from(bag.needed) + u64::from(losses);
        let rest = all.saturating_sub(self.attempts).max(1);
        self.attempts += 1;
        let is_hit = left > 0 && luck.fate.hits.uniform() * (rest as f64) < f64::from(left);
        self.drawn += u32::from(is_hit);
        is_hit
    }

    /// An attempt is over: its job is done, or to be run again.
    fn end_attempt(&mut self, slot: u32, of: &Of<'_>, held: &mut Held, phase: Phase) {
        let Of { bag, size, .. } = *of;
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
            for place in Run::places(size, slot) {
                let to = self.vms[place].lost.min(now);
                held.did(lost_phase(phase), size.vm, 1, (began, to));
            }
            self.lost_since_done += 1;
            if bag.rerun {
                self.again.push(factor);
            }
        } else {
            held.did(phase, size.vm, size.vms_per_job, (began, now));
            self.done += 1;
            self.lost_since_done = 0;
        }
        self.queue.after(bag.dispatch_lag, Event::Ready(slot));
    }
}

/// What lost work counts as: that of a search is the search's.
fn lost_phase(phase: Phase) -> Phase {
    match phase {
        Phase::Training => Phase::Lost,
        other => other,
    }
}
