use crate::training::drift::DriftPath;
use crate::training::log::LogEvent;
use crate::training::progress::{Event, UnfinishedJob};
use crate::training::scratch::Scratch;
use crate::training::stepping::Stepping;
use crate::training::sync::fast::Pace;
use crate::training::sync::leap::Leap;
use crate::training::sync::{Goal, Invalid, Stretch};
use crate::training::{Fidelity, Floor, Log};
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;
use scavsim_data::usage::ledger::Ledger;
use scavsim_engine::Queue;

/// The clock of a job, its network, and its books.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub(super) queue: Queue<Event>,
    pub(super) drift: DriftPath,
    pub(super) fidelity: Fidelity,
    scratch: Scratch,
    pub(super) ledger: Ledger,
    pub(super) log: Log,
}

impl Stage {
    pub(super) fn new(fidelity: Fidelity, drift: DriftPath) -> Self {
        Stage {
            queue: Queue::new(),
            drift,
            fidelity,
            scratch: Scratch::default(),
            ledger: Ledger::default(),
            log: Log::default(),
        }
    }

    pub(super) fn restart(&mut self, drift: DriftPath) {
        self.queue.reset();
        self.log.restart();
        self.ledger.copy_from(&Ledger::default());
        self.drift = drift;
    }

    /// Becomes the same as `other`, keeping the memory; what is noted stays.
    pub(super) fn copy_from(&mut self, other: &Stage) {
        self.queue.copy_from(&other.queue);
        self.ledger.copy_from(&other.ledger);
        self.drift.clone_from(&other.drift);
    }

    pub(super) fn now(&self) -> SimTime {
        self.queue.now()
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        let now = self.now();
        self.ledger.enter(phase, now);
        self.log.enter(phase, now);
    }

    pub(super) fn wait(&mut self, delay: SimTime, what: Event) -> Result<(), UnfinishedJob> {
        if self.queue.pass(delay) {
            return self.goes_on();
        }
        self.queue.after(delay, what);
        while let Some(event) = self.queue.advance() {
            if event == what {
                return self.goes_on();
            }
        }
        Err(UnfinishedJob::defect(self.now()))
    }

    fn goes_on(&self) -> Result<(), UnfinishedJob> {
        let now = self.now();
        if self.queue.is_interrupted() {
            return Err(UnfinishedJob::Interrupted { at: now });
        }
        if now < SimTime::LAST {
            Ok(())
        } else {
            Err(UnfinishedJob::ClockEnded)
        }
    }

    pub(super) fn restore(&mut self, time: SimTime) -> Result<(), UnfinishedJob> {
        let start = self.now();
        self.enter(Phase::Restoring);
        self.wait(time, Event::Restored)?;
        let now = self.now();
        self.log.checkpoint(LogEvent::RESTORED, start, now);
        Ok(())
    }

    /// One stretch of steps without a change, in `fidelity` or event by event; and why, where `fast` was asked for.
    pub(super) fn stretch(
        &mut self,
        fidelity: Fidelity,
        pace: &Pace,
        stepping: &Stepping,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<(Stretch, Option<Invalid>), UnfinishedJob> {
        let mut why = None;
        if fidelity == Fidelity::Fast {
            let start = self.queue.now();
            let leap = pace.leap(Leap {
                start,
                drift: &mut self.drift,
                stepping,
                goal,
                stream: &mut *stream,
                scratch: &mut self.scratch,
                interrupt: self.queue.interrupt(),
            });
            match leap {
                Ok((stretch, end)) => {
                    self.wait(end - start, Event::StepsDone)?;
                    return Ok((stretch, None));
                }
                Err(invalid) => why = Some(invalid),
            }
        }
        let mut floor = Floor {
            queue: &mut self.queue,
            drift: &mut self.drift,
            stepping,
            stream,
            scratch: &mut self.scratch,
            log: &mut self.log,
        };
        let stretch = pace.protocol().advance(&mut floor, goal)?;
        self.goes_on()?;
        Ok((stretch, why))
    }
}
