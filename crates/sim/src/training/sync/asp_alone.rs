//! An asynchronous cluster by itself: workers, parameter servers, and nothing else.

use super::fast::Pace;
use super::{Asp, Goal, Invalid, Protocol, Scratch};
use crate::training::drift::DriftPath;
use crate::training::slowest;
use crate::training::{Fidelity, Floor, Log, StalledJob, Stepping, Variation};
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::units::SimTime;
use scavsim_engine::Queue;

#[derive(Debug, Clone, Copy)]
pub struct AspAlone {
    pub asp: Asp,
    /// Seconds of a worker's step when it is alone, its update included.
    pub own_s: f64,
    /// Coefficient of variation of one worker's compute.
    pub step_cv: f64,
    pub seed: u64,
    pub fidelity: Fidelity,
}

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum NoSpeed {
    #[error("a cluster without workers has no speed")]
    NoWorkers,
    #[error("serving takes longer than a step")]
    SlowServers,
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A defect.
    #[error(transparent)]
    Stalled(#[from] StalledJob),
}

impl AspAlone {
    fn stepping(&self, workers: u32) -> Result<Stepping, NoSpeed> {
        if workers == 0 {
            return Err(NoSpeed::NoWorkers);
        }
        let compute_s = self.own_s - self.asp.part_s();
        if compute_s <= 0.0 {
            return Err(NoSpeed::SlowServers);
        }
        let time = Variation {
            step_cv: self.step_cv,
            ..Variation::default()
        }
        .worker_time();
        Ok(Stepping {
            workers,
            worker_s: compute_s,
            communication_s: 0.0,
            time,
            slowest: slowest::moments(workers, time),
            machines: None,
        })
    }

    /// Updates per second of so many workers over a run of so many.
    pub fn speed(&self, workers: u32, updates: u64) -> Result<f64, NoSpeed> {
        let stepping = self.stepping(workers)?;
        let protocol = Protocol::Asp(self.asp);
        let trial = Purpose::Trial(u64::from(workers));
        let mut stream = Streams::new(self.seed).stream(0, trial);
        let (mut drift, mut scratch) = (DriftPath::still(), Scratch::default());
        let goal = Goal::updates(updates);
        let (fidelity, _) = protocol.settle(self.fidelity, &stepping, updates);
        let end = match fidelity {
            Fidelity::Event => {
                let mut queue = Queue::new();
                let mut floor = Floor {
                    queue: &mut queue,
                    drift: &mut drift,
                    stepping: &stepping,
                    stream: &mut stream,
                    scratch: &mut scratch,
                    log: &mut Log::default(),
                };
                protocol.advance(&mut floor, goal)?;
                queue.now()
            }
            Fidelity::Fast => {
                let pace = Pace::new(protocol, &stepping);
                let start = SimTime::ZERO;
                let done = pace.advance(
                    start,
                    &mut drift,
                    &stepping,
                    goal,
                    &mut stream,
                    &mut scratch,
                );
                done?.1
            }
        };
        Ok(updates as f64 / end.seconds())
    }
}
