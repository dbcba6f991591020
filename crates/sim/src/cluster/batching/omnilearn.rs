//! The controller as released with OmniLearn (Tyagi & Sharma, TPDS 2025): the rule of [`dynamic`](super::dynamic), looked at
//! once per epoch with plain means. Each worker has its own dead-band, relative to the wanted batch; what clipping and
//! dead-bands leave of the global batch is spread evenly. The released code may leave its bounds, even below zero; here they
//! hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cluster::batching::uniform::Uniform;
use crate::cluster::batching::{BatchPolicy, WorkerGroup, shares};
use scavsim_read::input::checked::{Count, NonNegative};

/// Settings of the released controller. Its default bounds, 16 to 96 samples, stand with the workers.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Omnilearn {
    /// Steps of an epoch.
    pub epoch_steps: Count,
    /// Largest change, relative to the wanted batch, that a worker does not follow.
    #[serde(default = "dead_band")]
    pub dead_band: NonNegative,
}

fn dead_band() -> NonNegative {
    NonNegative::new(0.2).expect("0.2 is at least 0")
}

impl BatchPolicy for Omnilearn {
    fn start(&self, group: &WorkerGroup, batches: &mut [f64]) {
        Uniform.start(group, batches);
    }

    fn looks_every(&self) -> Option<u64> {
        Some(u64::from(self.epoch_steps.get()))
    }

    fn adjust(
        &self,
        group: &WorkerGroup,
        seen_s: &[f64],
        batches: &[f64],
        next: &mut [f64],
    ) -> bool {
        let mean_s = seen_s.iter().sum::<f64>() / seen_s.len() as f64;
        let mut any = false;
        for (k, next) in next.iter_mut().enumerate() {
            let wanted = (batches[k] * mean_s / seen_s[k]).max(group.least[k]);
            let follows = (wanted - batches[k]).abs() > self.dead_band.get() * wanted;
            *next = if follows { wanted } else { batches[k] };
            any |= follows;
        }
        shares::shift(group, next);
        any
    }
}
