//! A protocol in fidelities `step` and `fast`: many updates at once.

use super::fidelity::Invalid;
use super::registry::Protocol;
use super::stretch::{Goal, Stretch};
use super::synchronisation::{Leap, Stationary};
use crate::engine::Interrupt;
use crate::rng::Stream;
use crate::training::Fidelity;
use crate::training::drift::DriftPath;
use crate::training::scratch::Scratch;
use crate::training::stepping::Stepping;
use crate::units::SimTime;

/// What `step` and `fast` need of a protocol and a configuration: computed once, whatever luck
/// scales the times.
#[derive(Debug, Clone)]
pub struct Pace {
    protocol: Protocol,
    fidelity: Fidelity,
    stationary: Stationary,
}

impl Pace {
    /// The pace of `protocol`. Ask it first whether the fidelity holds.
    pub fn of(protocol: Protocol, fidelity: Fidelity, stepping: &Stepping) -> Self {
        Pace {
            protocol,
            fidelity,
            stationary: protocol.stationary(stepping),
        }
    }

    /// The protocol that it is the pace of.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// What was computed before.
    pub(crate) fn stationary(&self) -> &Stationary {
        &self.stationary
    }

    /// Trains from `start` on until the goal is reached; also returns when that is.
    ///
    /// # Errors
    /// Why the protocol has to be simulated in `event`; nothing was drawn then.
    pub fn advance(
        &self,
        start: SimTime,
        drift: &mut DriftPath,
        stepping: &Stepping,
        goal: Goal,
        stream: &mut Stream,
        scratch: &mut Scratch,
    ) -> Result<(Stretch, SimTime), Invalid> {
        self.leap(Leap {
            fidelity: self.fidelity,
            stationary: &self.stationary,
            start,
            drift,
            stepping,
            goal,
            stream,
            scratch,
            interrupt: &Interrupt::NEVER,
        })
    }

    /// The same in the fidelity that `leap` says.
    ///
    /// # Errors
    /// As [`Pace::advance`].
    pub(crate) fn leap(&self, mut leap: Leap<'_>) -> Result<(Stretch, SimTime), Invalid> {
        let rule = &*self.protocol;
        leap.goal = leap.goal.on_the_clock();
        rule.valid(leap.fidelity, leap.stepping, u64::MAX)?;
        let done = rule.leap(leap);
        done.ok_or_else(|| Invalid::NoFormula {
            protocol: rule.name(),
        })
    }
}
