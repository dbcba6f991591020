//! What a protocol says of itself.

use super::event_protocol::EventProtocol;
use super::fidelity::Invalid;
use super::leap::Leap;
use super::stationary::Stationary;
use super::stretch::Stretch;
use crate::training::Fidelity;
use crate::training::stepping::Stepping;
use scavsim_base::units::SimTime;
use scavsim_data::workload::Staleness;

/// Why so many workers cannot train under a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongWorkers {
    #[error("a round of {0} steps is too long")]
    LongRound(u32),
    #[error("{spare} spare of {workers} workers leave none to compute")]
    NoneComputes { spare: u32, workers: u32 },
}

/// How the workers of a job come together. It is asked once per stretch of training, never per worker-step.
pub trait Synchronisation: EventProtocol {
    fn check(&self, _workers: u32) -> Result<(), WrongWorkers> {
        Ok(())
    }

    /// Whether all workers meet at the end of a step.
    fn has_barrier(&self) -> bool {
        true
    }

    /// Seconds of a worker's measured step that pass outside of it, at a parameter server: they are taken off its
    /// communication, and off its compute where that is shorter.
    fn service_in_step_s(&self) -> f64 {
        0.0
    }

    /// Whether `updates` updates from a fresh start can be simulated in `fast`. All can in `event`.
    fn check_fast(&self, _stepping: &Stepping, _updates: u64) -> Result<(), Invalid> {
        Ok(())
    }

    /// What `fast` needs that is dear to compute; a measured rate becomes known to this relative standard error.
    fn stationary(&self, _stepping: &Stepping, _rate_error: f64) -> Stationary {
        Stationary::default()
    }

    /// Many updates at once, and when they end; `None`, with nothing drawn, where `fast` is not valid or these are too few.
    fn leap(&self, _stationary: &Stationary, _leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        None
    }

    /// Expected seconds of an update of workers whose slowest is expected to end a step after `step_s`, communication
    /// included; `None` where only a trial run tells it.
    fn expected_update_s(&self, _step_s: f64) -> Option<f64> {
        None
    }

    /// Samples of an update where all gradients of all workers would be `batch`: what is dropped is no part of it.
    fn effective_batch(&self, batch: f64, _workers: u32) -> f64 {
        batch
    }

    /// Factor on the gradients that the target takes, by what a trial run shows: mean staleness of a gradient in steps,
    /// samples of others over the global batch. Without a penalty they count as if fresh.
    fn gradients_factor(&self, staleness: f64, penalty: Option<Staleness>) -> f64 {
        penalty.map_or(1.0, |penalty| penalty.factor(staleness))
    }

    /// The fidelity to run in when `asked` is wanted: that, or `event` and the reason.
    fn settle(
        &self,
        asked: Fidelity,
        stepping: &Stepping,
        updates: u64,
    ) -> (Fidelity, Option<Invalid>) {
        match asked {
            Fidelity::Event => (asked, None),
            Fidelity::Fast => match self.check_fast(stepping, updates) {
                Ok(()) => (asked, None),
                Err(why) => (Fidelity::Event, Some(why)),
            },
        }
    }
}
