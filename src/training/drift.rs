//! The slow change of the network: one factor on the communication time per period.

use super::variation::Drift;
use crate::rng::{Purpose, Stream, Streams, UnitLogNormal, WorkloadKey};
use crate::units::SimTime;

/// The network's factor over simulated time in one replica; the same for every configuration.
#[derive(Debug, Clone)]
pub struct DriftPath {
    drift: Option<Drift>,
    streams: Streams,
    replica: u64,
    workload: WorkloadKey,
    factor: f64,
    until: SimTime,
    period: u64,
}

impl DriftPath {
    /// The path of `replica` for a `workload`; without `drift`, constant 1.
    pub fn new(
        drift: Option<Drift>,
        streams: Streams,
        replica: u64,
        workload: WorkloadKey,
    ) -> Self {
        let mut path = DriftPath {
            drift,
            streams,
            replica,
            workload,
            factor: 1.0,
            until: SimTime::from_seconds(f64::INFINITY),
            period: 0,
        };
        if drift.is_some() {
            path.enter(0);
        }
        path
    }

    /// A network that does not drift.
    pub fn still() -> Self {
        DriftPath::new(None, Streams::new(0), 0, WorkloadKey::of(""))
    }

    /// The factor at `now`, and when it ends. Time must not run back.
    #[inline]
    pub fn at(&mut self, now: SimTime) -> (f64, SimTime) {
        if now >= self.until
            && let Some(drift) = self.drift
        {
            let reached = (now.seconds() / drift.period_s) as u64;
            self.enter(reached.max(self.period + 1));
        }
        (self.factor, self.until)
    }

    fn enter(&mut self, period: u64) {
        let Some(drift) = self.drift else { return };
        let purpose = Purpose::Drift(self.workload, period);
        let mut stream: Stream = self.streams.stream(self.replica, purpose);
        self.period = period;
        self.factor = UnitLogNormal::from_sigma(drift.sigma).sample(&mut stream);
        self.until = SimTime::from_seconds((period + 1) as f64 * drift.period_s);
    }
}
