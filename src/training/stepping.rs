//! Synchronous (bsp) steps of one configuration in one replica: every worker computes, all meet,
//! the step ends after the slowest plus the communication.

use super::slowest::{self, Moments};
use super::variation::WorkerTime;
use crate::rng::Stream;

/// The step process of one configuration in one replica.
#[derive(Debug, Clone)]
pub struct Stepping {
    /// Worker count K.
    pub workers: u32,
    /// Mean compute seconds of one worker, placement included.
    pub worker_s: f64,
    /// Seconds of exposed communication, placement included, drift not.
    pub communication_s: f64,
    /// Shape of one worker's compute time.
    pub time: WorkerTime,
    /// The slowest worker, relative to `worker_s`.
    pub slowest: Moments,
    /// Mean time of each worker relative to `worker_s`, where machines differ.
    pub machines: Option<Box<[f64]>>,
}

impl Stepping {
    /// Draws one worker's compute seconds.
    #[inline]
    pub fn draw_worker_s(&self, worker: u32, stream: &mut Stream) -> f64 {
        let machine = match &self.machines {
            None => 1.0,
            Some(factors) => factors[worker as usize],
        };
        self.worker_s * machine * slowest::draw(1, self.time, stream)
    }

    /// Draws the compute seconds of the slowest worker of one step.
    #[inline]
    pub fn draw_slowest_s(&self, stream: &mut Stream) -> f64 {
        let relative = match &self.machines {
            None => slowest::draw(self.workers, self.time, stream),
            Some(factors) => slowest::draw_unequal(factors, self.time, stream),
        };
        self.worker_s * relative
    }

    /// Mean seconds of a step at network factor `network`.
    #[inline]
    pub fn mean_step_s(&self, network: f64) -> f64 {
        self.worker_s * self.slowest.mean + self.communication_s * network
    }
}
