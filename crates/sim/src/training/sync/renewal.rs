//! Asynchronous updates without contention: K workers are K renewal processes.
//!
//! Of their superposition, with rate λ = Σ 1/μ_k and variance v = Σ σ_k²/μ_k³ of the number of updates
//! per second, the time of update n has mean (n − ½ + Σ (1 − c_k²)/2)/λ + v/(2λ²), where c_k = σ_k/μ_k,
//! because all workers begin afresh; and variance n·v/λ³. Its cumulants grow as those of n cycles,
//! divided by K, K², K³.
//!
//! An update misses those of others since its worker read the parameters. Of n, all K − 1 others' are missed but for what came
//! since the last of each worker, whose age is μ(1 + c²)/2 in the mean: n(K − 1) − Σ μ_k(1 + c_k²)/2·(λ − 1/μ_k) in all.

use super::fidelity::Invalid;
use super::flow::{self, Flow};
use super::leap::Leap;
use super::service::Service;
use super::stretch::{Stretch, ratio};
use crate::training::stepping::Stepping;
use scavsim_base::units::SimTime;

/// The updates of `asp` as a superposition of renewal processes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Renewal {
    /// Updates per second, λ.
    rate: f64,
    /// Σ σ²/μ³, per second.
    variance_rate: f64,
    /// Σ (1 − c²)/2 − ½: updates by which a fresh start is behind.
    behind: f64,
    /// Updates at the end that no later one of another worker misses, Σ μ_k(1 + c_k²)/2·(λ − 1/μ_k).
    pub(super) not_missed: f64,
    /// Skewness of one cycle.
    skewness: f64,
    /// The least variation of a worker's cycle.
    least_cv: f64,
    /// Mean fraction of a cycle that is not compute.
    communication: f64,
}

/// Queueing below this fraction of a cycle is no contention: its estimate may be wrong by a tenth and still not be seen.
const NO_CONTENTION: f64 = 0.002;
/// From this n·c² per worker on, the phases of workers that began together are spread over a
/// cycle: what is left of the common phase is exp(−2π²·n·c²).
pub(super) const OUT_OF_STEP: f64 = 0.5;
/// After so many steps of each worker, whether they are in step moves the end by less than one of them.
const LONG_RUN: f64 = 2000.0;

impl Renewal {
    pub(super) fn new(service: &Service, stepping: &Stepping, network: f64) -> Self {
        let workers = f64::from(stepping.workers);
        let served_s = service.part_s + QueueingDelay::new(service, stepping, network).wait_s;
        let mut renewal = Renewal {
            rate: 0.0,
            variance_rate: 0.0,
            behind: -0.5,
            not_missed: 0.0,
            skewness: 0.0,
            least_cv: f64::INFINITY,
            communication: 0.0,
        };
        let cv = stepping.time.cv();
        let (mut ages_s, mut own) = (0.0, 0.0);
        let mut add = |factor: f64, count: f64| {
            let compute_s = stepping.worker_s * factor;
            let rest_s = stepping.communication_s * network + served_s;
            let mean = compute_s + rest_s;
            let deviation = (compute_s * compute_s * cv * cv + service.variance()).sqrt();
            let cycle_cv = deviation / mean;
            renewal.rate += count / mean;
            renewal.variance_rate += count * cycle_cv * cycle_cv / mean;
            renewal.behind += count * 0.5 * (1.0 - cycle_cv * cycle_cv);
            let age = count * 0.5 * (1.0 + cycle_cv * cycle_cv);
            (ages_s, own) = (ages_s + age * mean, own + age);
            renewal.least_cv = renewal.least_cv.min(cycle_cv);
            renewal.communication += count * rest_s / mean / workers;
            if deviation > 0.0 {
                let spread_s = compute_s * cv;
                let third = stepping.time.skewness() * spread_s * spread_s * spread_s;
                renewal.skewness =
                    (third + service.third_moment()) / (deviation * deviation * deviation);
            }
        };
        match &stepping.machines {
            None => add(1.0, workers),
            Some(factors) => factors.iter().for_each(|&factor| add(factor, 1.0)),
        }
        renewal.not_missed = renewal.rate * ages_s - own;
        renewal
    }

    pub(super) fn flow(&self, service: &Service) -> Flow {
        let rate = self.rate;
        Flow {
            rate,
            late_s: self.behind / rate + self.variance_rate / (2.0 * rate * rate),
            late_deviation_s: 0.0,
            deviation_s: (self.variance_rate / (rate * rate * rate)).sqrt(),
            skewness: self.skewness,
            communication: self.communication,
            served_s: service.part_s,
        }
    }

    pub(super) fn updates_in(&self, seconds: f64) -> u64 {
        // `as` saturates.
        (self.rate * seconds) as u64
    }

    pub(super) fn check(&self, workers: u32, updates: u64) -> Result<(), Invalid> {
        let each = updates as f64 / f64::from(workers);
        let spread = each * self.least_cv * self.least_cv;
        if workers > 1 && spread < OUT_OF_STEP && each < LONG_RUN {
            return Err(Invalid::InStep { updates });
        }
        Ok(())
    }
}

/// Waiting at the servers as if updates of the others came at random (Pollaczek and Khinchine).
struct QueueingDelay {
    wait_s: f64,
    /// Waiting as a fraction of a worker's time.
    waiting: f64,
}

impl QueueingDelay {
    fn new(service: &Service, stepping: &Stepping, network: f64) -> Self {
        let own_s = own_s(stepping, network);
        let others = f64::from(stepping.workers.saturating_sub(1)) / (own_s + service.part_s);
        // A full server is contended whatever the estimate; it only has to be finite.
        let load = (others * service.part_s).min(0.99);
        let wait_s = others * service.second_moment() / (2.0 * (1.0 - load));
        QueueingDelay {
            wait_s,
            waiting: ratio(wait_s, wait_s + own_s),
        }
    }
}

/// How much of a worker's time it waits for the servers, if it is too much for [`Renewal`] to say.
pub(super) fn contention(service: &Service, stepping: &Stepping) -> Option<f64> {
    let waiting = QueueingDelay::new(service, stepping, 1.0).waiting;
    (waiting > NO_CONTENTION).then_some(waiting)
}

/// Mean seconds of a worker by itself.
fn own_s(stepping: &Stepping, network: f64) -> f64 {
    let factors = stepping.machines.as_deref().unwrap_or(&[1.0]);
    let mean = factors.iter().sum::<f64>() / factors.len().max(1) as f64;
    stepping.worker_s * mean + stepping.communication_s * network
}

pub(super) fn updates(service: &Service, leap: &mut Leap<'_>) -> (Stretch, SimTime) {
    let stepping = leap.stepping;
    let mut not_missed = 0.0;
    let (mut stretch, end) = flow::updates(leap, |network, _| {
        let renewal = Renewal::new(service, stepping, network);
        not_missed = renewal.not_missed;
        renewal.flow(service)
    });
    let others = f64::from(stepping.workers.saturating_sub(1));
    stretch.missed_gradients = (stretch.updates as f64 * others - not_missed).max(0.0);
    (stretch, end)
}
