//! The slow change of the network: one factor on the communication time per period.
//!
//! Many short periods can be taken as one. Steps of w seconds of compute and c of communication at factor 1 come at rate
//! g = 1/(w + c·f) in a period T of factor f; as a step that begins in a period keeps its factor to the end, their number
//! in N periods has mean N·T·(E g − (E[1/g]·E g − 1)/2T), variance N·T²·Var g and 1/√N of the skewness of g. One
//! normal variable per block of 4, 16, 64… periods is bent to these: it belongs to the block, so all configurations of a
//! replica meet the same network, and a run cut short has that of the whole one up to the block in which it ends.

use super::sums::skewed;
use super::variation::Drift;
use scavsim_base::rng::{Purpose, Stream, Streams, UnitLogNormal, WorkloadKey};
use scavsim_base::stats::normal;
use scavsim_base::units::SimTime;

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

/// Steps per period, at least, of which many periods are taken as one: with fewer, where a step begins matters.
const STEPS_PER_PERIOD: f64 = 4.0;
/// Largest skewness of the rate over a block.
const LARGEST_SKEWNESS: f64 = 0.5;
/// Largest block: 4 to this power periods.
const LARGEST_LEVEL: u32 = 12;
/// Nodes of the quadrature over the logarithm of the factor, and half their distance in σ.
const NODES: i32 = 12;
const NODE_DISTANCE: f64 = 0.5;
/// Set in the number of what is drawn for a block, never in that of a period.
const BLOCK: u64 = 1 << 63;

/// The rate of steps in a period, over all factors.
struct Rate {
    mean: f64,
    deviation: f64,
    skewness: f64,
}

impl Rate {
    fn new(sigma: f64, compute_s: f64, communication_s: f64) -> Rate {
        let nodes = (-NODES..=NODES).map(|i| {
            let z = f64::from(i) * NODE_DISTANCE;
            let factor = libm::exp(sigma * z - 0.5 * sigma * sigma);
            let weight = normal::density(z) * NODE_DISTANCE;
            (1.0 / (compute_s + communication_s * factor), weight)
        });
        let (mut mass, mut mean) = (0.0, 0.0);
        nodes.clone().for_each(|(rate, weight)| {
            mass += weight;
            mean += weight * rate;
        });
        mean /= mass;
        let (mut second, mut third) = (0.0, 0.0);
        nodes.for_each(|(rate, weight)| {
            let off = rate - mean;
            second += weight * off * off;
            third += weight * off * off * off;
        });
        let deviation = (second / mass).sqrt();
        Rate {
            mean,
            deviation,
            skewness: if deviation > 0.0 {
                third / mass / (deviation * deviation * deviation)
            } else {
                0.0
            },
        }
    }
}

impl DriftPath {
    /// Mean seconds of a step over a block of periods that begins with the one of `now`, and when that ends, at `limit` at
    /// the latest; `None` where no block fits. Time must not run back.
    pub fn block(
        &mut self,
        now: SimTime,
        limit: impl FnOnce() -> SimTime,
        (compute_s, communication_s): (f64, f64),
    ) -> Option<(f64, SimTime)> {
        let drift = self.drift?;
        let usual_s = compute_s + communication_s;
        if usual_s * STEPS_PER_PERIOD > drift.period_s || communication_s <= 0.0 {
            return None;
        }
        self.factor_at(now);
        let limit = limit();
        let ends = |level: u32| {
            let last = self.period + (1 << (2 * level));
            SimTime::from_seconds(last as f64 * drift.period_s)
        };
        let fits =
            |level: &u32| self.period.is_multiple_of(1 << (2 * level)) && ends(*level) <= limit;
        let level = (1..=LARGEST_LEVEL).take_while(fits).last()?;
        let rate = Rate::new(drift.sigma, compute_s, communication_s);
        // The square root of the periods of the block.
        let root = f64::from(1 << level);
        if rate.skewness.abs() / root > LARGEST_SKEWNESS {
            return None;
        }
        let number = BLOCK | u64::from(level) << 56 | self.period >> (2 * level);
        let purpose = Purpose::Drift(self.workload, number);
        let mut stream: Stream = self.streams.stream(self.replica, purpose);
        // As a single factor: the higher, the slower.
        let bent = skewed(-stream.normal(), rate.skewness / root);
        let begun = (usual_s * rate.mean - 1.0) / (2.0 * drift.period_s);
        let met = rate.mean - begun + rate.deviation / root * bent;
        // No step is shorter than its compute.
        let step_s = (1.0 / met.max(0.25 * rate.mean)).max(compute_s);
        Some((step_s, ends(level)))
    }

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

    pub fn still() -> Self {
        DriftPath::new(None, Streams::new(0), 0, WorkloadKey::from_name(""))
    }

    pub fn is_still(&self) -> bool {
        self.drift.is_none()
    }

    /// The factor at `now`, and when it ends. Time must not run back.
    #[inline]
    pub fn factor_at(&mut self, now: SimTime) -> (f64, SimTime) {
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
