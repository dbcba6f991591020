//! What a protocol does event by event, and says of its updates.

use std::fmt::Debug;

use super::leap::Update;
use super::stretch::{Goal, Stretch};
use crate::training::floor::Floor;
use crate::training::progress::StalledJob;
use crate::training::stepping::Stepping;
use scavsim_base::Declared;

pub trait Named {
    fn name(&self) -> &'static str;
}

impl<T: Declared> Named for T {
    fn name(&self) -> &'static str {
        T::DECLARATION.name
    }
}

/// A protocol, every worker-step an event. It is asked once per stretch of training, never per worker-step.
pub trait EventProtocol: Named + Debug + Send + Sync {
    /// Gradients of one update; `None` where their number is not fixed.
    fn gradients_per_update(&self, workers: u32) -> Option<u32>;

    /// Mean seconds that an update keeps a parameter server busy; 0 without servers.
    fn mean_service_s(&self) -> f64 {
        0.0
    }

    /// Trains until the goal, of one update at least, with every worker-step an event. The log has begun.
    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob>;

    /// An update of workers that have fallen out of step, communication included, where a formula tells it.
    fn long_run_update(&self, _stepping: &Stepping) -> Option<Update> {
        None
    }

    /// Trains from the queue's time on until the goal is reached, every worker-step an event. All
    /// workers begin a step of their own at the start; what is unfinished at the end is given up.
    fn advance(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        let start = floor.queue.now();
        if goal.updates == 0 {
            return Ok(Stretch::from(start));
        }
        floor.log.begin(floor.stepping.workers, start);
        self.run(floor, goal.on_the_clock())
    }
}
