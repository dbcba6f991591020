//! What a protocol says of itself.

use std::fmt::Debug;
use std::sync::Arc;

use super::fidelity::Invalid;
use super::long_run::LongRun;
use super::sampled::Sampled;
use super::stretch::{Goal, Stretch};
use crate::engine::Interrupt;
use crate::training::Fidelity;
use crate::training::drift::DriftPath;
use crate::training::floor::Floor;
use crate::training::progress::Stalled;
use crate::training::scratch::Scratch;
use crate::training::slowest::Moments;
use crate::training::stepping::Stepping;
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_data::workload::Staleness;

/// How the workers of a job come together. It is asked once per stretch of training, never per worker-step.
pub trait Synchronisation: Debug {
    /// Name in scenarios and results.
    fn name(&self) -> &'static str;

    /// Whether it can run on `workers` workers.
    ///
    /// # Errors
    /// What is wrong, for the person who wrote the scenario.
    fn check(&self, workers: u32) -> Result<(), String>;

    /// Whether all workers meet at the end of a step.
    fn has_barrier(&self) -> bool;

    /// Gradients of one update; `None` where their number is not fixed.
    fn gradients_per_update(&self, workers: u32) -> Option<u32>;

    /// Mean seconds that an update keeps a parameter server busy; 0 without servers.
    fn mean_service_s(&self) -> f64 {
        0.0
    }

    /// Seconds of a worker's measured step that pass outside of it, at a parameter server: they are taken off its
    /// communication, and off its compute where that is shorter.
    fn service_in_step_s(&self) -> f64 {
        0.0
    }

    /// Whether `updates` updates from a fresh start can be simulated in `fidelity`. All can in `event`.
    ///
    /// # Errors
    /// Why not.
    fn valid(&self, fidelity: Fidelity, stepping: &Stepping, updates: u64) -> Result<(), Invalid>;

    /// Trains from the queue's time on until the goal, of one update at least, is reached, every worker-step an
    /// event. `stretch` is of nothing yet, and the log knows that a stretch begins.
    ///
    /// # Errors
    /// [`Stalled`] when the clock has nothing to wait for.
    fn run(&self, floor: &mut Floor<'_>, stretch: Stretch, goal: Goal) -> Result<Stretch, Stalled>;

    /// What of it `step` and `fast` need that is dear to compute; a rate that is measured becomes known to this relative
    /// standard error.
    fn stationary(&self, _stepping: &Stepping, _rate_error: f64) -> Stationary {
        Stationary::default()
    }

    /// Many updates at once, in the fidelities that are valid besides `event`, and when they end; `None` where no
    /// other is valid, or these are too few; then nothing was drawn.
    fn leap(&self, _leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        None
    }

    /// Expected seconds of an update of workers whose slowest is expected to end a step after `step_s`, communication
    /// included; `None` where only a trial run tells it.
    fn expected_update_s(&self, _step_s: f64) -> Option<f64> {
        None
    }

    /// An update of workers that have fallen out of step, communication included, where a formula tells it.
    fn long_run_update(&self, _stepping: &Stepping) -> Option<Update> {
        None
    }

    /// Samples of an update where all gradients of all workers would be `batch`: what is dropped is no part of it.
    fn effective_batch(&self, batch: f64, _workers: u32) -> f64 {
        batch
    }

    /// Factor on the gradients that the target takes, by what a trial run shows: mean staleness of a gradient in steps,
    /// samples of others over the global batch. Without a penalty they count as if fresh.
    fn gradients_factor(&self, staleness: f64, penalty: Option<Staleness>) -> f64 {
        penalty.map_or(1.0, |penalty| penalty.factor(staleness))
    }

    /// Trains from the queue's time on until the goal is reached, every worker-step an event. All
    /// workers begin a step of their own at the start; what is unfinished at the end is given up.
    ///
    /// # Errors
    /// [`Stalled`] when the clock has nothing to wait for.
    fn advance(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, Stalled> {
        let start = floor.queue.now();
        let stretch = Stretch::from(start);
        if goal.updates == 0 {
            return Ok(stretch);
        }
        floor.log.begin(floor.stepping.workers, start);
        self.run(floor, stretch, goal.on_the_clock())
    }

    /// The fidelity to run in when `asked` is wanted: that, or `event` and the reason.
    fn settle(
        &self,
        asked: Fidelity,
        stepping: &Stepping,
        updates: u64,
    ) -> (Fidelity, Option<Invalid>) {
        match self.valid(asked, stepping, updates) {
            Ok(()) => (asked, None),
            Err(why) => (Fidelity::Event, Some(why)),
        }
    }
}

/// What an update comes to in the long run, in the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    /// Seconds from one to the next.
    pub seconds: f64,
    /// Gradients that it sums up.
    pub gradients: f64,
    /// Gradients of others that they missed, together.
    pub missed: f64,
}

/// What `step` and `fast` need of a protocol on workers, whatever luck scales their times.
#[derive(Debug, Clone, Default)]
pub struct Stationary {
    /// Compute of a step relative to a worker's mean; `None` where it is the slowest worker's.
    pub barrier: Option<Moments>,
    /// Fraction of the machines' compute time that is spent on what is dropped.
    pub wasted: f64,
    /// The pace in the long run, where no formula tells it.
    pub(crate) long_run: Option<Arc<LongRun>>,
    /// Steps, where no formula tells them.
    pub(crate) sampled: Option<Arc<Sampled>>,
}

impl Stationary {
    /// Whether what it says is measured, when it is first asked for.
    pub fn is_measured(&self) -> bool {
        self.long_run.is_some() || self.sampled.is_some()
    }

    /// Relative standard error of the mean time of an update, where that was measured so far.
    pub fn error(&self) -> Option<f64> {
        let of_steps = || self.sampled.as_ref()?.error();
        self.long_run
            .as_ref()
            .and_then(|l| l.error())
            .or_else(of_steps)
    }
}

/// All that many updates at once touch, borrowed from their job.
#[derive(Debug)]
pub struct Leap<'a> {
    /// `step` or `fast`.
    pub fidelity: Fidelity,
    /// What was computed before.
    pub stationary: &'a Stationary,
    /// When they begin.
    pub start: SimTime,
    /// The network over time.
    pub drift: &'a mut DriftPath,
    /// The workers.
    pub stepping: &'a Stepping,
    /// Where they end.
    pub goal: Goal,
    /// The workers' luck.
    pub stream: &'a mut Stream,
    /// Memory.
    pub scratch: &'a mut Scratch,
    /// What stops them from outside.
    pub interrupt: &'a Interrupt,
}
