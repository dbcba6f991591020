use serde::{Deserialize, Serialize};

use scavsim_read::input::checked::Penalty;

/// How a workload suffers from stale gradients: steps × (1 + a·mean staleness). The default, a = 0,
/// is what a protocol costs if staleness is harmless. Staleness is counted in samples under every protocol: those of
/// others that were applied between the reading of the parameters and the update, over the global batch B.
///
/// A linear penalty is a choice of ours, made so that it can be fitted to one measurement; sources
/// agree that staleness costs, not on the shape.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Staleness {
    /// a: the fraction of further steps per global batch of others' samples that the mean gradient has missed.
    pub per_missed_batch: Penalty,
}

impl Staleness {
    /// Factor on the steps to the target at a mean staleness in global batches.
    pub fn factor(self, mean_staleness: f64) -> f64 {
        1.0 + self.per_missed_batch.get() * mean_staleness
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_that_would_reward_staleness_is_refused() {
        assert!(toml::from_str::<Staleness>("per_missed_batch = -0.1").is_err());
        assert!(toml::from_str::<Staleness>("per_missed_batches = 0.1").is_err());
    }
}
