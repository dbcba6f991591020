//! The life of one job: request VMs → start-up → restore → train → release, on one clock.

use super::Totals;
use super::members::Members;
use super::run::LiveRun;
use super::stage::Stage;
use crate::cluster::random_effects::RandomEffects;
use crate::cluster::{Cluster, Spot};
use crate::training::drift::DriftPath;
use crate::training::progress::{Advance, Event, UnfinishedJob};
use crate::training::stepping::Stepping;
use crate::training::sync::fast::Pace;
use crate::training::sync::{Goal, Stretch};
use crate::training::{Fidelity, Log};
use scavsim_base::rng::{Stream, Streams};
use scavsim_base::units::SimTime;
use scavsim_data::usage::ledger::Ledger;
use scavsim_data::usage::{Phase, Usage};
use scavsim_engine::{Interrupt, Queue};

#[derive(Debug, Clone)]
pub struct Job {
    stage: Stage,
    members: Members,
    /// What came of its stretches, where something can happen to the cluster.
    totals: Totals,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingResult {
    /// Times of the training. The mark is the start where that is 0 or was not reached.
    pub advance: Advance,
    /// Steps of the configuration that are complete, B samples each.
    pub steps: u64,
    /// Steps that its times are of: those whose work was lost may be among them.
    pub passed: u64,
    /// VMs that the provider took away from the job until the mark.
    pub lost_vms: u32,
    pub totals: Option<Totals>,
}

/// A century in seconds: twice that is well before the end of the clock.
const FAR_S: f64 = 3.2e9;

impl TrainingResult {
    /// Nothing was trained at a moment.
    pub fn nothing(at: SimTime) -> TrainingResult {
        TrainingResult {
            advance: Advance::from(at),
            steps: 0,
            passed: 0,
            lost_vms: 0,
            totals: None,
        }
    }
}

impl Job {
    /// A job at time zero that holds no VMs. Every request of new VMs takes `start_up`.
    pub fn new(fidelity: Fidelity, start_up: SimTime, drift: DriftPath, streams: Streams) -> Self {
        Job {
            stage: Stage::new(fidelity, drift),
            members: Members::new(start_up, streams),
            totals: Totals::default(),
        }
    }

    #[must_use]
    pub fn heeding(mut self, interrupt: Interrupt) -> Self {
        self.stage.queue = Queue::heeding(interrupt);
        self
    }

    /// Begins this job anew at time zero in another replica, where VMs are lost on the terms `spot`, keeping its memory.
    pub fn restart(&mut self, drift: DriftPath, replica: u64, spot: Option<&Spot>) {
        self.members.restart(replica, spot);
        self.stage.restart(drift);
        self.totals = Totals::default();
    }

    pub fn copy_from(&mut self, other: &Job) {
        self.stage.copy_from(&other.stage);
        self.members.copy_from(&other.members);
        self.totals = other.totals;
    }

    pub fn now(&self) -> SimTime {
        self.stage.now()
    }

    /// Takes or gives back VMs until they are those of `cluster`, with memory for `batch`; waits for new ones to start.
    pub fn hold(&mut self, cluster: &Cluster, batch: u32) -> Result<(), UnfinishedJob> {
        match cluster.groups.first() {
            Some(all) if cluster.is_static => {
                let workers = cluster.whole.stepping.workers;
                self.members
                    .hold_alike(&mut self.stage, all, workers, batch)
            }
            _ => self.members.hold(&mut self.stage, cluster, batch),
        }
    }

    pub fn restore(&mut self, seconds: f64) -> Result<(), UnfinishedJob> {
        self.stage.restore(SimTime::from_seconds(seconds))
    }

    pub fn enter(&mut self, phase: Phase) {
        self.stage.enter(phase);
    }

    /// Trains on `cluster`, dealt `luck`, until so many steps are complete or time is up. Unfinished ones are given up.
    pub fn train(
        &mut self,
        cluster: &Cluster,
        luck: &RandomEffects,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<TrainingResult, UnfinishedJob> {
        self.stage.ledger.forget_mark();
        if cluster.is_static {
            // Nothing can change: one stretch.
            self.stage.log.trains();
            let stretch = self.stretch(&cluster.whole.pace, &luck.stepping, goal, stream)?;
            return Ok(TrainingResult {
                advance: stretch.advance,
                steps: stretch.updates,
                passed: stretch.updates,
                lost_vms: 0,
                totals: None,
            });
        }
        let start = self.now();
        let marked = goal.mark.min(goal.updates);
        let (mut advance, mut steps) = self.live(cluster, luck, marked, goal.until, stream)?;
        self.stage.ledger.keep_mark(self.stage.now());
        let (lost_vms, totals) = (self.stage.ledger.lost_vms(), Some(self.totals));
        if steps < marked {
            advance.at_mark = start;
        } else if marked < goal.updates {
            let left = goal.updates - marked;
            let (rest, more) = self.live(cluster, luck, left, goal.until, stream)?;
            advance.compute_s += rest.compute_s;
            advance.communication_s += rest.communication_s;
            steps += more;
        }
        Ok(TrainingResult {
            advance,
            steps,
            passed: steps,
            lost_vms,
            totals,
        })
    }

    /// Whether a goal of a search takes the same time whenever it begins: no event comes, nobody watches, and the end of the
    /// clock is far.
    #[inline]
    pub fn is_timeless(&self, cluster: &Cluster, goal: Goal) -> bool {
        let stage = &self.stage;
        cluster.is_static
            && stage.fidelity == Fidelity::Fast
            && stage.drift.is_still()
            && !stage.log.is_on()
            && goal.mark == goal.updates
            && goal.until >= SimTime::LAST
            && stage.now().seconds() < FAR_S
    }

    /// Trains so many steps as from another moment, from which they took `took`.
    #[inline]
    pub fn repeat(
        &mut self,
        steps: u64,
        took: SimTime,
        times: Advance,
    ) -> Result<TrainingResult, UnfinishedJob> {
        self.stage.ledger.forget_mark();
        self.stage.wait(took, Event::StepsDone)?;
        let at_mark = self.now();
        Ok(TrainingResult {
            advance: Advance { at_mark, ..times },
            steps,
            passed: steps,
            ..TrainingResult::nothing(at_mark)
        })
    }

    /// Trains `steps`, or until a moment, through all that happens; times with the end as the mark, and steps complete.
    fn live(
        &mut self,
        cluster: &Cluster,
        luck: &RandomEffects,
        steps: u64,
        until: SimTime,
        stream: &mut Stream,
    ) -> Result<(Advance, u64), UnfinishedJob> {
        let mut run = LiveRun::new(
            &mut self.stage,
            &mut self.members,
            &mut self.totals,
            cluster,
            luck,
            steps,
            until,
        );
        run.finish(stream)
    }

    /// One stretch of steps in which nothing changes.
    pub fn stretch(
        &mut self,
        pace: &Pace,
        stepping: &Stepping,
        goal: Goal,
        stream: &mut Stream,
    ) -> Result<Stretch, UnfinishedJob> {
        let fidelity = self.stage.fidelity;
        let (stretch, _) = (self.stage).stretch(fidelity, pace, stepping, goal, stream)?;
        Ok(stretch)
    }

    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.stage.ledger.usage_until(end, usage);
    }

    /// Takes away the newest worker but the chief at `at`, and no other VM.
    pub fn lose_one(&mut self, at: SimTime) {
        self.members.lose_one(at);
    }

    #[doc(hidden)]
    pub fn ledger(&self) -> &Ledger {
        &self.stage.ledger
    }

    /// Hours of the lives of the VMs that it requested, in their order; noted from the first call on.
    pub fn lives_h(&mut self) -> &[f64] {
        self.members.lives_h()
    }

    pub fn log(&mut self) -> &mut Log {
        &mut self.stage.log
    }
}
