//! An asynchronous cluster by itself: workers, parameter servers, and nothing else.

use super::fast::Pace;
use super::{Asp, Goal, Invalid, Protocol, Scratch};
use crate::engine::Queue;
use crate::input::checked;
use crate::rng::{Purpose, Streams};
use crate::training::drift::DriftPath;
use crate::training::slowest;
use crate::training::{Fidelity, Floor, Log, Stepping, Variation};
use crate::units::SimTime;

/// Equal workers and their parameter servers.
#[derive(Debug, Clone, Copy)]
pub struct AspAlone {
    /// The servers.
    pub asp: Asp,
    /// Seconds of a worker's step when it is alone, its update included.
    pub own_s: f64,
    /// Coefficient of variation of one worker's step.
    pub step_cv: f64,
    /// Seed of all streams.
    pub seed: u64,
}

impl AspAlone {
    fn stepping(&self, workers: u32, worker_s: f64) -> Result<Stepping, String> {
        if workers == 0 {
            return Err("a cluster without workers has no speed".to_owned());
        }
        let time = Variation {
            step_cv: self.step_cv,
            ..Variation::default()
        }
        .worker_time();
        Ok(Stepping {
            workers,
            worker_s,
            communication_s: 0.0,
            time,
            slowest: slowest::moments(workers, time),
            machines: None,
        })
    }

    /// Updates per second over a run of so many, simulated in the fidelity `fast`: servers by the saturating law.
    ///
    /// # Errors
    /// A sentence about what does not go together.
    pub fn speed(&self, workers: u32, updates: u64) -> Result<f64, String> {
        let stepping = self.stepping(workers, self.own_s)?;
        let mut asp = self.asp;
        if workers == 1 {
            // Its measured step has its update in it, and nobody else waits.
            asp.service_s = checked::Delay::new(0.0).ok_or("0 is no time")?;
        }
        let protocol = Protocol::Asp(asp);
        let fidelity = Fidelity::Fast;
        let wrong = |e: Invalid| e.to_string();
        (protocol.valid(fidelity, &stepping, updates)).map_err(wrong)?;
        let (_, end) = Pace::of(protocol, fidelity, &stepping)
            .advance(
                SimTime::ZERO,
                &mut DriftPath::still(),
                &stepping,
                Goal::updates(updates),
                &mut Streams::new(self.seed).stream(0, Purpose::Trial(u64::from(workers))),
                &mut Scratch::default(),
            )
            .map_err(wrong)?;
        Ok(updates as f64 / end.seconds())
    }

    /// Seconds of the last of several stretches (workers, updates), every update an event at servers with
    /// constant service and nothing else.
    ///
    /// # Errors
    /// A sentence about what does not go together.
    pub fn queue_s(&self, stretches: &[(u32, u64)]) -> Result<f64, String> {
        let mut queue = Queue::new();
        let mut drift = DriftPath::still();
        let mut scratch = Scratch::default();
        let mut began = SimTime::ZERO;
        for (number, &(workers, updates)) in (0..).zip(stretches) {
            // A lone worker's step holds its own update.
            let compute_s = self.own_s - self.asp.part_s();
            if compute_s <= 0.0 {
                return Err("serving takes longer than a step".to_owned());
            }
            let stepping = self.stepping(workers, compute_s)?;
            began = queue.now();
            let trial = Purpose::Trial(u64::from(workers));
            let mut stream = Streams::new(self.seed).stream(number, trial);
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut drift,
                stepping: &stepping,
                stream: &mut stream,
                scratch: &mut scratch,
                log: &mut Log::default(),
            };
            Protocol::Asp(self.asp)
                .advance(&mut floor, Goal::updates(updates))
                .map_err(|e| e.to_string())?;
        }
        Ok((queue.now() - began).seconds())
    }
}
