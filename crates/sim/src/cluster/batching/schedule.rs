//! Sizes of workers that change during the job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use scavsim_read::input::checked::{Count, Positive};

/// Sizes of all workers from a step on.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The first step with these sizes, counted from 0.
    pub from_step: Count,
    /// Sizes of all workers.
    pub sizes: Vec<Positive>,
}

/// When sizes change.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// At these steps, in ascending order.
    Levels(Vec<Level>),
    /// The schedule of OmniLearn's experiment: HL 1, 2, 4, 8, 8, 4, 2, 1, one after the other.
    Omnilearn {
        /// Steps of one level.
        block_steps: Count,
    },
}

/// Cores of the four synchronous workers by heterogeneity level HL = most / fewest cores.
pub const OMNILEARN_CORES: [(u32, [f64; 4]); 4] = [
    (1, [12.0, 12.0, 12.0, 12.0]),
    (2, [12.0, 12.0, 8.0, 16.0]),
    (4, [9.0, 9.0, 6.0, 24.0]),
    (8, [6.0, 6.0, 4.0, 32.0]),
];
/// Rows of [`OMNILEARN_CORES`] from block to block.
const OMNILEARN_ORDER: [usize; 8] = [0, 1, 2, 3, 3, 2, 1, 0];

impl Schedule {
    pub fn levels(&self) -> Vec<(u64, Vec<f64>)> {
        match self {
            Schedule::Levels(levels) => (levels.iter())
                .map(|level| {
                    let sizes = level.sizes.iter().map(|s| s.get()).collect();
                    (u64::from(level.from_step.get()), sizes)
                })
                .collect(),
            Schedule::Omnilearn { block_steps } => (0u64..)
                .zip(OMNILEARN_ORDER)
                .map(|(block, row)| {
                    let from = block * u64::from(block_steps.get());
                    (from, OMNILEARN_CORES[row].1.to_vec())
                })
                .collect(),
        }
    }
}
