//! What simulations notice for a note; no result depends on it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use scavsim_sim::training::sync::fidelity::MOST_DEVIATIONS;
use scavsim_sim::training::sync::long_run::RATE_ERROR;

#[derive(Debug, Default)]
pub(crate) struct SimulationNotices {
    /// Bits of the largest relative standard error of a measured pace; they order as positive numbers do.
    error: AtomicU64,
    left_mean: AtomicBool,
}

impl SimulationNotices {
    /// Notes how well a measured configuration's pace is known, and whether a stretch left it.
    pub(crate) fn measured(&self, error: Option<f64>, left_mean: bool) {
        if let Some(error) = error.filter(|error| *error > RATE_ERROR) {
            self.error.fetch_max(error.to_bits(), Ordering::Relaxed);
        }
        if left_mean {
            self.left_mean.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn sentences(&self) -> Vec<String> {
        let error = f64::from_bits(self.error.load(Ordering::Relaxed));
        let inexact = (error > RATE_ERROR).then(|| {
            format!(
                "paces that `fast` measured are known to {:.2} % only (standard error): all replicas of a configuration share it, \
                 and no interval holds it; `event` has none",
                100.0 * error
            )
        });
        let left = self.left_mean.load(Ordering::Relaxed).then(|| {
            format!(
                "runs of which a stretch left its mean by more than {MOST_DEVIATIONS} standard deviations were simulated in \
                 `event` there; their `reason` says so"
            )
        });
        inexact.into_iter().chain(left).collect()
    }
}
