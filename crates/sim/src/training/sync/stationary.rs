//! What a protocol comes to in the long run.

use std::sync::Arc;

use super::long_run::LongRun;
use super::sampled_steps::SampledSteps;
use crate::training::slowest::Moments;

/// What `fast` needs of a protocol on workers, whatever luck scales their times.
#[derive(Debug, Clone, Default)]
pub struct Stationary {
    /// Compute of a step relative to a worker's mean; `None` where it is the slowest worker's.
    pub barrier: Option<Moments>,
    /// Fraction of the machines' compute time that is spent on what is dropped.
    pub wasted: f64,
    /// The pace in the long run, where no formula tells it.
    pub(crate) long_run: Option<Arc<LongRun>>,
    /// Steps, where no formula tells them.
    pub(crate) sampled: Option<Arc<SampledSteps>>,
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
