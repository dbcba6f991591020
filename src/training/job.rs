//! The life of one job: request VMs → start-up → restore → train → release, on one clock.

use super::drift::DriftPath;
use super::ledger::Ledger;
use super::progress::{Advance, Event, Stalled};
use super::stepping::Stepping;
use super::world::Truth;
use super::{Fidelity, event, fast, step};
use crate::engine::Queue;
use crate::pricing::{Phase, Usage};
use crate::rng::Stream;
use crate::units::SimTime;

/// One job and its clock.
#[derive(Debug, Clone)]
pub struct Job {
    queue: Queue<Event>,
    ledger: Ledger,
    drift: DriftPath,
    fidelity: Fidelity,
    start_up: SimTime,
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
        }
    }

    /// The same job at time zero in another replica, keeping its memory.
    pub fn restart(&mut self, drift: DriftPath) {
        self.queue.reset();
        self.ledger.reset();
        self.drift = drift;
    }

    /// Becomes the same as `other`, a job under the same conditions, keeping the memory.
    pub fn copy_from(&mut self, other: &Job) {
        self.queue.copy_from(&other.queue);
        self.ledger.copy_from(&other.ledger);
        self.drift.clone_from(&other.drift);
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
        let grows = self
            .ledger
            .hold(truth.vm, truth.vms, at.batch, self.queue.now());
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
    }

    /// Trains `steps` steps and notes when the first `mark` of them were complete.
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
        let (queue, drift) = (&mut self.queue, &mut self.drift);
        let start = queue.now();
        let (advance, end) = match self.fidelity {
            Fidelity::Event => return event::advance(queue, drift, stepping, steps, mark, stream),
            Fidelity::Step => step::advance(start, drift, stepping, steps, mark, stream),
            Fidelity::Fast => fast::advance(start, drift, stepping, steps, mark, stream),
        };
        self.wait(end - start, Event::StepsDone)?;
        Ok(advance)
    }

    /// What was used when all VMs are released at `end`.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.ledger.usage_until(end, usage);
    }

    fn wait(&mut self, delay: SimTime, what: Event) -> Result<(), Stalled> {
        self.queue.after(delay, what);
        while let Some(event) = self.queue.advance() {
            if event == what {
                return Ok(());
            }
        }
        Err(Stalled {
            at: self.queue.now(),
        })
    }
}
