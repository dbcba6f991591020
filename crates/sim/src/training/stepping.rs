//! Synchronous (bsp) steps of one configuration in one replica: every worker computes, all meet,
//! the step ends after the slowest plus the communication.

use super::slowest::{self, Moments};
use super::variation::WorkerTime;
use scavsim_base::rng::Stream;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepCondition {
    Nothing,
    Straggler,
}

#[derive(Debug, Clone)]
pub struct Stepping {
    pub workers: u32,
    /// Mean compute seconds of one worker, placement included.
    pub worker_s: f64,
    /// Seconds of exposed communication, placement included, drift not.
    pub communication_s: f64,
    pub time: WorkerTime,
    /// The slowest worker, relative to `worker_s`.
    pub slowest: Moments,
    /// Mean time of each worker relative to `worker_s`, where machines differ.
    pub machines: Option<Box<[f64]>>,
}

impl Stepping {
    #[inline]
    pub fn draw_worker_s(&self, worker: u32, stream: &mut Stream) -> f64 {
        self.worker_s * self.machine(worker) * slowest::draw(1, self.time, stream)
    }

    #[inline]
    pub fn draw_slowest_s(&self, stream: &mut Stream) -> f64 {
        let relative = match &self.machines {
            None => slowest::draw(self.workers, self.time, stream),
            Some(factors) => slowest::draw_unequal(factors, self.time, stream),
        };
        self.worker_s * relative
    }

    #[inline]
    pub fn draw_slowest_given_s(&self, given: StepCondition, stream: &mut Stream) -> f64 {
        let relative = match (given, &self.machines) {
            (StepCondition::Nothing, _) => return self.draw_slowest_s(stream),
            (StepCondition::Straggler, None) => {
                slowest::draw_straggled(self.workers, self.time, stream)
            }
            (StepCondition::Straggler, Some(factors)) => {
                slowest::draw_unequal_straggled(factors, self.time, stream)
            }
        };
        self.worker_s * relative
    }

    /// Shows each worker's compute seconds in a step of which that is known.
    pub fn draw_workers_given_s(
        &self,
        given: StepCondition,
        stream: &mut Stream,
        mut show: impl FnMut(f64),
    ) {
        match (given, self.time.straggler) {
            (StepCondition::Straggler, Some(straggler)) => {
                let plain = WorkerTime {
                    straggler: None,
                    ..self.time
                };
                let mean_s = self.worker_s * libm::exp(self.time.log_scale() - plain.log_scale());
                let p = straggler.probability;
                slowest::straggling(self.workers, p, stream, |worker, straggles, stream| {
                    let factor = if straggles { straggler.factor } else { 1.0 };
                    let machine = self.machine(worker) * factor;
                    show(mean_s * machine * slowest::draw(1, plain, stream));
                });
            }
            _ => (0..self.workers).for_each(|worker| show(self.draw_worker_s(worker, stream))),
        }
    }

    #[inline]
    fn machine(&self, worker: u32) -> f64 {
        match &self.machines {
            None => 1.0,
            Some(factors) => factors[worker as usize],
        }
    }

    #[inline]
    pub fn mean_step_s(&self, network: f64) -> f64 {
        self.worker_s * self.slowest.mean + self.communication_s * network
    }
}
