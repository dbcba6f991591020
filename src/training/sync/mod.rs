//! How the workers of a job come together: one file per protocol.
//!
//! In: a [`Floor`], which is the event queue, the [`Stepping`](super::Stepping) of a configuration and
//! its luck, and a [`Goal`]. Out: a [`Stretch`]: what was done, how long it took, and what the
//! statistical price needs.
//!
//! - [`stretch`]: goals and outcomes; [`draws`]: worker times in blocks.
//! - [`bsp`], [`backup`], [`speculative`]: with a barrier. [`ssp`], [`asp`], [`flexible`]: without
//!   waiting for the slowest of every step.
//! - [`fidelity`]: which fidelity holds for which protocol, and why not; [`fast`]: many updates in
//!   one draw.
//! - [`price`]: what stale and dropped gradients cost in steps.
//!
//! A new protocol is a file with its settings and its `advance`, a variant of [`Protocol`] and its
//! lines in the `match`es here and in [`fidelity`].

pub mod asp;
pub mod backup;
pub mod bsp;
pub mod draws;
pub mod fast;
pub mod fidelity;
pub mod flexible;
pub mod price;
pub mod speculative;
pub mod ssp;
pub mod stretch;

pub use asp::{Asp, ServiceTime};
pub use backup::Backup;
pub use fidelity::Invalid;
pub use flexible::Flexible;
pub use speculative::Speculative;
pub use ssp::Ssp;
pub use stretch::{Goal, Stretch};

use serde::{Deserialize, Serialize};

use super::floor::Floor;
use super::progress::Stalled;
use crate::units::SimTime;

/// A synchronisation protocol with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Protocol {
    /// Every worker computes, all meet, the slowest ends the step.
    #[default]
    Bsp,
    /// The step ends without the last few.
    Backup(Backup),
    /// As `bsp`, with a second attempt at slow worker-steps.
    Speculative(Speculative),
    /// A worker waits only when it is too far ahead of the slowest.
    Ssp(Ssp),
    /// Nobody waits; parameter servers take updates one after the other.
    Asp(Asp),
    /// A barrier at fixed times that sums what is finished.
    Flexible(Flexible),
}

/// Memory of a job's protocol, kept from one stretch to the next.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    pub(super) clocks: Vec<ssp::Clock>,
    pub(super) read: Vec<u64>,
    pub(super) free_at: Vec<SimTime>,
    pub(super) tasks: Vec<speculative::Task>,
    pub(super) idle: Vec<speculative::Idle>,
    pub(super) pauses: Vec<flexible::Begun>,
    pub(super) times: Vec<f64>,
}

impl Protocol {
    /// Name in scenarios and results.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Bsp => "bsp",
            Protocol::Backup(_) => "backup",
            Protocol::Speculative(_) => "speculative",
            Protocol::Ssp(_) => "ssp",
            Protocol::Asp(_) => "asp",
            Protocol::Flexible(_) => "flexible",
        }
    }

    /// Whether it can run on `workers` workers.
    ///
    /// # Errors
    /// What is wrong, for the person who wrote the scenario.
    pub fn check(&self, workers: u32) -> Result<(), String> {
        let spare = match self {
            Protocol::Backup(backup) => backup.spare.get(),
            Protocol::Speculative(speculative) => speculative.spare,
            _ => return Ok(()),
        };
        if spare < workers {
            return Ok(());
        }
        Err(format!(
            "{spare} spare of {workers} workers leave none to compute"
        ))
    }

    /// Whether all workers meet at the end of a step.
    pub fn has_barrier(&self) -> bool {
        match self {
            Protocol::Bsp | Protocol::Backup(_) | Protocol::Speculative(_) => true,
            Protocol::Ssp(_) | Protocol::Asp(_) | Protocol::Flexible(_) => false,
        }
    }

    /// Gradients of one update; `None` where their number is not fixed.
    pub fn gradients_per_update(&self, workers: u32) -> Option<u32> {
        match self {
            Protocol::Bsp => Some(workers),
            Protocol::Backup(backup) => Some(backup.needed(workers)),
            Protocol::Speculative(speculative) => Some(speculative.tasks(workers)),
            Protocol::Ssp(_) | Protocol::Asp(_) => Some(1),
            Protocol::Flexible(_) => None,
        }
    }

    /// Trains from the queue's time on until the goal is reached, every worker-step an event. All
    /// workers begin a step of their own at the start; what is unfinished at the end is given up.
    ///
    /// # Errors
    /// [`Stalled`] when the clock has nothing to wait for.
    pub fn advance(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, Stalled> {
        match self {
            Protocol::Bsp => bsp::advance(floor, goal),
            Protocol::Backup(settings) => settings.advance(floor, goal),
            Protocol::Speculative(settings) => settings.advance(floor, goal),
            Protocol::Ssp(settings) => settings.advance(floor, goal),
            Protocol::Asp(settings) => settings.advance(floor, goal),
            Protocol::Flexible(settings) => settings.advance(floor, goal),
        }
    }
}
