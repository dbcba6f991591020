//! The pace of a protocol that no formula tells, measured once per configuration by event runs.
//!
//! Runs from a common start tell the time of n₀ and of n updates, n₀ being so many that the start is forgotten. Over the
//! runs, the mean of the difference gives the rate, its variance that of the time of many updates, and the mean
//! time of n₀ how far the start puts all of them back. What luck does to a configuration are two factors: one on
//! all times of its workers, one on communication. Where they change the pace, it is measured at points of a grid of
//! these factors as they are met, and is linear between them: the same luck everywhere, so that points differ by
//! the factors alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::fidelity::Invalid;
use super::flow::{self, Flow};
use super::registry::Protocol;
use super::stretch::{Goal, Stretch, ratio};
use super::synchronisation::Leap;
use crate::engine::Queue;
use crate::rng::{Purpose, Streams};
use crate::stats::Welford;
use crate::training::drift::DriftPath;
use crate::training::scratch::Scratch;
use crate::training::stepping::Stepping;
use crate::training::{Floor, Log};
use crate::units::SimTime;

/// Worker-steps of a measurement.
const WORKER_STEPS: f64 = 200_000.0;
/// Most of them: a quarter of a second of compute.
const MOST_WORKER_STEPS: f64 = 4e6;
/// Stragglers that it has to meet.
const STRAGGLERS: f64 = 100.0;
/// Runs of a measurement, at least and at most.
const RUNS: (f64, f64) = (24.0, 128.0);
/// Steps of each worker after which a start is forgotten, at least.
const FEWEST_ROUNDS: f64 = 20.0;
/// Distance of points on the grid, in the logarithm of a factor.
const GRID: f64 = 0.1;
/// The key of its luck.
const LUCK: u64 = 0x6c6f_6e67_2072_756e;

/// How a protocol comes into its long run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settling {
    /// Steps of each worker after which the start is forgotten.
    pub(super) rounds: f64,
    /// Updates in a step of each worker.
    pub(super) updates: f64,
    /// Whether it has times of its own, which the workers' luck does not scale.
    pub(super) has_own_times: bool,
}

/// What a measurement takes.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Updates after which the start is forgotten, and of a run.
    updates: (u64, u64),
    runs: u64,
}

impl Settling {
    fn plan(&self, stepping: &Stepping) -> Option<Plan> {
        let each = f64::from(stepping.workers) / self.updates;
        let settled = (self.rounds.max(FEWEST_ROUNDS) * self.updates)
            .ceil()
            .max(2.0);
        let stragglers = stepping
            .time
            .straggler
            .map_or(0.0, |s| STRAGGLERS / s.probability);
        let budget = WORKER_STEPS.max(stragglers);
        let fewest = RUNS.0 * 2.0 * settled * each;
        if !(budget <= MOST_WORKER_STEPS && fewest <= MOST_WORKER_STEPS) {
            return None;
        }
        let runs = (budget / (2.0 * settled * each))
            .clamp(RUNS.0, RUNS.1)
            .floor();
        let whole = (budget / (runs * each)).ceil().max(2.0 * settled);
        Some(Plan {
            updates: (settled as u64, whole as u64),
            runs: runs as u64,
        })
    }

    /// Whether the pace of `updates` updates can be measured.
    ///
    /// # Errors
    /// That it takes too long, or that they are too few.
    pub(super) fn check(
        &self,
        protocol: &'static str,
        stepping: &Stepping,
        updates: u64,
    ) -> Result<(), Invalid> {
        match self.plan(stepping) {
            None => Err(Invalid::Entangled { protocol }),
            Some(plan) if updates < plan.updates.0 => Err(Invalid::InStep { updates }),
            Some(_) => Ok(()),
        }
    }
}

/// What was measured at a point of the grid.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    update_s: f64,
    late_s: f64,
    late_deviation_s: f64,
    deviation_s: f64,
    communication: f64,
    served_s: f64,
    missed: f64,
    /// Gradients of an update, and by how many a common start puts them back.
    gradients: f64,
    late_gradients: f64,
    /// How many more there are for each second that the updates took longer than usual, and what varies besides, over
    /// the root of the number of updates.
    gradients_per_s: f64,
    gradients_deviation: f64,
}

impl Point {
    fn add(&mut self, weight: f64, other: &Point) {
        self.update_s += weight * other.update_s;
        self.late_s += weight * other.late_s;
        self.late_deviation_s += weight * other.late_deviation_s;
        self.deviation_s += weight * other.deviation_s;
        self.communication += weight * other.communication;
        self.served_s += weight * other.served_s;
        self.missed += weight * other.missed;
        self.gradients += weight * other.gradients;
        self.late_gradients += weight * other.late_gradients;
        self.gradients_per_s += weight * other.gradients_per_s;
        self.gradients_deviation += weight * other.gradients_deviation;
    }
}

/// Place of a point: logarithms of the factors on all times and on communication, in steps of the grid.
type Place = (i32, i32);

/// The pace of a protocol on a configuration, measured when it is first asked for.
#[derive(Debug)]
pub(crate) struct LongRun {
    protocol: Protocol,
    nominal: Stepping,
    settling: Settling,
    plan: Plan,
    /// Once a stretch, not once a step.
    known: Mutex<BTreeMap<Place, Arc<OnceLock<Point>>>>,
}

impl LongRun {
    /// Of workers without luck; `None` where it takes too long.
    pub(super) fn new(
        protocol: Protocol,
        settling: Settling,
        nominal: &Stepping,
    ) -> Option<Arc<LongRun>> {
        Some(Arc::new(LongRun {
            protocol,
            nominal: nominal.clone(),
            settling,
            plan: settling.plan(nominal)?,
            known: Mutex::default(),
        }))
    }

    /// Many updates at once, and when they end; each gradient misses those of others that it does in the mean. `None`
    /// where they are too few, or machines are unlike those that were measured. `then` adds to the flow what the
    /// measurement left out, the network factor given.
    pub(super) fn updates(
        &self,
        leap: &mut Leap<'_>,
        then: impl Fn(Flow, f64) -> Flow,
    ) -> Option<(Stretch, SimTime)> {
        if leap.stepping.machines != self.nominal.machines {
            return None;
        }
        let scale = leap.stepping.worker_s / self.nominal.worker_s;
        let fewest = self.plan.updates.0;
        if leap.goal.updates < fewest || !(scale > 0.0 && scale.is_finite()) {
            return None;
        }
        let limit_s = (leap.goal.until - leap.start).seconds();
        let (network, _) = leap.drift.at(leap.start);
        let flow = then(self.point(scale, network).flow(), network);
        // Not a number either, if the measurement came to nothing.
        let are_enough = limit_s * flow.rate >= fewest as f64 && flow.rate.is_finite();
        if !are_enough {
            return None;
        }
        let mut last = Point::default();
        let (mut stretch, end) = flow::updates(leap, |network| {
            last = self.point(scale, network);
            then(last.flow(), network)
        });
        let n = stretch.updates as f64;
        stretch.missed_gradients = (n * last.missed).round() as u64;
        if self
            .protocol
            .gradients_per_update(leap.stepping.workers)
            .is_none()
        {
            let longer_s = stretch.advance.compute_s - last.late_s - n * last.update_s;
            let mean = n * last.gradients + last.late_gradients + longer_s * last.gradients_per_s;
            let drawn = mean + last.gradients_deviation * n.sqrt() * leap.stream.normal();
            // Every update has one.
            stretch.gradients = (drawn.round().max(0.0) as u64).max(stretch.updates);
        }
        Some((stretch, end))
    }

    /// What it is at these factors on all times of workers and on communication.
    fn point(&self, scale: f64, network: f64) -> Point {
        let (scales, is_scaled) = match self.settling.has_own_times {
            true => (around(scale), 1.0),
            false => (around(1.0), scale),
        };
        let networks = match self.nominal.communication_s > 0.0 {
            true => around(network),
            false => around(1.0),
        };
        let mut point = Point::default();
        for (i, of_scale) in scales {
            for (j, of_network) in networks {
                let weight = of_scale * of_network;
                if weight > 0.0 {
                    point.add(weight, &self.known_at((i, j)));
                }
            }
        }
        point.update_s *= is_scaled;
        point.late_s *= is_scaled;
        point.late_deviation_s *= is_scaled;
        point.deviation_s *= is_scaled;
        point
    }

    fn known_at(&self, place: Place) -> Point {
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(place).or_default())
        };
        *cell.get_or_init(|| self.measure(place))
    }

    fn measure(&self, (scale, network): Place) -> Point {
        let factor = |place: i32| libm::exp(GRID * f64::from(place));
        let mut stepping = self.nominal.clone();
        stepping.worker_s *= factor(scale);
        stepping.communication_s *= factor(scale) * factor(network);
        let (settled, whole) = self.plan.updates;
        let mut scratch = Scratch::default();
        let mut run = |replica: u64, updates: u64| {
            let (mut queue, mut drift) = (Queue::new(), DriftPath::still());
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut drift,
                stepping: &stepping,
                stream: &mut Streams::new(0).stream(replica, Purpose::Trial(LUCK)),
                scratch: &mut scratch,
                log: &mut Log::default(),
            };
            let stretch = self.protocol.advance(&mut floor, Goal::updates(updates));
            stretch.ok().map(|stretch| (stretch, queue.now().seconds()))
        };
        let (mut first_s, mut rest_s) = (Welford::default(), Welford::default());
        let (mut missed, mut communication_s, mut served_s) = (0.0, 0.0, 0.0);
        let (mut first_gradients, mut pairs) = (Welford::default(), Vec::new());
        for replica in 0..self.plan.runs {
            // The same luck twice: the first run is the beginning of the second.
            let (Some((first, first_end_s)), Some((all, end_s))) =
                (run(replica, settled), run(replica, whole))
            else {
                continue;
            };
            first_s.add(first_end_s);
            rest_s.add(end_s - first_end_s);
            missed +=
                (all.missed_gradients - first.missed_gradients.min(all.missed_gradients)) as f64;
            first_gradients.add(first.gradients as f64);
            let gradients = all.gradients.saturating_sub(first.gradients);
            pairs.push((end_s - first_end_s, gradients as f64));
            communication_s += all.advance.communication_s - first.advance.communication_s;
            served_s += all.utilisation * end_s - first.utilisation * first_end_s;
        }
        let counted = (whole - settled) as f64;
        let runs = rest_s.count() as f64;
        let update_s = rest_s.mean() / counted;
        let mut rest_gradients = Welford::default();
        pairs.iter().for_each(|pair| rest_gradients.add(pair.1));
        let apart = |pair: &(f64, f64)| (pair.0 - rest_s.mean()) * (pair.1 - rest_gradients.mean());
        let covariance = ratio(pairs.iter().map(apart).sum(), runs - 1.0);
        let gradients_per_s = ratio(covariance, rest_s.variance());
        let besides = rest_gradients.variance() - gradients_per_s * covariance;
        let gradients = rest_gradients.mean() / counted;
        let variance = rest_s.variance() / counted;
        let late_variance = first_s.variance() - variance * settled as f64;
        Point {
            update_s,
            late_s: first_s.mean() - update_s * settled as f64,
            late_deviation_s: late_variance.max(0.0).sqrt(),
            deviation_s: variance.sqrt(),
            communication: ratio(communication_s, rest_s.mean() * runs),
            served_s: ratio(served_s, counted * runs),
            missed: ratio(missed, counted * runs),
            gradients,
            late_gradients: first_gradients.mean() - gradients * settled as f64,
            gradients_per_s,
            gradients_deviation: (besides.max(0.0) / counted).sqrt(),
        }
    }
}

impl Point {
    fn flow(&self) -> Flow {
        Flow {
            rate: 1.0 / self.update_s,
            late_s: self.late_s,
            late_deviation_s: self.late_deviation_s,
            deviation_s: self.deviation_s,
            // Of so many updates that it has vanished.
            skewness: 0.0,
            communication: self.communication,
            served_s: self.served_s,
        }
    }
}

/// The points of the grid on both sides of a factor, and their weights.
fn around(factor: f64) -> [(i32, f64); 2] {
    let place = libm::log(factor) / GRID;
    // What luck leaves alone is a point itself, whatever was rounded.
    if (place - place.round()).abs() < 1e-9 {
        return [(place.round() as i32, 1.0), (0, 0.0)];
    }
    let low = place.floor();
    let (below, above) = (libm::exp(GRID * low), libm::exp(GRID * (low + 1.0)));
    let share = (factor - below) / (above - below);
    [(low as i32, 1.0 - share), (low as i32 + 1, share)]
}
