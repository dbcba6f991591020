//! The proportional controller of Tyagi & Sharma (ACSOS 2020): b_k' = b_k·mean(t)/t_k with mean step times t, scaled to the
//! global batch and held to the bounds; applied only if some worker would change by more than the dead-band.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cluster::batching::proportional::Proportional;
use crate::cluster::batching::uniform::Uniform;
use crate::cluster::batching::{BatchPolicy, WorkerGroup, shares};
use scavsim_read::input::checked::{Count, NonNegative};

/// Settings of the controller.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dynamic {
    /// Batches at the start.
    pub start: Start,
    /// Steps from one look to the next; the paper does not say.
    pub every: Count,
    /// Largest relative change that is not worth a restart.
    pub dead_band: NonNegative,
}

impl Default for Dynamic {
    fn default() -> Self {
        Dynamic {
            start: Start::Uniform,
            every: Count::new(50).expect("50 is at least 1"),
            dead_band: NonNegative::new(0.05).expect("0.05 is at least 0"),
        }
    }
}

/// Batches that a controller starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Equal.
    Uniform,
    /// In proportion to size.
    Static,
}

/// Relative change that is rounding.
const ROUNDING: f64 = 1e-9;

impl BatchPolicy for Dynamic {
    fn start(&self, group: &WorkerGroup, batches: &mut [f64]) {
        match self.start {
            Start::Uniform => Uniform.start(group, batches),
            Start::Static => Proportional.start(group, batches),
        }
    }

    fn looks_every(&self) -> Option<u64> {
        Some(u64::from(self.every.get()))
    }

    fn adjust(
        &self,
        group: &WorkerGroup,
        seen_s: &[f64],
        batches: &[f64],
        next: &mut [f64],
    ) -> bool {
        let mean_s = seen_s.iter().sum::<f64>() / seen_s.len() as f64;
        for ((next, b), t) in next.iter_mut().zip(batches).zip(seen_s) {
            *next = b * mean_s / t;
        }
        shares::scale(group, next);
        let change = (next.iter().zip(batches))
            .map(|(next, b)| (next - b).abs() / b)
            .fold(0.0, f64::max);
        change > self.dead_band.get().max(ROUNDING)
    }
}
