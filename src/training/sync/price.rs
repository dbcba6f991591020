//! What stale and dropped gradients cost: a longer way to the target.

use super::stretch::Stretch;
use crate::workload::Staleness;

/// Factor on the gradients that the target takes: stale ones count for less. `None` is a workload
/// without a penalty.
pub fn gradients_factor(staleness: Option<Staleness>, stretch: &Stretch) -> f64 {
    staleness.map_or(1.0, |s| s.factor(stretch.mean_staleness()))
}

/// Samples that an update is made of, when workers of global batch `batch` drop some gradients:
/// B·(1 − dropped fraction). Epochs to the target are to be asked for this batch.
pub fn effective_batch(batch: f64, stretch: &Stretch) -> f64 {
    batch * (1.0 - stretch.dropped_fraction())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SimTime;

    #[test]
    fn penalty_is_linear_and_none_by_default() {
        let stretch = Stretch {
            gradients: 10,
            dropped: 2,
            missed_updates: 30,
            ..Stretch::from(SimTime::ZERO)
        };
        assert_eq!(gradients_factor(None, &stretch), 1.0);
        let staleness: Staleness = toml::from_str("per_missed_update = 0.1").expect("legal");
        assert!((gradients_factor(Some(staleness), &stretch) - 1.3).abs() < 1e-12);
        assert!((effective_batch(120.0, &stretch) - 100.0).abs() < 1e-12);
        let nothing = Stretch::from(SimTime::ZERO);
        assert_eq!(gradients_factor(Some(staleness), &nothing), 1.0);
        assert_eq!(effective_batch(120.0, &nothing), 120.0);
    }

    #[test]
    fn a_penalty_that_would_reward_staleness_is_refused() {
        assert!(toml::from_str::<Staleness>("per_missed_update = -0.1").is_err());
        assert!(toml::from_str::<Staleness>("per_missed_updates = 0.1").is_err());
    }
}
