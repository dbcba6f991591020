//! The pace of a protocol that no formula tells, measured once per configuration by event runs.
//!
//! Runs from a common start tell the time of n₀ and of n updates, n₀ being so many that the start is forgotten. Over the
//! runs, the mean of the difference gives the rate, its variance that of the time of many updates, and the mean
//! time of n₀ how far the start puts all of them back. Runs are added until the rate is known as well as is asked for; where a formula
//! tells the rate, they tell the rest, and have to agree with it. Where the mean time of a service at a parameter server is known, the
//! luck of services is taken out of the rate: of a busy server nearly all that varies is theirs. What luck does to a configuration are two factors: one on
//! all times of its workers, one on communication. Where they change the pace, it is measured at points of a grid of
//! these factors as they are met, and is linear between them: the same luck everywhere, so that points differ by
//! the factors alone, and what more runs tell of the point without luck goes for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::event_protocol::EventProtocol;
use super::fidelity::{Invalid, MOST_DEVIATIONS};
use super::flow::{self, Flow};
use super::leap::{Leap, Update};
use super::shared_measurements::{MeasurementTable, SharedMeasurements};
use super::stretch::{Goal, Stretch, deviations, ratio};
use crate::training::drift::DriftPath;
use crate::training::scratch::Scratch;
use crate::training::stepping::Stepping;
use crate::training::{Floor, Log};
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::stats::Welford;
use scavsim_base::units::SimTime;
use scavsim_engine::{Interrupt, Queue};

/// Worker-steps of a measurement, at least.
const WORKER_STEPS: f64 = 200_000.0;
/// Most of them that settling, or meeting stragglers, may take: a quarter of a second of compute.
const MOST_WORKER_STEPS: f64 = 4e6;
/// Relative standard error of a rate at which no run is added.
pub const RATE_ERROR: f64 = 3e-4;
/// Relative standard error of a rate at which no run is added, of workers that a cluster has while VMs are missing.
pub(crate) const RATE_ERROR_IN_PASSING: f64 = 1e-3;
/// Worker-steps from which on none is added either: less than a second of compute.
pub(super) const MOST_TO_BE_EXACT: f64 = 16e6;
/// Stragglers that it has to meet.
const STRAGGLERS: f64 = 100.0;
/// Runs of a measurement, at least, and most that are planned.
const RUNS: (f64, f64) = (24.0, 128.0);
/// Least variation of the time of many updates, relative to it, that is not what clocks round off.
const ROUNDED_OFF: f64 = 1e-9;
/// Relative difference of a formula from what was measured that is none.
const SAME: f64 = 1e-3;
/// Steps of each worker after which a start is forgotten, at least.
const FEWEST_ROUNDS: f64 = 20.0;
/// Distance of points on the grid, in the logarithm of a factor.
const GRID: f64 = 0.1;
/// The key of its luck.
const LUCK: u64 = 0x6c6f_6e67_2072_756e;

/// How a protocol comes into its long run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WarmUp {
    /// Steps of each worker after which the start is forgotten.
    pub(super) rounds: f64,
    /// Updates in a step of each worker.
    pub(super) updates: f64,
    /// Whether it has times of its own, which the workers' luck does not scale.
    pub(super) has_own_times: bool,
}

#[derive(Debug, Clone, Copy)]
struct MeasurementPlan {
    /// Updates after which the start is forgotten, and of a run.
    updates: (u64, u64),
    runs: u64,
    /// Worker-steps of all of them.
    steps: f64,
}

impl WarmUp {
    fn plan(&self, stepping: &Stepping) -> Option<MeasurementPlan> {
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
        Some(MeasurementPlan {
            updates: (settled as u64, whole as u64),
            runs: runs as u64,
            steps: runs * (settled + whole) * each,
        })
    }

    /// Whether the start is forgotten soon enough to be measured.
    pub(super) fn ends(&self, stepping: &Stepping) -> bool {
        self.plan(stepping).is_some()
    }

    /// Whether the pace of `updates` updates can be measured.
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

#[derive(Debug, Clone, Copy, Default)]
struct GridPoint {
    update_s: f64,
    late_s: f64,
    late_deviation_s: f64,
    deviation_s: f64,
    communication: f64,
    served_s: f64,
    /// Gradients of others that an update missed, and how many more, or fewer, a common start and the end make of them.
    missed: f64,
    late_missed: f64,
    /// Gradients of an update, and by how many a common start puts them back.
    gradients: f64,
    late_gradients: f64,
    /// How many more there are for each second that the updates took longer than usual, and what varies besides, over
    /// the root of the number of updates.
    gradients_per_s: f64,
    gradients_deviation: f64,
    /// Standard deviation of gradients as they were counted, over the same root.
    gradients_spread: f64,
    /// Relative standard error of `update_s`, where that was measured.
    error: f64,
    /// `update_s` over what the runs that were planned tell of it, those that were added left out.
    correction: f64,
    /// By how many standard errors a formula differs from what was measured.
    off: f64,
}

impl GridPoint {
    fn add(&mut self, weight: f64, other: &GridPoint) {
        self.update_s += weight * other.update_s;
        self.late_s += weight * other.late_s;
        self.late_deviation_s += weight * other.late_deviation_s;
        self.deviation_s += weight * other.deviation_s;
        self.communication += weight * other.communication;
        self.served_s += weight * other.served_s;
        self.missed += weight * other.missed;
        self.late_missed += weight * other.late_missed;
        self.gradients += weight * other.gradients;
        self.late_gradients += weight * other.late_gradients;
        self.gradients_per_s += weight * other.gradients_per_s;
        self.gradients_deviation += weight * other.gradients_deviation;
        self.gradients_spread += weight * other.gradients_spread;
        self.error = self.error.max(other.error);
        self.off = self.off.max(other.off);
    }
}

/// Place of a point: logarithms of the factors on all times and on communication, in steps of the grid.
type GridPlace = (i32, i32);
const NO_LUCK: GridPlace = (0, 0);

/// The pace of a protocol on a configuration, measured when it is first asked for.
#[derive(Debug)]
pub(crate) struct LongRun {
    protocol: Arc<dyn EventProtocol>,
    nominal: Stepping,
    settling: WarmUp,
    plan: MeasurementPlan,
    rate_error: f64,
    /// Once a stretch, not once a step.
    known: Arc<MeasurementTable<GridPlace, GridPoint>>,
    /// Whether the rate without luck was asked for here.
    is_asked: AtomicBool,
}

static MEASURED: SharedMeasurements<GridPlace, GridPoint> = SharedMeasurements::new();

impl LongRun {
    /// The long run of workers without luck; `None` where it takes too long.
    pub(super) fn new(
        protocol: Arc<dyn EventProtocol>,
        settling: WarmUp,
        nominal: &Stepping,
        rate_error: f64,
    ) -> Option<Arc<LongRun>> {
        Some(Arc::new(LongRun {
            known: MEASURED.table(&*protocol, nominal, rate_error),
            protocol,
            nominal: nominal.clone(),
            settling,
            plan: settling.plan(nominal)?,
            rate_error,
            is_asked: AtomicBool::new(false),
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
        let (network, _) = leap.drift.factor_at(leap.start);
        let flow = then(self.point(scale, network).flow(), network);
        // Not a number either, if the measurement came to nothing.
        let are_enough = limit_s * flow.rate >= fewest as f64 && flow.rate.is_finite();
        if !are_enough {
            return None;
        }
        let mut last = GridPoint::default();
        let (mut stretch, end) = flow::updates(leap, |network, _| {
            last = self.point(scale, network);
            then(last.flow(), network)
        });
        let n = stretch.updates as f64;
        stretch.missed_gradients = (n * last.missed + last.late_missed).max(0.0);
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
            let usual = n * last.gradients + last.late_gradients;
            let deviation = last.gradients_spread * n.sqrt();
            // The last update may be cut off, and gradients are whole.
            let slack = last.gradients + 1.0;
            let off = deviations(drawn - usual, slack, deviation, usual);
            stretch.deviations = stretch.deviations.max(off);
        }
        if last.off > MOST_DEVIATIONS {
            stretch.deviations = stretch.deviations.max(last.off);
        }
        Some((stretch, end))
    }

    /// Relative standard error of the rate without luck, if that was measured so far.
    pub(crate) fn error(&self) -> Option<f64> {
        // What another scenario measured is nothing that this one depends on.
        let is_asked = self.is_asked.load(Ordering::Relaxed);
        is_asked.then(|| self.known_at(NO_LUCK).error)
    }

    /// What it is at these factors on all times of workers and on communication.
    fn point(&self, scale: f64, network: f64) -> GridPoint {
        let (scales, is_scaled) = if self.settling.has_own_times {
            (around(scale), 1.0)
        } else {
            (around(1.0), scale)
        };
        let networks = if self.nominal.communication_s > 0.0 {
            around(network)
        } else {
            around(1.0)
        };
        let mut point = GridPoint::default();
        let formula = self.formula(scale, network);
        let correction = match formula {
            Some(_) => 1.0,
            // Known best, and the same luck is in all others.
            None => self.known_at(NO_LUCK).correction,
        };
        for (i, of_scale) in scales {
            for (j, of_network) in networks {
                let weight = of_scale * of_network;
                if weight > 0.0 {
                    point.add(weight, &self.known_at((i, j)));
                }
            }
        }
        point.update_s *= is_scaled * correction;
        point.late_s *= is_scaled;
        point.late_deviation_s *= is_scaled;
        point.deviation_s *= is_scaled;
        if let Some(formula) = formula {
            point.update_s = formula.seconds;
            point.gradients = formula.gradients;
            point.missed = formula.missed;
        }
        point
    }

    fn stepping(&self, scale: f64, network: f64) -> Stepping {
        let mut stepping = self.nominal.clone();
        stepping.worker_s *= scale;
        stepping.communication_s *= scale * network;
        stepping
    }

    /// What a formula says of an update at these factors, if there is one.
    fn formula(&self, scale: f64, network: f64) -> Option<Update> {
        self.protocol
            .long_run_update(&self.stepping(scale, network))
    }

    fn known_at(&self, place: GridPlace) -> GridPoint {
        if place == NO_LUCK {
            self.is_asked.store(true, Ordering::Relaxed);
        }
        self.known.get_or_measure(place, || self.measure(place))
    }

    /// Measures the point at `place`; also whether the run came to its end.
    fn measure(&self, place: GridPlace) -> (GridPoint, bool) {
        let factor = |place: i32| libm::exp(GRID * f64::from(place));
        let (scale, network) = (factor(place.0), factor(place.1));
        let stepping = self.stepping(scale, network);
        let formula = self.formula(scale, network);
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
        let mut seen = PaceMeasurement::default();
        let most = (MOST_TO_BE_EXACT / self.plan.steps * self.plan.runs as f64) as u64;
        let mut planned_s = 0.0;
        let interrupt = Interrupt::of_current_thread();
        for replica in 0.. {
            if replica == self.plan.runs {
                planned_s = seen.even_s.mean();
            }
            let is_enough = || formula.is_some() || place != NO_LUCK || replica >= most;
            if interrupt.is_raised() {
                break;
            }
            if replica >= self.plan.runs && (is_enough() || seen.error() <= self.rate_error) {
                break;
            }
            // The same luck twice: the first run is the beginning of the second.
            if let (Some(first), Some(all)) = (run(replica, settled), run(replica, whole)) {
                seen.add(
                    first,
                    all,
                    (whole - settled) as f64 * self.protocol.mean_service_s(),
                );
            }
        }
        let mut point = seen.point(settled, whole - settled, formula);
        point.correction = if seen.even_s.mean() == planned_s {
            1.0
        } else {
            seen.even_s.mean() / planned_s
        };
        if place == NO_LUCK {
            // As at all other points: what was planned, times the correction.
            point.update_s /= point.correction;
        }
        (point, !interrupt.is_raised())
    }
}

/// What runs of a measurement came to: the first updates, and the rest.
#[derive(Default)]
struct PaceMeasurement {
    first_s: Welford,
    rest_s: Welford,
    /// The rest as if its services had taken what they take in the mean.
    even_s: Welford,
    /// How much of a longer service reaches the next update: how busy the server of the first run was.
    busy: f64,
    first_gradients: Welford,
    rest_gradients: Welford,
    /// Sum of the products of what time and gradients of the rest are off their means.
    together: f64,
    first_missed: Welford,
    missed: f64,
    communication_s: f64,
    served_s: f64,
}

impl PaceMeasurement {
    /// A run that ended with its first updates, and the same that did not, each with its end; of the rest the server is busy
    /// for `service_s` in the mean.
    fn add(
        &mut self,
        (first, first_end_s): (Stretch, f64),
        (all, end_s): (Stretch, f64),
        service_s: f64,
    ) {
        let rest_s = end_s - first_end_s;
        let served_s = all.utilisation * end_s - first.utilisation * first_end_s;
        if self.rest_s.count() == 0 {
            self.busy = ratio(served_s, rest_s);
        }
        let longer_s = self.busy * (service_s - served_s);
        self.even_s.add(rest_s + longer_s);
        let gradients = all.gradients.saturating_sub(first.gradients) as f64;
        let before = rest_s - self.rest_s.mean();
        self.first_s.add(first_end_s);
        self.rest_s.add(rest_s);
        self.first_gradients.add(first.gradients as f64);
        self.rest_gradients.add(gradients);
        if self.rest_s.count() > 1 {
            self.together += before * (gradients - self.rest_gradients.mean());
        }
        self.first_missed.add(first.missed_gradients);
        let missed = first.missed_gradients.min(all.missed_gradients);
        self.missed += all.missed_gradients - missed;
        self.communication_s +=
            all.advance.communication_s - first.advance.communication_s + longer_s;
        self.served_s += served_s;
    }

    fn error(&self) -> f64 {
        let error = self.even_s.standard_deviation() / (self.even_s.count() as f64).sqrt();
        ratio(error, self.even_s.mean())
    }

    /// What they tell of updates after the first `settled`, of which there were `counted` in each run.
    fn point(&self, settled: u64, counted: u64, formula: Option<Update>) -> GridPoint {
        let (runs, settled, counted) = (self.rest_s.count() as f64, settled as f64, counted as f64);
        let measured_s = self.even_s.mean() / counted;
        let measured = self.rest_gradients.mean() / counted;
        let (update_s, gradients) = match formula {
            Some(formula) => (formula.seconds, formula.gradients),
            None => (measured_s, measured),
        };
        // Where an update always takes equally long, its time tells nothing of gradients.
        let missed = ratio(self.missed, counted * runs);
        let missed_in_all = formula.map_or(missed, |formula| formula.missed);
        let has_spread = self.error() * runs.sqrt() > ROUNDED_OFF;
        let covariance = ratio(self.together, runs - 1.0);
        let gradients_per_s = if has_spread {
            ratio(covariance, self.rest_s.variance())
        } else {
            0.0
        };
        let besides = self.rest_gradients.variance() - gradients_per_s * covariance;
        let variance = self.rest_s.variance() / counted;
        let late_variance = self.first_s.variance() - variance * settled;
        let off = |known: f64, measured: f64, seen: &Welford| {
            let error = seen.standard_deviation() / counted / runs.sqrt();
            deviations(known - measured, SAME * measured, error, measured)
        };
        let off = formula.map_or(0.0, |formula| {
            off(formula.seconds, measured_s, &self.rest_s).max(off(
                formula.gradients,
                measured,
                &self.rest_gradients,
            ))
        });
        GridPoint {
            update_s,
            late_s: self.first_s.mean() - update_s * settled,
            late_deviation_s: late_variance.max(0.0).sqrt(),
            deviation_s: variance.sqrt(),
            communication: ratio(self.communication_s, self.even_s.mean() * runs),
            served_s: ratio(self.served_s, counted * runs),
            missed,
            late_missed: self.first_missed.mean() - missed_in_all * settled,
            gradients,
            late_gradients: self.first_gradients.mean() - gradients * settled,
            gradients_per_s,
            gradients_deviation: (besides.max(0.0) / counted).sqrt(),
            gradients_spread: (self.rest_gradients.variance() / counted).sqrt(),
            error: formula.map_or(self.error(), |_| 0.0),
            correction: 1.0,
            off,
        }
    }
}

impl GridPoint {
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

#[cfg(test)]
impl LongRun {
    /// This long run, as if a slope had been fitted to what was rounded off.
    pub(super) fn spoilt(&self) -> Arc<LongRun> {
        let known =
            SharedMeasurements::new().table(&*self.protocol, &self.nominal, self.rate_error);
        let mut point = self.known_at(NO_LUCK);
        point.gradients_per_s = 1e12;
        known.get_or_measure(NO_LUCK, || (point, true));
        Arc::new(LongRun {
            protocol: Arc::clone(&self.protocol),
            nominal: self.nominal.clone(),
            settling: self.settling,
            plan: self.plan,
            rate_error: self.rate_error,
            known,
            is_asked: AtomicBool::new(true),
        })
    }
}
