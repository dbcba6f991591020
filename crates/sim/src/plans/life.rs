//! A job on a parallel plan: VMs requested, training, checkpoints, losses, and back to the last checkpoint.
//!
//! A plan needs all its VMs: whatever is lost stops the job until another is in its place, and all go on from the last
//! checkpoint.

use super::market::{Fate, Node};
use super::pace::{Advance, Pace};
use super::terms::On;
use super::{Terms, Way};
use crate::cluster::{Keeps, Pause};
use crate::engine::Interrupt;
use crate::training::Unfinished;
use crate::training::drift::DriftPath;
use crate::training::log::{Entry, Track, What};
use scavsim_base::rng::{Purpose, RequestKey, Stream, Streams, WorkloadKey};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::usage::ledger::Ledger;
use scavsim_data::usage::{EndedBy, Phase, Usage};

/// Losses without a step kept between them after which no end is in sight.
const MOST_LOSSES: u32 = 10_000;

/// How far a job trains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Complete steps.
    pub steps: u64,
    /// When time is up.
    pub until: SimTime,
    /// What it trains for.
    pub phase: Phase,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Trained {
    /// Steps that are complete and kept.
    pub steps: u64,
    /// What all steps took, those that were lost included.
    pub advance: Advance,
}

/// A job in one replica, with its clock and books.
#[derive(Debug, Clone)]
pub struct Job {
    streams: Streams,
    replica: u64,
    now: SimTime,
    ledger: Ledger,
    drift: DriftPath,
    fate: Fate,
    nodes: Vec<Node>,
    /// Requests so far by type, and in all.
    requests: Vec<u64>,
    requested: u32,
    lost: u32,
    /// Whether all have to go on from a checkpoint before they train.
    restarts: bool,
    /// What happens, where somebody wants to see it.
    pub log: Option<Vec<Entry>>,
}

impl Job {
    /// A job at time zero that holds nothing.
    pub fn new(on: On<'_>, streams: Streams, replica: u64) -> Job {
        let key = WorkloadKey::of(&on.choices.name);
        Job {
            streams,
            replica,
            now: SimTime::ZERO,
            ledger: Ledger::default(),
            drift: DriftPath::new(on.terms.variation.drift, streams, replica, key),
            fate: Fate::new(on.terms, &streams, replica),
            nodes: Vec::new(),
            requests: vec![0; on.choices.types.len()],
            requested: 0,
            lost: 0,
            restarts: false,
            log: None,
        }
    }

    /// The clock.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// VMs that the provider took away.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// What was used when all VMs are released at `end`.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.ledger.usage_until(end, usage);
    }

    /// Holds the VMs of a plan, ready to train; those of another plan are kept as far as they are of use.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    pub fn hold(&mut self, on: On<'_>, way: &Way, interrupt: &Interrupt) -> Result<(), Unfinished> {
        for place in (0..self.nodes.len()).rev() {
            let node = self.nodes[place];
            let wanted = count_of(way, node.vm);
            let before = self.nodes[..place].iter().filter(|n| n.vm == node.vm);
            if before.count() as u32 >= wanted {
                self.nodes.remove(place);
                self.ledger
                    .end(node.vm, node.asked, self.now, EndedBy::User);
                self.note_end(&node, self.now, What::Released);
            }
        }
        self.ledger.resize_batch(way.draft.batch, self.now);
        self.assemble(on, way, &on.terms.start_up, interrupt)
    }

    /// Gives all VMs back.
    pub fn release_all(&mut self) {
        for node in std::mem::take(&mut self.nodes) {
            (self.ledger).end(node.vm, node.asked, self.now, EndedBy::User);
            self.note_end(&node, self.now, What::Released);
        }
    }

    /// All go on from a checkpoint before they train.
    pub fn restart_before_training(&mut self) {
        self.restarts = true;
    }

    /// Passes so many seconds of training on what is held, for nothing but what they show.
    pub fn look(&mut self, seconds: f64, phase: Phase) {
        self.ledger.enter(phase, self.now);
        self.pass(SimTime::from_seconds(seconds), phase);
    }

    fn pass(&mut self, time: SimTime, phase: Phase) {
        let from = self.now;
        self.now = from + time;
        self.ledger.enter(phase, self.now);
        self.note(from, self.now, Track::Job, What::Phase(phase));
    }

    fn note(&mut self, at: SimTime, until: SimTime, track: Track, what: What) {
        if let Some(log) = &mut self.log {
            log.push(Entry {
                at,
                until,
                track,
                what,
            });
        }
    }

    /// A VM is gone.
    fn note_end(&mut self, node: &Node, at: SimTime, how: What) {
        let track = Track::Vm(node.number);
        if node.runs < at {
            self.note(node.runs, at, track, What::Running(node.vm));
        }
        self.note(at, at, track, how);
    }

    /// VMs that are held run until `at`, for those who look on.
    pub fn note_still_running(&mut self, at: SimTime) {
        for node in self.nodes.clone() {
            if node.runs < at {
                self.note(
                    node.runs,
                    at,
                    Track::Vm(node.number),
                    What::Running(node.vm),
                );
            }
        }
    }

    /// Trains on a plan until so many steps are kept, or time is up.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    pub fn train(
        &mut self,
        (on, way): (On<'_>, &Way),
        pace: &mut Pace,
        goal: Goal,
        stream: &mut Stream,
        interrupt: &Interrupt,
    ) -> Result<Trained, Unfinished> {
        let terms = on.terms;
        let spot = terms.spot_of(way);
        let policy = terms.checkpoints(way);
        let keeps = spot.map_or(Keeps::Checkpoint, |spot| spot.keeps);
        let mut trained = Trained::default();
        // Steps that the last checkpoint has: those before this training are another's.
        let mut saved = 0;
        let mut fruitless = 0;
        self.ledger.work_is_safe(self.now);
        while trained.steps < goal.steps && self.now < goal.until {
            self.assemble(
                on,
                way,
                spot.map_or(&Pause::NONE, |s| &s.replacement),
                interrupt,
            )?;
            if self.restarts && !self.restart(terms, way) {
                continue;
            }
            let left = goal.steps - trained.steps;
            let left_h = left as f64 * pace.mean_s() / SECONDS_PER_HOUR;
            let to_checkpoint = policy.next_h(left_h, 0.0).map(|work_h| {
                let steps = work_h * SECONDS_PER_HOUR / pace.mean_s();
                (steps.ceil() as u64).clamp(1, left)
            });
            let steps = to_checkpoint.unwrap_or(left);
            let from = self.now;
            self.ledger.enter(goal.phase, from);
            // The steps up to the next loss that is known; a market may take VMs before.
            let limit = goal.until.min(self.known_loss(way));
            let (drift, before) = (self.drift.clone(), stream.clone());
            let (mut advance, mut end) =
                pace.advance(steps, (from, limit), &mut self.drift, stream, interrupt)?;
            if advance.steps < steps {
                // In the middle of a step.
                end = limit;
            }
            let loss = self.first_loss(terms, way, end);
            if let Some(loss) = loss.filter(|loss| *loss < end) {
                (self.drift, *stream) = (drift, before);
                (advance, _) =
                    pace.advance(steps, (from, loss), &mut self.drift, stream, interrupt)?;
                end = loss;
            }
            trained.steps += advance.steps;
            trained.advance.steps += advance.steps;
            trained.advance.compute_s += advance.compute_s;
            trained.advance.communication_s += advance.communication_s;
            self.now = end;
            self.ledger.enter(goal.phase, end);
            self.note(from, end, Track::Job, What::Phase(goal.phase));
            if loss.is_some() {
                if keeps == Keeps::Checkpoint && trained.steps > saved {
                    self.ledger.lose_unsafe_work(goal.phase, end);
                    trained.steps = saved;
                } else if keeps == Keeps::Steps && trained.steps > saved {
                    saved = trained.steps;
                    fruitless = 0;
                    self.ledger.work_is_safe(end);
                }
                fruitless += 1;
                if fruitless > MOST_LOSSES {
                    return Err(Unfinished::TooManyLosses { at: end });
                }
                self.take_lost(end);
                self.restarts = true;
            } else if to_checkpoint.is_some_and(|steps| steps < left)
                && trained.steps < goal.steps
                && self.now < goal.until
                && self.write(terms, way)
            {
                saved = trained.steps;
                fruitless = 0;
                self.ledger.work_is_safe(self.now);
            }
            self.note(self.now, self.now, Track::Job, What::Steps(trained.steps));
        }
        if trained.steps >= goal.steps {
            self.ledger.work_is_safe(self.now);
        }
        Ok(trained)
    }

    /// All go on from a checkpoint; whether nothing happened meanwhile.
    fn restart(&mut self, terms: &Terms, way: &Way) -> bool {
        let (streams, replica, now) = (self.streams, self.replica, self.now);
        let time = terms.restart(way, || streams.stream(replica, Purpose::Restart(now)));
        let is_done = self.pause(terms, way, time);
        self.restarts = !is_done;
        is_done
    }

    /// Writes a checkpoint; whether it was written.
    fn write(&mut self, terms: &Terms, way: &Way) -> bool {
        let (streams, replica, now) = (self.streams, self.replica, self.now);
        let time = terms.write(way, || {
            streams.stream(replica, Purpose::CheckpointWrite(now))
        });
        let is_done = self.pause(terms, way, time);
        let what = match is_done {
            true => What::WRITTEN,
            false => What::NOT_WRITTEN,
        };
        self.note(now, self.now, Track::Checkpoints, what);
        is_done
    }

    /// Lets so much time pass in which nobody trains; whether no VM was lost in it.
    fn pause(&mut self, terms: &Terms, way: &Way, time: SimTime) -> bool {
        let from = self.now;
        self.ledger.enter(Phase::Restoring, from);
        let loss = self.first_loss(terms, way, from + time);
        self.now = loss.unwrap_or(from + time);
        self.ledger.enter(Phase::Restoring, self.now);
        self.note(from, self.now, Track::Job, What::Phase(Phase::Restoring));
        if loss.is_some() {
            self.take_lost(self.now);
            self.restarts = true;
        }
        loss.is_none()
    }

    /// The first loss that is known beforehand.
    fn known_loss(&self, way: &Way) -> SimTime {
        let lost = self.nodes.iter().map(|node| node.lost).min();
        lost.filter(|_| way.on_spot).unwrap_or(SimTime::LAST)
    }

    fn first_loss(&mut self, terms: &Terms, way: &Way, until: SimTime) -> Option<SimTime> {
        match way.on_spot {
            true => self.fate.first_loss(terms, &mut self.nodes, until),
            false => None,
        }
    }

    /// Those that are lost by now are gone.
    fn take_lost(&mut self, now: SimTime) {
        for place in (0..self.nodes.len()).rev() {
            let node = self.nodes[place];
            if node.lost <= now {
                self.nodes.remove(place);
                self.ledger.end(node.vm, node.asked, now, EndedBy::Provider);
                self.lost += 1;
                self.note_end(&node, now, What::Revoked);
            }
        }
    }

    /// Waits until all VMs of a plan run; those that are missing take `boot`.
    fn assemble(
        &mut self,
        on: On<'_>,
        way: &Way,
        boot: &Pause,
        interrupt: &Interrupt,
    ) -> Result<(), Unfinished> {
        // Losses, and changes of what there is.
        let mut losses = 0;
        loop {
            if self.nodes.is_empty() {
                self.fate.catch_up(on.terms, self.now);
            }
            let is_short = self.request(on, way, boot);
            let ready = self.nodes.iter().map(|node| node.runs).max();
            let ready = ready.unwrap_or(self.now).max(self.now);
            let next = match is_short {
                true => self.fate.changes_at(),
                false => ready,
            };
            if next >= SimTime::LAST {
                return Err(Unfinished::NobodyLeft { at: self.now });
            }
            if interrupt.is_raised() {
                return Err(Unfinished::Interrupted { at: self.now });
            }
            if !is_short && next <= self.now {
                return Ok(());
            }
            let from = self.now;
            self.ledger.enter(Phase::Waiting, from);
            let loss = self.first_loss(on.terms, way, next);
            self.now = loss.unwrap_or(next);
            self.ledger.enter(Phase::Waiting, self.now);
            self.note(from, self.now, Track::Job, What::Phase(Phase::Waiting));
            if loss.is_some() {
                self.take_lost(self.now);
            }
            losses += 1;
            if losses > MOST_LOSSES {
                return Err(Unfinished::TooManyLosses { at: self.now });
            }
        }
    }

    /// Asks for what is missing, as far as there is some; whether there is not.
    fn request(&mut self, on: On<'_>, way: &Way, boot: &Pause) -> bool {
        let held: u32 = self.nodes.iter().map(|node| node.gpus).sum();
        let capacity = self.fate.gpus().filter(|_| way.on_spot);
        let mut free = capacity.map_or(u32::MAX, |gpus| gpus.saturating_sub(held));
        let mut is_short = false;
        for &(vm, wanted) in &way.nodes {
            let own = self.nodes.iter().filter(|node| node.vm == vm).count() as u32;
            let (gpus, key) = on.choices.vm_types[usize::from(vm)];
            for _ in own..wanted {
                if free < gpus {
                    is_short = true;
                    break;
                }
                free -= gpus;
                let (streams, replica) = (&self.streams, self.replica);
                let count = &mut self.requests[usize::from(vm)];
                let request = RequestKey {
                    vm_type: key,
                    on_spot: way.on_spot,
                    number: *count,
                };
                let delay = boot.draw(|| streams.stream(replica, Purpose::StartUp(request)));
                let runs = self.now + delay;
                let life = match way.on_spot {
                    true => Fate::life(on.terms, runs, (streams, replica), (key, *count)),
                    false => SimTime::LAST,
                };
                *count += 1;
                let number = self.requested;
                self.requested += 1;
                self.ledger.take(vm, 1, self.now);
                self.nodes.push(Node {
                    number,
                    vm,
                    gpus,
                    asked: self.now,
                    runs,
                    lost: life,
                });
                let track = Track::Vm(number);
                self.note(self.now, self.now, track, What::Requested(vm));
                self.note(self.now, runs, track, What::Starting(vm));
            }
        }
        is_short
    }
}

fn count_of(way: &Way, vm: u16) -> u32 {
    let own = way.nodes.iter().find(|(own, _)| *own == vm);
    own.map_or(0, |(_, count)| *count)
}
