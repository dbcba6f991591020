//! What the communication of a worker takes, as the network drifts.

use crate::training::drift::DriftPath;
use crate::training::stepping::Stepping;
use scavsim_base::units::SimTime;

pub(super) struct Network<'d> {
    drift: &'d mut DriftPath,
    usual_s: f64,
    until: SimTime,
    pub(super) seconds: f64,
    pub(super) time: SimTime,
}

impl<'d> Network<'d> {
    pub(super) fn starting_at(now: SimTime, drift: &'d mut DriftPath, stepping: &Stepping) -> Self {
        let mut network = Network {
            drift,
            usual_s: stepping.communication_s,
            until: now,
            seconds: 0.0,
            time: SimTime::ZERO,
        };
        network.follow(now);
        network
    }

    /// Becomes what it is at `now`. Time must not run back.
    #[inline]
    pub(super) fn follow(&mut self, now: SimTime) {
        if now >= self.until {
            let (factor, until) = self.drift.factor_at(now);
            self.until = until;
            self.seconds = self.usual_s * factor;
            self.time = SimTime::from_seconds(self.seconds);
        }
    }
}
