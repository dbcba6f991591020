//! Which fidelity holds for which protocol, and why not.

use super::Protocol;
use super::fast::{Renewal, contention};
use crate::training::Fidelity;
use crate::training::stepping::Stepping;

/// Why a protocol cannot be simulated in a fidelity. Every one can in `event`.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// There is no step that all workers share.
    #[error("under `{protocol}` workers have no step in common that one draw could stand for")]
    NoCommonStep {
        /// The protocol.
        protocol: &'static str,
    },
    /// Steps depend on each other.
    #[error("under `{protocol}` what a worker does next depends on the others' progress")]
    Entangled {
        /// The protocol.
        protocol: &'static str,
    },
    /// The order statistic of unequal machines is not computed.
    #[error("`{protocol}` on machines that differ has no moments of a step in closed form")]
    UnequalMachines {
        /// The protocol.
        protocol: &'static str,
    },
    /// Updates queue at the parameter servers.
    #[error(
        "updates wait for the parameter servers, {:.2} % of a worker's time, and no \
         `sharpness` was measured", 100.0 * waiting
    )]
    Contended {
        /// Fraction of a worker's time spent in the queue, an estimate.
        waiting: f64,
    },
    /// Workers still step nearly together, as at the start.
    #[error("{updates} updates are too few for workers to fall out of step")]
    InStep {
        /// Updates asked for.
        updates: u64,
    },
}

impl Protocol {
    /// Whether `updates` updates from a fresh start can be simulated in `fidelity`.
    ///
    /// # Errors
    /// Why not.
    pub fn valid(
        &self,
        fidelity: Fidelity,
        stepping: &Stepping,
        updates: u64,
    ) -> Result<(), Invalid> {
        let protocol = self.name();
        match (self, fidelity) {
            (_, Fidelity::Event) | (Protocol::Bsp, _) | (Protocol::Backup(_), Fidelity::Step) => {
                Ok(())
            }
            (Protocol::Backup(_), Fidelity::Fast) if stepping.machines.is_none() => Ok(()),
            (Protocol::Backup(_), Fidelity::Fast) => Err(Invalid::UnequalMachines { protocol }),
            (Protocol::Asp(asp), Fidelity::Fast) => {
                if let Some(waiting) = contention(asp, stepping) {
                    return Err(Invalid::Contended { waiting });
                }
                Renewal::of(asp, stepping, 1.0).check(stepping.workers, updates)
            }
            (Protocol::Speculative(_), _) => Err(Invalid::Entangled { protocol }),
            (_, Fidelity::Step) => Err(Invalid::NoCommonStep { protocol }),
            (Protocol::Ssp(_) | Protocol::Flexible(_), Fidelity::Fast) => {
                Err(Invalid::Entangled { protocol })
            }
        }
    }

    /// The fidelity to run in when `asked` is wanted: that, or `event` and the reason.
    pub fn settle(
        &self,
        asked: Fidelity,
        stepping: &Stepping,
        updates: u64,
    ) -> (Fidelity, Option<Invalid>) {
        match self.valid(asked, stepping, updates) {
            Ok(()) => (asked, None),
            Err(why) => (Fidelity::Event, Some(why)),
        }
    }
}
