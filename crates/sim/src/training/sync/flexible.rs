//! Flexible: a barrier `after_s` seconds of compute after the last. What is finished by then is
//! summed; nobody waits. Workers compute one gradient after the other, pause in the middle of one
//! while all communicate, and go on with it afterwards: nothing is dropped, but a gradient that
//! outlasts a barrier is stale. An update is a barrier with at least one gradient; at one without,
//! nobody communicates.
//!
//! In time without pauses each worker is a renewal process that heeds nobody: worker k finishes 1/μ_k gradients a second, and
//! once all are out of step none at all in τ_f with probability E[(x_k − τ_f)⁺]/μ_k. So an update takes τ_f/(1 − p₀), p₀ being the
//! product of these, and the pause; it sums up λ τ_f/(1 − p₀) gradients, λ = Σ 1/μ_k. A gradient of worker k takes μ_k, in
//! which the others finish (λ − 1/μ_k) μ_k: in the mean over gradients it misses K − 1.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::event_protocol::EventProtocol;
use super::fidelity::Invalid;
use super::flow::Flow;
use super::leap::{Leap, Update};
use super::long_run::{LongRun, WarmUp};
use super::renewal::OUT_OF_STEP;
use super::stationary::Stationary;
use super::stretch::{Goal, Stretch, give_up};
use super::synchronisation::Synchronisation;
use crate::training::floor::Floor;
use crate::training::progress::{Event, StalledJob};
use crate::training::stepping::Stepping;
use scavsim_base::units::SimTime;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::checked::Patience;

/// Settings of `flexible`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flexible {
    /// Seconds of compute from one barrier to the next, τ_f.
    pub after_s: Patience,
}

/// Odds below which those of one gradient in τ_f are lost in what is rounded off.
const ROUNDED_OFF: f64 = 1e-6;

/// How things stood when a worker began its gradient.
#[derive(Debug, Clone, Copy, Default)]
struct GradientStart {
    paused: SimTime,
    /// Updates so far, and gradients in them.
    updates: u64,
    applied: u64,
    /// Finished gradients of the worker that wait for the next barrier.
    pending: u64,
}

impl GradientStart {
    /// The gradient is finished, and another begun; how many of the others it missed.
    #[inline]
    fn again(&mut self, stretch: &Stretch) -> u64 {
        // What a barrier has summed up meanwhile, but for the worker's own.
        let own = if stretch.updates > self.updates {
            std::mem::take(&mut self.pending)
        } else {
            0
        };
        let missed = stretch.gradients - self.applied - own;
        self.updates = stretch.updates;
        self.applied = stretch.gradients;
        self.pending += 1;
        missed
    }
}

/// Memory: that of all workers.
#[derive(Debug, Default)]
struct Pauses(Vec<GradientStart>);

impl Flexible {
    /// Nobody waits, so workers fall out of step by their own variation alone.
    fn settling(&self, stepping: &Stepping) -> WarmUp {
        let (cv, workers) = (stepping.time.cv(), f64::from(stepping.workers));
        WarmUp {
            rounds: OUT_OF_STEP / (cv * cv),
            updates: (stepping.worker_s / self.after_s.get().max(1e-9)).min(workers),
            has_own_times: true,
        }
    }
}

impl Declared for Flexible {
    const DECLARATION: Declaration = Declaration {
        name: "flexible",
        what: "A barrier at fixed times sums what is finished; workers pause in mid-gradient for the communication and go on with it, so nothing is dropped. Without a finished gradient there is no update and no communication.",
        formula: "a barrier τ_f = `after_s` after the last; an update sums whatever is finished",
        source: "after the abstract of IC2E 2019 on synchronisation costs on transient resources; the protocol is our choice",
        example: "sync.flexible = { after_s = 2 }",
    };
}

impl EventProtocol for Flexible {
    fn long_run_update(&self, stepping: &Stepping) -> Option<Update> {
        let (time, after_s) = (stepping.time, self.after_s.get().max(1e-9));
        if time.has_no_spread() || !self.settling(stepping).ends(stepping) {
            // Whole multiples of few times: they may never be out of step.
            return None;
        }
        let nobody = |mean_s: f64| time.mean_beyond(after_s / mean_s);
        let (rate, none) = match &stepping.machines {
            None => {
                let workers = f64::from(stepping.workers);
                let none = libm::pow(nobody(stepping.worker_s), workers);
                (workers / stepping.worker_s, none)
            }
            Some(factors) => (factors.iter()).fold((0.0, 1.0), |(rate, none), factor| {
                let mean_s = stepping.worker_s * factor;
                (rate + 1.0 / mean_s, none * nobody(mean_s))
            }),
        };
        let some = 1.0 - none;
        // Rounded off where an update is hardly ever more than one gradient.
        let gradients = (rate * after_s / some).max(1.0);
        (some > ROUNDED_OFF).then(|| Update {
            seconds: gradients / rate + stepping.communication_s,
            gradients,
            missed: gradients * f64::from(stepping.workers.saturating_sub(1)),
        })
    }

    fn gradients_per_update(&self, _workers: u32) -> Option<u32> {
        None
    }

    /// A state machine: barriers and workers in one place, one turn per event or barrier.
    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        let (queue, drift, stepping, stream, scratch, log) = floor.parts();
        let start = queue.now();
        let mut stretch = Stretch::from(start);
        // Not below the clock's resolution, or barriers would stand still.
        let after = SimTime::from_seconds(self.after_s.get().max(1e-9));
        let mut draws = Draws::new(stepping);
        let Pauses(begun) = scratch.memory();
        begun.clear();
        begun.resize(stepping.workers as usize, GradientStart::default());
        let mut paused = SimTime::ZERO;
        let mut barrier = start + after;
        let (mut finished, mut missed, mut communicated_s) = (0, 0, 0.0);
        for worker in 0..stepping.workers {
            let compute = draws.worker(worker, stream);
            log.computes(worker, start + compute);
            queue.after(compute, Event::Arrived(worker));
        }
        let end = loop {
            let Some(next) = queue.next_at() else {
                return Err(StalledJob { at: queue.now() });
            };
            if queue.is_interrupted() {
                break goal.until;
            }
            if next > barrier {
                if finished == 0 {
                    // Barriers at which nothing is finished pass unnoticed.
                    let behind = (next - barrier).nanoseconds();
                    let empty = behind.div_ceil(after.nanoseconds()).max(1);
                    let skipped = after.nanoseconds().saturating_mul(empty);
                    barrier += SimTime::from_nanoseconds(skipped);
                    continue;
                }
                let (network, _) = drift.factor_at(barrier);
                let communication_s = stepping.communication_s * network;
                let pause = SimTime::from_seconds(communication_s);
                let complete = barrier + pause;
                if barrier < goal.until {
                    log.pause(barrier, complete);
                }
                if complete > goal.until {
                    break goal.until;
                }
                queue.rest_until(barrier);
                paused += pause;
                communicated_s += communication_s;
                stretch.gradients += finished;
                stretch.missed_gradients += missed as f64;
                (finished, missed) = (0, 0);
                let is_last = stretch.update(complete, &goal);
                log.update(stretch.updates, complete);
                if is_last {
                    break complete;
                }
                barrier = complete + after;
                continue;
            }
            if next > goal.until {
                break goal.until;
            }
            let Some(Event::Arrived(worker)) = queue.advance() else {
                continue;
            };
            let begun = &mut begun[worker as usize];
            let owed = paused - begun.paused;
            begun.paused = paused;
            if owed > SimTime::ZERO {
                // Barriers stopped this worker on the way: it is that much later.
                queue.after(owed, Event::Arrived(worker));
                continue;
            }
            finished += 1;
            missed += begun.again(&stretch);
            let compute = draws.worker(worker, stream);
            log.settle(worker, queue.now());
            log.computes(worker, queue.now() + compute);
            queue.after(compute, Event::Arrived(worker));
        };
        give_up(queue, end);
        log.end(stretch.updates, end);
        stretch.divide((end - start).seconds(), communicated_s);
        Ok(stretch)
    }
}

/// Updates beyond which a stretch is not short.
const MOST_UPDATES: u64 = 20_000;

/// Memory: when each worker finishes next, in seconds of compute, and how things stood when it began.
#[derive(Debug, Default)]
struct Finishing(Vec<(f64, GradientStart)>);

impl Flexible {
    /// Few updates, every gradient by itself but in no queue: in time without pauses nobody heeds anybody, so barrier after
    /// barrier asks each worker what it has finished. `None`, with nothing drawn, where they are many.
    fn by_barriers(&self, leap: &mut Leap<'_>) -> Option<(Stretch, SimTime)> {
        let (stepping, goal, start) = (leap.stepping, leap.goal, leap.start);
        let until_s = (goal.until - start).seconds();
        let after_s = self.after_s.get().max(1e-9);
        if goal.updates.min((until_s / after_s) as u64) > MOST_UPDATES {
            return None;
        }
        let draws = Draws::new(stepping);
        let Finishing(workers) = leap.scratch.memory();
        workers.clear();
        for worker in 0..stepping.workers {
            workers.push((draws.seconds(worker, leap.stream), GradientStart::default()));
        }
        let mut stretch = Stretch::from(start);
        let (mut barrier_s, mut paused_s) = (after_s, 0.0);
        let end_s = loop {
            let (mut finished, mut missed, mut next_s) = (0, 0, f64::INFINITY);
            for (worker, (finish_s, begun)) in (0..).zip(workers.iter_mut()) {
                while *finish_s <= barrier_s {
                    missed += begun.again(&stretch);
                    finished += 1;
                    *finish_s += draws.seconds(worker, leap.stream);
                }
                next_s = next_s.min(*finish_s);
            }
            let at_s = barrier_s + paused_s;
            if at_s > until_s || leap.interrupt.is_raised() {
                break until_s;
            }
            if finished == 0 {
                // Barriers at which nothing is finished pass unnoticed.
                barrier_s += ((next_s - barrier_s) / after_s).ceil().max(1.0) * after_s;
                continue;
            }
            let (network, _) = leap.drift.factor_at(start + SimTime::from_seconds(at_s));
            let pause_s = stepping.communication_s * network;
            if at_s + pause_s > until_s {
                break until_s;
            }
            paused_s += pause_s;
            stretch.gradients += finished;
            stretch.missed_gradients += missed as f64;
            let complete = start + SimTime::from_seconds(at_s + pause_s);
            if stretch.update(complete, &goal) {
                break at_s + pause_s;
            }
            barrier_s += after_s;
        };
        stretch.divide(end_s, paused_s);
        Some((stretch, start + SimTime::from_seconds(end_s)))
    }
}

impl Synchronisation for Flexible {
    fn has_barrier(&self) -> bool {
        false
    }

    fn check_fast(&self, stepping: &Stepping, updates: u64) -> Result<(), Invalid> {
        let protocol = Self::DECLARATION.name;
        // With nothing but stragglers workers come back to whole multiples of few times: they stay in step with the
        // barrier for long, and no short measurement is a sample of that.
        if stepping.time.has_no_spread() {
            return Err(Invalid::Entangled { protocol });
        }
        self.settling(stepping).check(protocol, stepping, updates)
    }

    fn stationary(&self, stepping: &Stepping, rate_error: f64) -> Stationary {
        // All pause together, so communication is added as it is.
        let computing = Stepping {
            communication_s: 0.0,
            ..stepping.clone()
        };
        let settling = self.settling(&computing);
        Stationary {
            long_run: LongRun::new(Arc::new(*self), settling, &computing, rate_error),
            ..Stationary::default()
        }
    }

    fn leap(&self, known: &Stationary, mut leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        let (long_run, stepping) = (known.long_run.as_ref()?, leap.stepping);
        let pausing = |flow: Flow, network: f64| {
            let pause_s = stepping.communication_s * network;
            let rate = 1.0 / (1.0 / flow.rate + pause_s);
            Flow {
                rate,
                communication: rate * pause_s,
                ..flow
            }
        };
        let many = long_run.updates(&mut leap, pausing);
        many.or_else(|| self.by_barriers(&mut leap))
    }
}
