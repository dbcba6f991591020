//! The life of one job: request VMs → start-up → restore → train → release, on one clock.

use super::roster::Vm;
use super::{Roster, Totals};
use crate::cluster::Spot;
use crate::cluster::world::Truth;
use crate::engine::Queue;
use crate::rng::{Stream, Streams};
use crate::training::drift::DriftPath;
use crate::training::floor::Floor;
use crate::training::log::Log;
use crate::training::progress::{Advance, Event, Stalled, Unfinished};
use crate::training::stepping::Stepping;
use crate::training::sync::Scratch;
use crate::training::{Fidelity, event, fast, step};
use crate::units::SimTime;
use crate::usage::ledger::Ledger;
use crate::usage::{EndedBy, Phase, Usage};

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
    /// Its VMs one by one, where they have lives of their own.
    roster: Roster,
    /// What came of its stretches, where workers do more than step together.
    pub totals: Totals,
}

impl Job {
    /// A job at time zero that holds no VMs. Every request of new VMs takes `start_up`.
    pub fn new(fidelity: Fidelity, start_up: SimTime, drift: DriftPath, streams: Streams) -> Self {
        Job {
            queue: Queue::new(),
            ledger: Ledger::default(),
            drift,
            fidelity,
            start_up,
            scratch: Scratch::default(),
            log: Log::default(),
            roster: Roster::new(streams),
            totals: Totals::default(),
        }
    }

    /// The same job at time zero in another replica, where VMs are lost on the terms `spot`, keeping its memory.
    pub fn restart(&mut self, drift: DriftPath, replica: u64, spot: Option<&Spot>) {
        self.roster.restart(replica, spot);
        self.queue.reset();
        self.log.restart();
        self.ledger.reset();
        self.drift = drift;
        self.totals = Totals::default();
    }

    /// Becomes the same as `other`, a job under the same conditions, keeping the memory.
    pub fn copy_from(&mut self, other: &Job) {
        self.queue.copy_from(&other.queue);
        self.ledger.copy_from(&other.ledger);
        self.drift.clone_from(&other.drift);
        self.roster.copy_from(&other.roster);
        self.totals = other.totals;
    }

    /// The simulated time.
    pub fn now(&self) -> SimTime {
        self.queue.now()
    }

    /// Takes or gives back VMs until the cluster is that of `truth`; waits for new ones to start.
    ///
    /// # Errors
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub fn resize(&mut self, truth: &Truth) -> Result<(), Unfinished> {
        let at = &truth.configuration;
        let now = self.queue.now();
        if let Some(cluster) = &truth.live {
            return self.hold_live(cluster, at.batch);
        }
        let (held, size) = ((truth.vm, truth.vms), (at.workers, at.batch));
        let grows = self.ledger.hold(truth.vm, truth.vms, at.batch, now);
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
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub fn restore(&mut self, seconds: f64) -> Result<(), Unfinished> {
        self.enter(Phase::Restoring);
        self.wait(SimTime::from_seconds(seconds), Event::Restored)
    }

    /// What is held serves `phase` from now on.
    pub fn enter(&mut self, phase: Phase) {
        self.ledger.enter(phase, self.queue.now());
        self.log.enter(phase, self.queue.now());
    }

    /// Trains `steps` steps on VMs that stay, and notes when the first `mark` of them were complete.
    ///
    /// # Errors
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub fn train(
        &mut self,
        stepping: &Stepping,
        steps: u64,
        mark: u64,
        stream: &mut Stream,
    ) -> Result<Advance, Unfinished> {
        self.log.trains();
        if self.fidelity == Fidelity::Event {
            let advance = event::advance(&mut self.floor(stepping, stream), steps, mark)?;
            return Ok(advance);
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
        self.roster.lost
    }

    /// Takes away the newest worker but the chief at `at`, and no other VM.
    pub fn lose_one(&mut self, at: SimTime) {
        self.roster.lose_one(at);
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

    pub(super) fn start_up(&self) -> SimTime {
        self.start_up
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

    pub(super) fn roster(&self) -> &Roster {
        &self.roster
    }

    pub(super) fn roster_mut(&mut self) -> &mut Roster {
        &mut self.roster
    }

    pub(super) fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    pub(super) fn roster_and_ledger(&mut self) -> (&mut Roster, &mut Ledger) {
        (&mut self.roster, &mut self.ledger)
    }

    pub(super) fn drift_and_scratch(&mut self) -> (&mut DriftPath, &mut Scratch) {
        (&mut self.drift, &mut self.scratch)
    }

    /// A VM with a life of its own is no longer held.
    pub(super) fn end_vm(&mut self, vm: &Vm, end: SimTime, ended_by: EndedBy) {
        self.ledger.end(vm.vm, vm.from, end, ended_by);
        let number = vm.request as u32;
        self.log.gone(number, end, ended_by == EndedBy::Provider);
    }

    pub(super) fn wait(&mut self, delay: SimTime, what: Event) -> Result<(), Unfinished> {
        let start = self.queue.now();
        self.queue.after(delay, what);
        while let Some(event) = self.queue.advance() {
            if event == what {
                self.log.waited(what, start, self.queue.now());
                return Ok(());
            }
        }
        Err(Unfinished::Stalled(Stalled {
            at: self.queue.now(),
        }))
    }
}
