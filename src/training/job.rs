//! The life of one job: request VMs → start-up → restore → train → release, on one clock.

use super::drift::DriftPath;
use super::floor::Floor;
use super::ledger::Ledger;
use super::log::Log;
use super::progress::{Advance, Event, Stalled};
use super::spot::{Lives, Spot};
use super::stepping::Stepping;
use super::sync::Scratch;
use super::world::Truth;
use super::{Fidelity, event, fast, step};
use crate::engine::Queue;
use crate::pricing::{Phase, Usage};
use std::sync::Arc;

use crate::rng::{Stream, Streams};
use crate::units::SimTime;

/// One job and its clock.
#[derive(Debug, Clone)]
pub struct Job {
    queue: Queue<Event>,
    ledger: Ledger,
    drift: DriftPath,
    fidelity: Fidelity,
    start_up: SimTime,
    scratch: Scratch,
    log: Log,
    /// Its VMs, where the provider may take them away.
    pub(super) lives: Option<Lives>,
}

impl Job {
    /// A job at time zero that holds no VMs. Every request of new VMs takes `start_up`.
    pub fn new(fidelity: Fidelity, start_up: SimTime, drift: DriftPath) -> Self {
        Job {
            queue: Queue::new(),
            ledger: Ledger::default(),
            drift,
            fidelity,
            start_up,
            scratch: Scratch::default(),
            log: Log::default(),
            lives: None,
        }
    }

    /// The same job on VMs that can be taken away; a restart from a checkpoint takes `restore_s`.
    pub fn on_spot(mut self, spot: &Arc<Spot>, restore_s: f64, streams: Streams) -> Self {
        self.lives = Some(Lives::new(Arc::clone(spot), restore_s, streams));
        self
    }

    /// The same job at time zero in another replica, keeping its memory.
    pub fn restart(&mut self, drift: DriftPath, replica: u64) {
        if let Some(lives) = &mut self.lives {
            lives.restart(replica);
        }
        self.queue.reset();
        self.log.restart();
        self.ledger.reset();
        self.drift = drift;
    }

    /// Becomes the same as `other`, a job under the same conditions, keeping the memory.
    pub fn copy_from(&mut self, other: &Job) {
        self.queue.copy_from(&other.queue);
        self.ledger.copy_from(&other.ledger);
        self.drift.clone_from(&other.drift);
        if let (Some(own), Some(other)) = (&mut self.lives, &other.lives) {
            own.copy_from(other);
        }
    }

    /// The simulated time.
    pub fn now(&self) -> SimTime {
        self.queue.now()
    }

    /// Takes or gives back VMs until the cluster is that of `truth`; waits for new ones to start.
    ///
    /// # Errors
    /// [`Stalled`] when the clock has nothing to wait for.
    pub fn resize(&mut self, truth: &Truth) -> Result<(), Stalled> {
        let at = &truth.configuration;
        let now = self.queue.now();
        let other_type = self.ledger.vm() != truth.vm;
        let grows = self.ledger.hold(truth.vm, truth.vms, at.batch, now);
        if let Some(lives) = &mut self.lives {
            lives.hold(truth.vm_key, truth.vms, other_type, now + self.start_up);
        }
        let (held, size) = ((truth.vm, truth.vms), (at.workers, at.batch));
        self.log.hold(held, size, now, now + self.start_up);
        if grows && self.start_up > SimTime::ZERO {
            self.enter(Phase::Waiting);
            self.wait(self.start_up, Event::VmsReady)?;
        }
        Ok(())
    }

    /// Restores a checkpoint, which takes `seconds`.
    ///
    /// # Errors
    /// [`Stalled`] when the clock has nothing to wait for.
    pub fn restore(&mut self, seconds: f64) -> Result<(), Stalled> {
        self.enter(Phase::Restoring);
        self.wait(SimTime::from_seconds(seconds), Event::Restored)
    }

    /// What is held serves `phase` from now on.
    pub fn enter(&mut self, phase: Phase) {
        self.ledger.enter(phase, self.queue.now());
        self.log.enter(phase, self.queue.now());
    }

    /// Trains `steps` steps through all losses of VMs, and notes when the first `mark` of them were complete.
    ///
    /// # Errors
    /// [`Stalled`] when the clock has nothing to wait for.
    pub fn train(
        &mut self,
        stepping: &Stepping,
        steps: u64,
        mark: u64,
        stream: &mut Stream,
    ) -> Result<Advance, Stalled> {
        self.log.trains();
        if self.lives.is_some() {
            return self.train_through_losses(stepping, steps, mark, stream);
        }
        if self.fidelity == Fidelity::Event {
            return event::advance(&mut self.floor(stepping, stream), steps, mark);
        }
        let (start, drift) = (self.queue.now(), &mut self.drift);
        let (advance, end) = match self.fidelity {
            Fidelity::Step => step::advance(start, drift, stepping, steps, mark, stream),
            _ => fast::advance(start, drift, stepping, steps, mark, stream),
        };
        self.wait(end - start, Event::StepsDone)?;
        Ok(advance)
    }

    /// What was used when all VMs are released at `end`.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.ledger.usage_until(end, usage);
    }

    /// VMs lost so far.
    pub fn lost_vms(&self) -> u32 {
        self.lives.as_ref().map_or(0, |lives| lives.lost)
    }

    /// Which VMs are held, and what for.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What is noted of it.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    pub(super) fn phase(&self) -> Phase {
        self.ledger.phase()
    }

    pub(super) fn fidelity(&self) -> Fidelity {
        self.fidelity
    }

    pub(super) fn drift(&mut self) -> &mut DriftPath {
        &mut self.drift
    }

    /// What a protocol works with.
    pub(super) fn floor<'a>(
        &'a mut self,
        stepping: &'a Stepping,
        stream: &'a mut Stream,
    ) -> Floor<'a> {
        Floor {
            queue: &mut self.queue,
            drift: &mut self.drift,
            stepping,
            stream,
            scratch: &mut self.scratch,
            log: &mut self.log,
        }
    }

    pub(super) fn next_loss(&self) -> SimTime {
        let never = SimTime::from_seconds(f64::INFINITY);
        self.lives.as_ref().map_or(never, Lives::next_loss)
    }

    /// The last `seconds` of `from` were for nothing else than `to`.
    pub(super) fn relabel(&mut self, from: Phase, to: Phase, seconds: f64) {
        self.ledger.enter(from, self.queue.now());
        self.ledger.relabel(from, to, seconds);
        self.log.relabel(from, to, seconds, self.queue.now());
    }

    /// VMs whose end has come are no longer held.
    pub(super) fn drop_lost(&mut self) {
        let now = self.queue.now();
        if let Some(lives) = &mut self.lives {
            while let Some((place, end)) = lives.take_lost(now) {
                self.ledger.lose(place, end);
                self.log.lose(place, end);
            }
        }
    }

    /// `vms` VMs are held again, the missing ones requested now and running from `ready` on.
    pub(super) fn hold_again(&mut self, vms: u32, ready: SimTime) {
        self.ledger.hold_again(vms, self.queue.now());
        self.log.hold_again(vms, self.queue.now(), ready);
        if let Some(lives) = &mut self.lives {
            lives.fill_up(vms, ready);
        }
    }

    pub(super) fn wait(&mut self, delay: SimTime, what: Event) -> Result<(), Stalled> {
        let start = self.queue.now();
        self.queue.after(delay, what);
        while let Some(event) = self.queue.advance() {
            if event == what {
                self.log.waited(what, start, self.queue.now());
                return Ok(());
            }
        }
        Err(Stalled {
            at: self.queue.now(),
        })
    }
}
