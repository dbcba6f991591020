//! Protocols in fidelities `step` and `fast`: many updates in one draw.
//!
//! - `bsp` and `backup`: sums of independent steps, as in [`crate::training::fast`], by the moments
//!   of the arrival that ends the step.
//! - `asp` without contention: K workers are K renewal processes. Of their superposition, with
//!   rate λ = Σ 1/μ_k and variance v = Σ σ_k²/μ_k³ of the number of updates per second, the time of
//!   update n has mean (n − ½ + Σ (1 − c_k²)/2)/λ + v/(2λ²), where c_k = σ_k/μ_k, because all
//!   workers begin afresh; and variance n·v/λ³. Its cumulants grow as those of n cycles, divided
//!   by K, K², K³.

use super::asp::{Asp, ServiceTime};
use super::fidelity::Invalid;
use super::stretch::{Goal, Stretch, ratio};
use super::{Protocol, Scratch};
use crate::rng::Stream;
use crate::training::Fidelity;
use crate::training::drift::DriftPath;
use crate::training::fast::{skewed, sums};
use crate::training::slowest::{self, Moments};
use crate::training::stepping::Stepping;
use crate::units::SimTime;

/// What `step` and `fast` need of a protocol and a configuration: computed once, whatever luck
/// scales the times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    protocol: Protocol,
    fidelity: Fidelity,
    /// Compute of a step relative to a worker's mean; `None` where it is the slowest worker's.
    barrier: Option<Moments>,
    wasted: f64,
}

impl Pace {
    /// The pace of `protocol`. Ask [`Protocol::valid`] first, for whether the fidelity holds.
    pub fn of(protocol: Protocol, fidelity: Fidelity, stepping: &Stepping) -> Self {
        let (barrier, wasted) = match &protocol {
            Protocol::Backup(backup) => {
                let (k, time) = (stepping.workers, stepping.time);
                let needed = backup.needed(k);
                let late = f64::from(k - needed);
                let barrier = backup.moments(stepping);
                // All K arrivals together have mean K.
                let missing: f64 = (needed + 1..=k)
                    .map(|n| slowest::moments_of_nth(n, k, time).mean)
                    .sum();
                let wasted = late * barrier.mean;
                let useful = f64::from(k) - missing;
                (Some(barrier), ratio(wasted, useful + wasted))
            }
            _ => (None, 0.0),
        };
        Pace {
            protocol,
            fidelity,
            barrier,
            wasted,
        }
    }

    /// The protocol that it is the pace of.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The same pace in another fidelity.
    pub fn in_fidelity(self, fidelity: Fidelity) -> Self {
        Pace { fidelity, ..self }
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
        self.protocol.valid(self.fidelity, stepping, u64::MAX)?;
        match &self.protocol {
            Protocol::Asp(asp) => Ok(updates(asp, start, drift, stepping, goal, stream)),
            Protocol::Backup(backup) => {
                let draw =
                    |stream: &mut Stream| backup.draw_s(stepping, &mut scratch.times, stream);
                let mut done = self.steps(start, drift, stepping, goal, draw, stream);
                let needed = u64::from(backup.needed(stepping.workers));
                let stretch = &mut done.0;
                stretch.gradients = stretch.updates * needed;
                stretch.dropped = stretch.updates * (u64::from(stepping.workers) - needed);
                stretch.wasted = self.wasted;
                Ok(done)
            }
            _ => {
                let draw = |stream: &mut Stream| stepping.draw_slowest_s(stream);
                let mut done = self.steps(start, drift, stepping, goal, draw, stream);
                done.0.gradients = done.0.updates * u64::from(stepping.workers);
                Ok(done)
            }
        }
    }

    fn steps(
        &self,
        start: SimTime,
        drift: &mut DriftPath,
        stepping: &Stepping,
        goal: Goal,
        mut draw: impl FnMut(&mut Stream) -> f64,
        stream: &mut Stream,
    ) -> (Stretch, SimTime) {
        if self.fidelity == Fidelity::Step {
            return singly(start, drift, stepping, goal, draw, stream);
        }
        let mut stretch = Stretch::from(start);
        let one = self.barrier.unwrap_or(stepping.slowest);
        let mut now = start;
        while stretch.updates < goal.updates {
            let (network, ends) = drift.at(now);
            let communication_s = stepping.communication_s * network;
            let mean_s = stepping.worker_s * one.mean + communication_s;
            let left = goal.updates - stretch.updates;
            // As many as are expected before the network changes or the time is up.
            let room_s = (ends.min(goal.until) - now).seconds();
            let mut count = left.min((room_s / mean_s).ceil().max(1.0) as u64);
            let marked = goal.mark.saturating_sub(stretch.updates).min(count);
            let (before, mut total) = sums(stepping, one, (count, marked), &mut draw, stream);
            let end = |steps: u64, compute_s: f64| {
                now + SimTime::from_seconds(compute_s + steps as f64 * communication_s)
            };
            let mut over = false;
            if end(count, total) > goal.until {
                let deviation_s = stepping.worker_s * one.deviation;
                let in_time = |n: u64, t: f64| end(n, t) <= goal.until;
                let whole = (count, total);
                (count, total) = bridge((0, 0.0), whole, deviation_s, in_time, stream);
                over = true;
            }
            if marked > 0 && goal.mark <= stretch.updates + count {
                stretch.advance.at_mark = end(marked, before).min(goal.until);
            }
            stretch.advance.compute_s += total;
            stretch.advance.communication_s += count as f64 * communication_s;
            stretch.updates += count;
            now = end(count, total);
            if over {
                return (stretch, goal.until);
            }
        }
        (stretch, now)
    }
}

/// Steps that are drawn one by one, each with the network as it is when it communicates.
fn singly(
    start: SimTime,
    drift: &mut DriftPath,
    stepping: &Stepping,
    goal: Goal,
    mut draw: impl FnMut(&mut Stream) -> f64,
    stream: &mut Stream,
) -> (Stretch, SimTime) {
    let mut stretch = Stretch::from(start);
    let mut now = start;
    while stretch.updates < goal.updates {
        let compute_s = draw(stream);
        now += SimTime::from_seconds(compute_s);
        let (network, _) = drift.at(now);
        let communication_s = stepping.communication_s * network;
        now += SimTime::from_seconds(communication_s);
        if now > goal.until {
            return (stretch, goal.until);
        }
        stretch.advance.compute_s += compute_s;
        stretch.advance.communication_s += communication_s;
        stretch.update(now, &goal);
    }
    (stretch, now)
}

/// How many of the steps between two points (count, seconds) are in time, and the seconds of those:
/// points on a random walk to a known end, halved until one step is left.
fn bridge(
    mut low: (u64, f64),
    mut high: (u64, f64),
    deviation_s: f64,
    in_time: impl Fn(u64, f64) -> bool,
    stream: &mut Stream,
) -> (u64, f64) {
    while high.0 - low.0 > 1 {
        let middle = low.0 + (high.0 - low.0) / 2;
        let (first, second) = ((middle - low.0) as f64, (high.0 - middle) as f64);
        let share = first / (first + second);
        let spread = deviation_s * (share * second).sqrt() * stream.normal();
        let at = (low.1 + share * (high.1 - low.1) + spread)
            .max(low.1)
            .min(high.1);
        match in_time(middle, at) {
            true => low = (middle, at),
            false => high = (middle, at),
        }
    }
    low
}

/// The updates of `asp` as a superposition of renewal processes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Renewal {
    /// Updates per second, λ.
    rate: f64,
    /// Σ σ²/μ³, per second.
    variance_rate: f64,
    /// Σ (1 − c²)/2 − ½: updates by which a fresh start is behind.
    behind: f64,
    /// Skewness of one cycle.
    skewness: f64,
    /// The least variation of a worker's cycle.
    least_cv: f64,
    /// Mean fraction of a cycle that is not compute.
    communication: f64,
}

/// Queueing below this fraction of a cycle is no contention: its estimate may be wrong by a
/// tenth and still not be seen.
const NO_CONTENTION: f64 = 0.002;
/// From this n·c² per worker on, the phases of workers that began together are spread over a
/// cycle: what is left of the common phase is exp(−2π²·n·c²).
const OUT_OF_STEP: f64 = 0.5;
/// After so many steps of each worker it does not matter any more whether they are in step: that moves the end by
/// less than one of them.
const LONG_RUN: f64 = 2000.0;

impl Renewal {
    /// At network factor `network`.
    pub(super) fn of(asp: &Asp, stepping: &Stepping, network: f64) -> Self {
        let workers = f64::from(stepping.workers);
        let own_s = own_s(stepping, network);
        let queue = Queueing::of(asp, stepping, network);
        let law_s = asp.law_round_s(stepping.workers, own_s);
        let served_s = match law_s {
            Some(round_s) => round_s - own_s,
            None => asp.unqueued_s() + queue.wait_s,
        };
        let part_s = asp.part_s();
        let service_variance = match asp.service {
            ServiceTime::Constant => 0.0,
            // That of the longest of several parts is below that of one.
            ServiceTime::Exponential => part_s * part_s,
        };
        let mut renewal = Renewal {
            rate: 0.0,
            variance_rate: 0.0,
            behind: -0.5,
            skewness: 0.0,
            least_cv: f64::INFINITY,
            communication: 0.0,
        };
        let cv = stepping.time.cv();
        let mut add = |factor: f64, count: f64| {
            let compute_s = stepping.worker_s * factor;
            let rest_s = stepping.communication_s * network + served_s;
            let mean = compute_s + rest_s;
            let deviation = (compute_s * compute_s * cv * cv + service_variance).sqrt();
            let cycle_cv = deviation / mean;
            renewal.rate += count / mean;
            renewal.variance_rate += count * cycle_cv * cycle_cv / mean;
            renewal.behind += count * 0.5 * (1.0 - cycle_cv * cycle_cv);
            renewal.least_cv = renewal.least_cv.min(cycle_cv);
            renewal.communication += count * rest_s / mean / workers;
            if deviation > 0.0 {
                // Of the computes alone; service is short where it matters.
                let share = compute_s * cv / deviation;
                renewal.skewness = stepping.time.skewness() * share * share * share;
            }
        };
        match &stepping.machines {
            None => add(1.0, workers),
            Some(factors) => factors.iter().for_each(|&factor| add(factor, 1.0)),
        }
        renewal
    }

    /// Whether `updates` updates are enough for the workers to fall out of step.
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
struct Queueing {
    wait_s: f64,
    /// As a fraction of a worker's time.
    waiting: f64,
}

impl Queueing {
    fn of(asp: &Asp, stepping: &Stepping, network: f64) -> Self {
        let part_s = asp.part_s();
        let second_moment = match asp.service {
            ServiceTime::Constant => part_s * part_s,
            ServiceTime::Exponential => 2.0 * part_s * part_s,
        };
        let own_s = own_s(stepping, network);
        let others = f64::from(stepping.workers.saturating_sub(1)) / (own_s + asp.unqueued_s());
        // A full server is contended whatever the estimate; it only has to be finite.
        let load = (others * part_s).min(0.99);
        let wait_s = others * second_moment / (2.0 * (1.0 - load));
        Queueing {
            wait_s,
            waiting: ratio(wait_s, wait_s + own_s),
        }
    }
}

/// How much of a worker's time it waits for the servers, if it is too much for [`Renewal`] to say.
pub(super) fn contention(asp: &Asp, stepping: &Stepping) -> Option<f64> {
    let waiting = Queueing::of(asp, stepping, 1.0).waiting;
    (waiting > NO_CONTENTION && asp.sharpness.is_none()).then_some(waiting)
}

/// Mean seconds of a worker by itself.
fn own_s(stepping: &Stepping, network: f64) -> f64 {
    let factors = stepping.machines.as_deref().unwrap_or(&[1.0]);
    let mean = factors.iter().sum::<f64>() / factors.len().max(1) as f64;
    stepping.worker_s * mean + stepping.communication_s * network
}

fn updates(
    asp: &Asp,
    start: SimTime,
    drift: &mut DriftPath,
    stepping: &Stepping,
    goal: Goal,
    stream: &mut Stream,
) -> (Stretch, SimTime) {
    let mut stretch = Stretch::from(start);
    let mut now = start;
    let (mut communication_s, mut served) = (0.0, 0.0);
    while stretch.updates < goal.updates && now < goal.until {
        let (network, ends) = drift.at(now);
        let renewal = Renewal::of(asp, stepping, network);
        let rate = renewal.rate;
        let room_s = (ends.min(goal.until) - now).seconds();
        let left = goal.updates - stretch.updates;
        let mut count = left.min((room_s * rate).ceil().max(1.0) as u64);
        // Only the start is in step.
        let late_s = match now == start {
            true => renewal.behind / rate + renewal.variance_rate / (2.0 * rate * rate),
            false => 0.0,
        };
        let n = count as f64;
        let deviation_s = (renewal.variance_rate / (rate * rate * rate)).sqrt();
        let bent = skewed(stream.normal(), renewal.skewness / n.sqrt());
        let mut total = (n / rate + late_s + deviation_s * n.sqrt() * bent).max(0.0);
        let end = |seconds: f64| now + SimTime::from_seconds(seconds);
        let marked = goal.mark.saturating_sub(stretch.updates);
        if (1..=count).contains(&marked) {
            let (m, rest) = (marked as f64, (count - marked) as f64);
            let spread = deviation_s * (m / n * rest).sqrt() * stream.normal();
            // The start delays all updates alike.
            let at_s = late_s + m / n * (total - late_s) + spread;
            stretch.advance.at_mark = end(at_s.clamp(0.0, total));
        }
        let over = end(total) > goal.until;
        if over {
            let in_time = |_: u64, at: f64| end(at) <= goal.until;
            let whole = (count, total);
            (count, _) = bridge((0, late_s), whole, deviation_s, in_time, stream);
            total = (goal.until - now).seconds();
        }
        stretch.updates += count;
        communication_s += total * renewal.communication;
        served += count as f64 * asp.part_s();
        now = if over { goal.until } else { end(total) };
    }
    if goal.mark > stretch.updates {
        stretch.advance.at_mark = start;
    }
    stretch.gradients = stretch.updates;
    // Between two updates of one worker, each of the others has one, on average.
    stretch.missed_updates = stretch.updates * u64::from(stepping.workers.saturating_sub(1));
    let elapsed_s = (now - start).seconds();
    stretch.divide(elapsed_s, communication_s);
    stretch.utilisation = ratio(served, elapsed_s);
    (stretch, now)
}
