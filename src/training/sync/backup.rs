//! Backup workers: the step ends at arrival number N of the K = N + r workers. Late gradients are
//! dropped, and their workers start again with the next step. An update is a step of N gradients.

use serde::{Deserialize, Serialize};

use super::bsp;
use super::stretch::{Goal, Stretch};
use crate::input::checked::Count;
use crate::rng::Stream;
use crate::training::floor::Floor;
use crate::training::progress::Stalled;
use crate::training::slowest::{self, Moments};
use crate::training::stepping::Stepping;

/// Settings of `backup`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    /// Workers that no step waits for, r. They are among the K of the configuration.
    pub spare: Count,
}

impl Backup {
    /// Gradients that a step waits for, N; at least 1.
    pub fn needed(&self, workers: u32) -> u32 {
        workers.saturating_sub(self.spare.get()).max(1)
    }

    /// Moments of the compute of a step, relative to one worker's mean.
    pub fn moments(&self, stepping: &Stepping) -> Moments {
        slowest::moments_of_nth(
            self.needed(stepping.workers),
            stepping.workers,
            stepping.time,
        )
    }

    /// Draws the compute seconds of a step; `times` is memory.
    pub fn draw_s(&self, stepping: &Stepping, times: &mut Vec<f64>, stream: &mut Stream) -> f64 {
        times.clear();
        times.extend((0..stepping.workers).map(|worker| stepping.draw_worker_s(worker, stream)));
        let nth = self.needed(stepping.workers) as usize - 1;
        *times.select_nth_unstable_by(nth, f64::total_cmp).1
    }

    pub(super) fn advance(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, Stalled> {
        let needed = self.needed(floor.stepping.workers);
        bsp::rounds(floor, needed, goal)
    }
}
