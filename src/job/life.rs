//! The life of one job: request VMs → start-up → restore → train → release, on one clock.

use super::roster::{Vm, never};
use super::{Roster, Totals};
use crate::cluster::luck::Luck;
use crate::cluster::{Cluster, Spot};
use crate::engine::Queue;
use crate::rng::{Stream, Streams};
use crate::training::Fidelity;
use crate::training::drift::DriftPath;
use crate::training::floor::Floor;
use crate::training::log::Log;
use crate::training::progress::{Advance, Event, Stalled, Unfinished};
use crate::training::stepping::Stepping;
use crate::training::sync::fast::Pace;
use crate::training::sync::{Goal, Scratch, Stretch};
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
    /// What came of its stretches, where something can happen to the cluster.
    totals: Totals,
    kept: Kept,
}

/// What stood in a job's books when the last training of a cluster that may change came to its mark: what is lost
/// later must not change what the phases were until then.
#[derive(Debug, Clone)]
struct Kept {
    at: SimTime,
    ledger: Ledger,
}

/// What came of training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trained {
    /// Its times. The mark is the start where that is 0 or was not reached.
    pub advance: Advance,
    /// Steps of the configuration that are complete, B samples each.
    pub steps: u64,
    /// VMs that the provider took away from the job until the mark.
    pub lost_vms: u32,
    /// What came of all stretches of the job until the mark, where something can happen to the cluster.
    pub totals: Option<Totals>,
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
            kept: Kept {
                at: never(),
                ledger: Ledger::default(),
            },
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
        self.kept.at = never();
    }

    /// Becomes the same as `other`, a job under the same conditions, keeping the memory.
    pub fn copy_from(&mut self, other: &Job) {
        self.queue.copy_from(&other.queue);
        self.ledger.copy_from(&other.ledger);
        self.drift.clone_from(&other.drift);
        self.roster.copy_from(&other.roster);
        self.totals = other.totals;
        self.kept.at = never();
    }

    /// The simulated time.
    pub fn now(&self) -> SimTime {
        self.queue.now()
    }

    /// Takes or gives back VMs until they are those of `cluster`, with memory for `batch`; waits for new ones to start.
    ///
    /// # Errors
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub fn hold(&mut self, cluster: &Cluster, batch: u32) -> Result<(), Unfinished> {
        let Some(group) = cluster.groups.first().filter(|_| cluster.is_static) else {
            return self.hold_live(cluster, batch);
        };
        let now = self.queue.now();
        let size = (cluster.whole.stepping.workers, batch);
        let grows = self.ledger.hold(group.vm, group.vms, batch, now);
        (self.log).hold((group.vm, group.vms), size, now, now + self.start_up);
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

    /// Trains on `cluster`, dealt `luck`, until so many steps of the configuration are complete or time is up. What is
    /// unfinished then is given up.
    ///
    /// # Errors
    /// [`Unfinished`] when the run does not come to its end.
    pub fn train(
        &mut self,
        cluster: &Cluster,
        luck: &Luck,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<Trained, Unfinished> {
        self.kept.at = never();
        if cluster.is_static {
            // Nothing can change: one stretch.
            self.log.trains();
            let pace = &cluster.whole.pace;
            let stretch = self.stretch(pace, &luck.stepping, goal, stream)?;
            return Ok(Trained {
                advance: stretch.advance,
                steps: stretch.updates,
                lost_vms: 0,
                totals: None,
            });
        }
        let first = self.train_live(cluster, luck, goal.mark, stream)?;
        self.kept.at = self.now();
        self.kept.ledger.copy_from(&self.ledger);
        let (lost_vms, totals) = (self.roster.lost, self.totals);
        let rest = self.train_live(cluster, luck, goal.updates - goal.mark, stream)?;
        let advance = Advance {
            at_mark: first.at_mark,
            compute_s: first.compute_s + rest.compute_s,
            communication_s: first.communication_s + rest.communication_s,
        };
        Ok(Trained {
            advance,
            steps: goal.updates,
            lost_vms,
            totals: Some(totals),
        })
    }

    /// One stretch of steps in which nothing changes.
    ///
    /// # Errors
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub fn stretch(
        &mut self,
        pace: &Pace,
        stepping: &Stepping,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<Stretch, Unfinished> {
        let (stretch, _) = self.stretch_in(self.fidelity, pace, stepping, goal, stream)?;
        Ok(stretch)
    }

    /// The same in `fidelity` or, where that does not hold for the protocol, event by event; whether it came to that.
    pub(super) fn stretch_in(
        &mut self,
        fidelity: Fidelity,
        pace: &Pace,
        stepping: &Stepping,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<(Stretch, bool), Unfinished> {
        if fidelity != Fidelity::Event {
            let (start, drift) = (self.queue.now(), &mut self.drift);
            let pace = pace.in_fidelity(fidelity);
            let paced = pace.advance(start, drift, stepping, goal, stream, &mut self.scratch);
            if let Ok((stretch, end)) = paced {
                self.wait(end - start, Event::StepsDone)?;
                return Ok((stretch, false));
            }
        }
        let protocol = pace.protocol();
        let mut floor = Floor {
            queue: &mut self.queue,
            drift: &mut self.drift,
            stepping,
            stream,
            scratch: &mut self.scratch,
            log: &mut self.log,
        };
        Ok((protocol.advance(&mut floor, goal)?, true))
    }

    /// What was used when all VMs are released at `end`.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        match end == self.kept.at {
            true => self.kept.ledger.usage_until(end, usage),
            false => self.ledger.usage_until(end, usage),
        }
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

    pub(super) fn totals_mut(&mut self) -> &mut Totals {
        &mut self.totals
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
