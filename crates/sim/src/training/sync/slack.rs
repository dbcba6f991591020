//! Workers that drift apart like random walks until a slack holds the fast ones back: much slack, little variation.
//!
//! Worker k ends its steps at T_k(n + 1) = max(T_k(n), max_j T_j(n − s)) + x, exactly. Where cycles x of mean μ vary by c ≪ s,
//! X_k = (T_k − nμ)/(μS) are standard Brownian motions in the time τ = n c²/S², and none falls more than 1 behind the largest:
//! their law depends on the number of workers alone. S = s + 0.5826 √2 c, as steps look at the bound now and then only (Siegmund 1979).
//! With A(τ) the mean of how far all were pushed, and V(τ) the variance of the mean of all X, n steps of K workers take
//!
//! nμ + μ S A(τ), with the variance μ² S² V(τ)
//!
//! and what a common start adds, as if nobody waited (`renewal`). A and V are measured once per K; what is lost to waiting is of the order
//! of c²/s of the time, so that an error of 1 % in A is none. The same recursion, step by step, tells stretches that are
//! too short for the law: nobody has to stand in a queue for that.

use super::flow::{self, Flow, FlowAhead};
use super::leap::Leap;
use super::renewal::Renewal;
use super::service::{Service, ServiceTime};
use super::shared_measurements::MeasurementTable;
use super::stretch::{Stretch, ratio};
use crate::training::stepping::Stepping;
use crate::training::variation::Family;
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::stats::Welford;
use scavsim_base::units::SimTime;

/// Largest variation of a cycle, over the slack, at which steps are small beside it: the mean is then right within 10⁻⁴.
const SMALL_STEPS: f64 = 0.05;
/// By how much a bound that is looked at once a step is further away, in standard deviations of a difference of steps.
const OVERSHOOT: f64 = 0.5826 * std::f64::consts::SQRT_2;
/// The bound in standard deviations of a step, where the law is measured.
const BOUND: f64 = 10.0;
/// Steps from one point of the curve to the next, and points.
const STEPS: u32 = 6;
const POINTS: usize = 80;
/// Worker-steps of all runs at a point, over [`STEPS`]; and runs at least and at most.
const WORKER_RUNS: u32 = 16_000;
const RUNS: (u32, u32) = (100, 4_000);
/// The key of its luck.
const LUCK: u64 = 0x736c_6163_6b20_6c61;

#[derive(Debug, Clone, Copy, Default)]
struct HeldBack {
    pushed: f64,
    variance: f64,
}

/// A and V of so many workers at even distances of τ, from 0 on.
type HeldCurve = std::sync::Arc<[HeldBack]>;

static CURVES: MeasurementTable<u32, HeldCurve> = MeasurementTable::new();

/// Time τ from one point to the next.
fn spacing() -> f64 {
    f64::from(STEPS) / ((BOUND + OVERSHOOT) * (BOUND + OVERSHOOT))
}

fn measure(workers: u32) -> HeldCurve {
    let unit = BOUND + OVERSHOOT;
    let runs = (WORKER_RUNS / workers.max(1)).clamp(RUNS.0, RUNS.1);
    let mut seen = vec![(Welford::default(), Welford::default()); POINTS];
    let mut walks = vec![0.0_f64; workers as usize];
    for run in 0..runs {
        let mut stream = Streams::new(0).stream(u64::from(run), Purpose::Trial(LUCK));
        walks.fill(0.0);
        let (mut largest, mut own) = (0.0_f64, 0.0_f64);
        for (pushed, mean) in &mut seen {
            for _ in 0..STEPS {
                let bound = largest - BOUND;
                largest = f64::NEG_INFINITY;
                for walk in &mut walks {
                    let step = stream.normal();
                    own += step;
                    *walk = walk.max(bound) + step;
                    largest = largest.max(*walk);
                }
            }
            let sum = walks.iter().sum::<f64>();
            let of_mean = 1.0 / (unit * f64::from(workers));
            pushed.add((sum - own) * of_mean);
            mean.add(sum * of_mean);
        }
    }
    let points = seen.iter().map(|(pushed, mean)| HeldBack {
        pushed: pushed.mean(),
        variance: mean.variance(),
    });
    std::iter::once(HeldBack::default()).chain(points).collect()
}

/// A and V at τ: behind the last point as from the middle to there.
fn held_at(curve: &HeldCurve, tau: f64) -> HeldBack {
    let place = tau / spacing();
    let last = curve.len() - 1;
    let (low, high) = if place < last as f64 {
        (place as usize, place as usize + 1)
    } else {
        (last / 2, last)
    };
    let share = (place - low as f64) / (high - low) as f64;
    let between = |low: f64, high: f64| low + share * (high - low);
    HeldBack {
        pushed: between(curve[low].pushed, curve[high].pushed),
        variance: between(curve[low].variance, curve[high].variance),
    }
}

fn no_service() -> Service {
    Service::new(0.0, ServiceTime::default())
}

fn cycle_cv(stepping: &Stepping, network: f64) -> f64 {
    let cycle_s = stepping.worker_s + stepping.communication_s * network;
    ratio(stepping.time.cv() * stepping.worker_s, cycle_s)
}

/// Whether steps of equal workers are small beside the slack, and vary.
pub(super) fn is_ample(slack: u32, stepping: &Stepping) -> bool {
    let time = stepping.time;
    let is_even = time.family == Family::LogNormal && time.straggler.is_none();
    let cv = cycle_cv(stepping, 1.0);
    is_even && stepping.machines.is_none() && cv > 0.0 && cv <= SMALL_STEPS * f64::from(slack)
}

/// Gradients of workers that never wait, as a renewal process.
pub(super) fn unheld(stepping: &Stepping, network: f64) -> Renewal {
    Renewal::new(&no_service(), stepping, network)
}

pub(super) fn updates(slack: u32, leap: &mut Leap<'_>) -> (Stretch, SimTime) {
    let stepping = leap.stepping;
    let workers = f64::from(stepping.workers);
    let curve = CURVES.get_or_measure(stepping.workers, || (measure(stepping.workers), true));
    // How far τ has come with so many updates, and by how much one moves it on.
    let (mut tau, mut done, mut of_one, mut bound) = (0.0, 0, 0.0, 0.0);
    let mut not_missed = 0.0;
    let (mut stretch, end) = flow::updates(leap, |network, room: FlowAhead| {
        let renewal = unheld(stepping, network);
        let flow = renewal.flow(&no_service());
        not_missed = renewal.not_missed;
        tau += (room.done - done) as f64 * of_one;
        done = room.done;
        let cv = cycle_cv(stepping, network);
        bound = f64::from(slack) + OVERSHOOT * cv;
        of_one = cv * cv / (bound * bound * workers);
        let count = (room.left as f64).min((room.seconds * flow.rate).max(1.0));
        let (from, to) = (held_at(&curve, tau), held_at(&curve, tau + count * of_one));
        let unit_s = bound * workers / flow.rate;
        let free_s = count / flow.rate;
        let held_s = free_s + unit_s * (to.pushed - from.pushed);
        Flow {
            rate: count / held_s,
            deviation_s: unit_s * ((to.variance - from.variance).max(0.0) / count).sqrt(),
            communication: flow.communication * free_s / held_s,
            ..flow
        }
    });
    tau += (stretch.updates - done) as f64 * of_one;
    // While one waits, it misses nothing of what the others do.
    let waited = workers * bound * held_at(&curve, tau).pushed;
    let others = workers - 1.0;
    let missed = (stretch.updates as f64 - waited) * others - not_missed;
    stretch.missed_gradients = missed.max(0.0);
    (stretch, end)
}
