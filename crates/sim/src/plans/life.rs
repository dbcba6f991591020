//! A job on a parallel plan: VMs requested, training, checkpoints, losses, and back to the last checkpoint.
//!
//! A plan needs all its VMs: whatever is lost stops the job until another is in its place, and all go on from the last
//! checkpoint.

use super::pace::PlanPace;
use super::terms::{On, Terms};
use super::{Choices, pace};
use crate::cluster::{Keeps, Losses, Pause};
use crate::engine::Interrupt;
use crate::job::{Bookmark, Trained};
use crate::provider::{Capacity, MOST_LOSSES, Provider, Vm, Wanted};
use crate::training::Unfinished;
use crate::training::drift::DriftPath;
use crate::training::log::{Entry, Track, What};
use crate::training::progress::Advance;
use crate::training::sync::Goal;
use scavsim_base::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::usage::ledger::Ledger;
use scavsim_data::usage::{EndedBy, Phase, Usage};

/// A job in one replica, with its clock and books.
#[derive(Debug, Clone)]
pub struct PlanJob {
    provider: Provider,
    /// How many GPUs there are, where that is known: then the provider takes whatever is more.
    capacity: Option<Capacity>,
    interrupt: Interrupt,
    now: SimTime,
    ledger: Ledger,
    kept: Bookmark,
    drift: DriftPath,
    /// The VMs held, in the order of requests.
    vms: Vec<Vm>,
    /// Whether all have to go on from a checkpoint before they train.
    restarts: bool,
    /// What happens, where somebody wants to see it.
    pub log: Option<Vec<Entry>>,
}

/// Steps until a mark or until time is up: those that are kept, and what all took.
#[derive(Default)]
struct Done {
    kept: u64,
    advance: pace::PlanAdvance,
}

impl PlanJob {
    /// A job at time zero that holds nothing, stopped from outside by `interrupt`.
    pub fn new(
        (choices, terms): (&Choices, &Terms),
        (streams, replica): (Streams, u64),
        interrupt: Interrupt,
    ) -> PlanJob {
        let key = WorkloadKey::of(&choices.name);
        let losses = terms.spot.as_deref().map(|spot| &spot.losses);
        let capacity = losses
            .filter(|_| terms.is_capacity)
            .and_then(|losses| Capacity::new(losses, &streams, replica));
        let of_market = losses.filter(|_| capacity.is_none());
        PlanJob {
            provider: Provider::new(streams, replica, of_market),
            capacity,
            interrupt,
            now: SimTime::ZERO,
            ledger: Ledger::default(),
            kept: Bookmark::nothing(),
            drift: DriftPath::new(terms.variation.drift, streams, replica, key),
            vms: Vec::new(),
            restarts: false,
            log: None,
        }
    }

    /// The clock.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// What was used when all VMs are released at `end`.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.kept.usage_until(&self.ledger, end, usage);
    }

    /// Holds the VMs of a plan, ready to train; those of another plan are kept as far as they are of use.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    pub fn hold(&mut self, on: On<'_>) -> Result<(), Unfinished> {
        for place in (0..self.vms.len()).rev() {
            let vm = self.vms[place];
            let before = self.vms[..place].iter().filter(|other| other.vm == vm.vm);
            if before.count() as u32 >= on.vms_of(vm.vm) {
                self.vms.remove(place);
                self.end(&vm, EndedBy::User);
            }
        }
        self.ledger.resize_batch(on.way.draft.batch, self.now);
        self.assemble(on, &on.terms.start_up)
    }

    /// Gives all VMs back.
    pub fn release_all(&mut self) {
        for vm in std::mem::take(&mut self.vms) {
            self.end(&vm, EndedBy::User);
        }
    }

    /// All go on from a checkpoint before they train.
    pub fn restart_before_training(&mut self) {
        self.restarts = true;
    }

    /// Passes so many seconds of training on what is held, for nothing but what they show.
    pub fn look(&mut self, seconds: f64, phase: Phase) {
        self.ledger.enter(phase, self.now);
        self.pass_until(self.now + SimTime::from_seconds(seconds), phase);
    }

    fn pass_until(&mut self, until: SimTime, phase: Phase) {
        let from = std::mem::replace(&mut self.now, until);
        self.ledger.enter(phase, until);
        self.note((from, until), Track::Job, What::Phase(phase));
    }

    fn note(&mut self, span: (SimTime, SimTime), track: Track, what: What) {
        if let Some(log) = &mut self.log {
            log.push(Entry::span(span, track, what));
        }
    }

    /// A VM is gone now.
    fn end(&mut self, vm: &Vm, by: EndedBy) {
        self.ledger.end(vm.vm, vm.asked, self.now, by);
        if let Some(log) = &mut self.log {
            log.extend(Entry::of_gone((vm.number, vm.vm), (vm.runs, self.now), by));
        }
    }

    /// VMs that are held run until `at`, for those who look on.
    pub fn note_still_running(&mut self, at: SimTime) {
        for vm in self.vms.clone() {
            if vm.runs < at {
                self.note((vm.runs, at), Track::Vm(vm.number), What::Running(vm.vm));
            }
        }
    }

    /// Trains on a plan up to the mark of a goal and then to its end, or until time is up. Both parts draw from the
    /// beginning of `stream`.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    pub fn train(
        &mut self,
        on: On<'_>,
        pace: &mut PlanPace,
        (goal, phase): (Goal, Phase),
        stream: &Stream,
    ) -> Result<Trained, Unfinished> {
        self.kept.forget();
        let to = |steps| (steps, goal.until, phase);
        let mut done = self.train_steps(on, pace, to(goal.mark), &mut stream.clone())?;
        let (at_mark, lost_vms) = (self.now, self.provider.lost);
        if done.kept >= goal.mark && goal.updates > goal.mark {
            self.kept.keep(at_mark, &self.ledger);
            let left = goal.updates - goal.mark;
            let more = self.train_steps(on, pace, to(left), &mut stream.clone())?;
            done.kept += more.kept;
            done.advance.add_all(&more.advance);
        }
        Ok(Trained {
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

    /// Trains until so many steps are kept, or time is up.
    fn train_steps(
        &mut self,
        on: On<'_>,
        pace: &mut PlanPace,
        (goal, until, phase): (u64, SimTime, Phase),
        stream: &mut Stream,
    ) -> Result<Done, Unfinished> {
        let policy = on.terms.checkpoints(on.way);
        let spot = on.spot();
        let keeps = spot.map_or(Keeps::Checkpoint, |spot| spot.keeps);
        let replacement = spot.map_or(&Pause::NONE, |spot| &spot.replacement);
        let mut done = Done::default();
        // Steps that the last checkpoint has: those before this training are another's.
        let mut saved = 0;
        let mut fruitless = 0;
        self.ledger.work_is_safe(self.now);
        while done.kept < goal && self.now < until {
            self.assemble(on, replacement)?;
            if self.restarts && !self.restart(on) {
                continue;
            }
            let left = goal - done.kept;
            let left_h = left as f64 * pace.mean_s() / SECONDS_PER_HOUR;
            let to_checkpoint = policy.next_h(left_h, 0.0).map(|work_h| {
                let steps = work_h * SECONDS_PER_HOUR / pace.mean_s();
                (steps.ceil() as u64).clamp(1, left)
            });
            let steps = to_checkpoint.unwrap_or(left);
            let (advance, is_lost) = self.stretch(on, pace, (steps, until, phase), stream)?;
            done.kept += advance.steps;
            done.advance.add_all(&advance);
            if is_lost {
                if keeps == Keeps::Checkpoint && done.kept > saved {
                    self.ledger.lose_unsafe_work(phase, self.now);
                    done.kept = saved;
                } else if keeps == Keeps::Steps && done.kept > saved {
                    saved = done.kept;
                    fruitless = 0;
                    self.ledger.work_is_safe(self.now);
                }
                fruitless += 1;
                if fruitless > MOST_LOSSES {
                    return Err(Unfinished::TooManyLosses { at: self.now });
                }
                self.take_lost();
                self.restarts = true;
            } else if to_checkpoint.is_some_and(|steps| steps < left)
                && done.kept < goal
                && self.now < until
                && self.write(on)
            {
                saved = done.kept;
                fruitless = 0;
                self.ledger.work_is_safe(self.now);
            }
            self.note((self.now, self.now), Track::Job, What::Steps(done.kept));
        }
        if done.kept >= goal {
            self.ledger.work_is_safe(self.now);
        }
        Ok(done)
    }

    /// Up to so many steps in which no VM is lost; whether one was lost at their end.
    fn stretch(
        &mut self,
        on: On<'_>,
        pace: &mut PlanPace,
        (steps, until, phase): (u64, SimTime, Phase),
        stream: &mut Stream,
    ) -> Result<(pace::PlanAdvance, bool), Unfinished> {
        let from = self.now;
        self.ledger.enter(phase, from);
        // The steps up to the next loss that is known; a market may take VMs before.
        let limit = until.min(self.known_loss(on));
        let (drift, before) = (self.drift.clone(), stream.clone());
        let (mut advance, mut end) = pace.advance(
            steps,
            (from, limit),
            &mut self.drift,
            stream,
            &self.interrupt,
        )?;
        if advance.steps < steps {
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

    /// All go on from a checkpoint; whether nothing happened meanwhile.
    fn restart(&mut self, on: On<'_>) -> bool {
        let purpose = Purpose::Restart(self.now);
        let time = (on.terms).restart(on.way, || self.provider.stream(purpose));
        let is_done = self.pause(on, time);
        self.restarts = !is_done;
        is_done
    }

    /// Writes a checkpoint; whether it was written.
    fn write(&mut self, on: On<'_>) -> bool {
        let from = self.now;
        let purpose = Purpose::CheckpointWrite(from);
        let time = (on.terms).write(on.way, || self.provider.stream(purpose));
        let is_done = self.pause(on, time);
        let what = if is_done {
            What::WRITTEN
        } else {
            What::NOT_WRITTEN
        };
        self.note((from, self.now), Track::Checkpoints, what);
        is_done
    }

    /// Lets so much time pass in which nobody trains; whether no VM was lost in it.
    fn pause(&mut self, on: On<'_>, time: SimTime) -> bool {
        let is_lost = self.idle_until(on, self.now + time, Phase::Restoring);
        self.restarts |= is_lost;
        !is_lost
    }

    /// Lets time pass until a moment or the first loss; whether that came before.
    fn idle_until(&mut self, on: On<'_>, until: SimTime, phase: Phase) -> bool {
        self.ledger.enter(phase, self.now);
        let loss = self.first_loss(on, until);
        self.pass_until(loss.unwrap_or(until), phase);
        if loss.is_some() {
            self.take_lost();
        }
        loss.is_some()
    }

    /// The first loss that is known beforehand.
    fn known_loss(&self, on: On<'_>) -> SimTime {
        let lost = self.vms.iter().map(|vm| vm.lost).min();
        lost.filter(|_| on.way.on_spot).unwrap_or(SimTime::LAST)
    }

    /// Decides what the job loses until a moment: when the first VM is lost, if there is one.
    fn first_loss(&mut self, on: On<'_>, until: SimTime) -> Option<SimTime> {
        let losses = &on.spot()?.losses;
        if let Some(capacity) = &mut self.capacity {
            let mut is_hit = false;
            while !is_hit && capacity.changes_at() <= until {
                let at = capacity.changes_at();
                capacity.go_on(losses);
                is_hit = take_newest(&mut self.vms, on, capacity.gpus, at);
            }
        } else if let Some(market) = &mut self.provider.market {
            let mut is_hit = false;
            while !is_hit && market.at <= until {
                let at = market.at;
                let mut running: Vec<&mut Vm> =
                    self.vms.iter_mut().filter(|vm| vm.runs <= at).collect();
                market.strike(losses, running.len() as u32, &mut |place| {
                    running[place as usize].lost = at;
                    is_hit = true;
                });
            }
        }
        let first = self.vms.iter().map(|vm| vm.lost).min()?;
        (first <= until && first < SimTime::LAST).then_some(first)
    }

    /// Takes away the VMs that are lost by now.
    fn take_lost(&mut self) {
        for place in (0..self.vms.len()).rev() {
            let vm = self.vms[place];
            if vm.lost <= self.now {
                self.vms.remove(place);
                self.provider.lost += 1;
                self.end(&vm, EndedBy::Provider);
            }
        }
    }

    /// Waits until all VMs of a plan run; those that are missing take `boot`.
    fn assemble(&mut self, on: On<'_>, boot: &Pause) -> Result<(), Unfinished> {
        // Losses, and changes of what there is.
        let mut losses = 0;
        loop {
            if self.vms.is_empty() {
                self.catch_up(on.terms);
            }
            let is_short = self.request(on, boot);
            let next = if is_short {
                // More may be had then, where there are not always enough.
                (self.capacity.as_ref()).map_or(SimTime::LAST, Capacity::changes_at)
            } else {
                let ready = self.vms.iter().map(|vm| vm.runs).max();
                ready.unwrap_or(self.now).max(self.now)
            };
            if next >= SimTime::LAST {
                return Err(Unfinished::NobodyLeft { at: self.now });
            }
            if self.interrupt.is_raised() {
                return Err(Unfinished::Interrupted { at: self.now });
            }
            if !is_short && next <= self.now {
                return Ok(());
            }
            self.idle_until(on, next, Phase::Waiting);
            losses += 1;
            if losses > MOST_LOSSES {
                return Err(Unfinished::TooManyLosses { at: self.now });
            }
        }
    }

    /// Meets what changed so far while nobody held spot VMs.
    fn catch_up(&mut self, terms: &Terms) {
        if let (Some(capacity), Some(spot)) = (&mut self.capacity, &terms.spot) {
            while capacity.changes_at() <= self.now {
                capacity.go_on(&spot.losses);
            }
        }
    }

    /// Asks for what is missing, as far as there is some; whether there is not.
    fn request(&mut self, on: On<'_>, boot: &Pause) -> bool {
        let held: u32 = self.vms.iter().map(|vm| on.gpus(vm.vm)).sum();
        let capacity = self.capacity.as_ref().filter(|_| on.way.on_spot);
        let mut free = capacity.map_or(u32::MAX, |now| now.gpus.saturating_sub(held));
        let law = match on.spot().map(|spot| &spot.losses) {
            Some(Losses::Alone(law)) => Some(law),
            _ => None,
        };
        let mut is_short = false;
        for &(vm, count) in &on.way.nodes {
            let own = self.vms.iter().filter(|held| held.vm == vm).count() as u32;
            let (gpus, vm_type) = on.choices.vm_types[usize::from(vm)];
            for _ in own..count {
                if free < gpus {
                    is_short = true;
                    break;
                }
                free -= gpus;
                let wanted = Wanted {
                    vm,
                    vm_type,
                    market: vm,
                    on_spot: on.way.on_spot,
                };
                let now = self.now;
                let asked = self.provider.request(&wanted, boot, law, now);
                self.ledger.take(vm, 1, now);
                self.vms.push(asked);
                let track = Track::Vm(asked.number);
                self.note((now, now), track, What::Requested(vm));
                self.note((now, asked.runs), track, What::Starting(vm));
            }
        }
        is_short
    }
}

/// The newest VMs are lost at a moment, until they have no more GPUs than there are; whether any is.
fn take_newest(vms: &mut [Vm], on: On<'_>, gpus: u32, at: SimTime) -> bool {
    let mut held: u32 = vms.iter().map(|vm| on.gpus(vm.vm)).sum();
    let mut is_hit = false;
    for vm in vms.iter_mut().rev() {
        if held <= gpus {
            break;
        }
        held -= on.gpus(vm.vm);
        vm.lost = at;
        is_hit = true;
    }
    is_hit
}
