//! A protocol in fidelity `fast`: many updates at once.

use super::fidelity::{Invalid, MOST_DEVIATIONS};
use super::leap::Leap;
use super::long_run::{RATE_ERROR, RATE_ERROR_IN_PASSING};
use super::registry::Protocol;
use super::stationary::Stationary;
use super::stretch::{Goal, Stretch};
use crate::training::drift::DriftPath;
use crate::training::scratch::Scratch;
use crate::training::stepping::Stepping;
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_engine::Interrupt;

/// What `fast` needs of a protocol and a configuration: computed once, whatever luck scales the times.
#[derive(Debug, Clone)]
pub struct Pace {
    protocol: Protocol,
    stationary: Stationary,
}

impl Pace {
    /// The pace of `protocol`. Ask it first whether `fast` holds.
    pub fn new(protocol: Protocol, stepping: &Stepping) -> Self {
        Pace::within(RATE_ERROR, protocol, stepping)
    }

    /// The pace of workers that a cluster has while VMs are missing: each number of them for a part of the time only,
    /// so that its rate need not be known as well.
    pub(crate) fn in_passing(protocol: Protocol, stepping: &Stepping) -> Self {
        Pace::within(RATE_ERROR_IN_PASSING, protocol, stepping)
    }

    fn within(rate_error: f64, protocol: Protocol, stepping: &Stepping) -> Self {
        Pace {
            protocol,
            stationary: protocol.stationary(stepping, rate_error),
        }
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub fn stationary(&self) -> &Stationary {
        &self.stationary
    }

    /// Trains from `start` until the goal is reached, and says when; or why this needs `event`, with nothing drawn.
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
            start,
            drift,
            stepping,
            goal,
            stream,
            scratch,
            interrupt: &Interrupt::of_current_thread(),
        })
    }

    pub(crate) fn leap(&self, mut leap: Leap<'_>) -> Result<(Stretch, SimTime), Invalid> {
        let rule = &*self.protocol;
        leap.goal = leap.goal.on_the_clock();
        rule.check_fast(leap.stepping, u64::MAX)?;
        let is_measured = self.stationary.is_measured();
        let before = is_measured.then(|| (leap.drift.clone(), leap.stream.clone()));
        let done = rule.leap(
            &self.stationary,
            Leap {
                drift: &mut *leap.drift,
                stream: &mut *leap.stream,
                scratch: &mut *leap.scratch,
                ..leap
            },
        );
        match (done, before) {
            (Some((stretch, _)), Some((drift, stream))) if stretch.deviations > MOST_DEVIATIONS => {
                (*leap.drift, *leap.stream) = (drift, stream);
                Err(Invalid::LeftMean)
            }
            (Some(done), _) => Ok(done),
            (None, _) => Err(Invalid::NoFormula {
                protocol: rule.name(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{protocol, stepping, stream, variation};

    /// A law that is spoilt gives itself away, whatever it is asked: its stretch goes back to where it began.
    #[test]
    fn a_stretch_that_leaves_its_mean_is_refused_and_undone() {
        let protocol = protocol("flexible = { after_s = 0.7 }");
        let stepping = stepping(4, [1.0, 0.1], variation(0.1, None).worker_time());
        let mut pace = Pace::new(protocol, &stepping);
        let fresh = || stream(1);
        let run = |pace: &Pace, stream: &mut Stream| {
            let (mut drift, mut scratch) = (DriftPath::still(), Scratch::default());
            let goal = Goal::updates(3_000);
            let start = SimTime::ZERO;
            pace.advance(start, &mut drift, &stepping, goal, stream, &mut scratch)
        };
        let mut stream = fresh();
        let (stretch, _) = run(&pace, &mut stream).expect("valid in `fast`");
        assert!(stretch.deviations < MOST_DEVIATIONS);
        let long_run = pace.stationary.long_run.as_ref();
        pace.stationary.long_run = Some(long_run.expect("it is measured").spoilt());
        let mut stream = fresh();
        assert_eq!(run(&pace, &mut stream), Err(Invalid::LeftMean));
        assert_eq!(stream.normal(), fresh().normal(), "nothing was drawn");
    }
}
