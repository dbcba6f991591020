//! Many updates at once: what they touch, and what one comes to.

use super::stretch::Goal;
use crate::training::drift::DriftPath;
use crate::training::scratch::Scratch;
use crate::training::stepping::Stepping;
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_engine::Interrupt;

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

/// All that many updates at once touch, borrowed from their job.
#[derive(Debug)]
pub struct Leap<'a> {
    pub start: SimTime,
    pub drift: &'a mut DriftPath,
    pub stepping: &'a Stepping,
    pub goal: Goal,
    pub stream: &'a mut Stream,
    pub scratch: &'a mut Scratch,
    pub interrupt: &'a Interrupt,
}
