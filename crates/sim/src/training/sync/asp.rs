//! Asynchronous: nobody waits for anybody; each update passes the parameter servers, first come,
//! first served. An update is the gradient of one worker.
//!
//! Parameters are spread evenly over the servers, so every server takes an equal part of an update at the same time: all
//! are busy and idle together, and one queue tells what any of them does. As arrivals are taken in the order of time, an
//! update's end is known when it arrives (Lindley's recursion): one event per worker-step. The worker then reads the
//! parameters and goes on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::event_protocol::EventProtocol;
use super::fidelity::Invalid;
use super::leap::Leap;
use super::long_run::{LongRun, WarmUp};
use super::network::Network;
use super::renewal::{OUT_OF_STEP, Renewal, contention, updates};
use super::service::{Service, ServiceTime, ServiceTimes};
use super::stationary::Stationary;
use super::stretch::{Goal, Stretch, give_up, ratio};
use super::synchronisation::Synchronisation;
use crate::training::floor::Floor;
use crate::training::progress::{Event, StalledJob};
use crate::training::stepping::Stepping;
use scavsim_base::units::SimTime;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::checked::{Delay, Machines};

/// Settings of `asp`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asp {
    /// Parameter servers.
    #[serde(default = "one_machine")]
    pub servers: Machines,
    /// Seconds in which one server alone would serve an update, t_ps; 0 for servers without limit.
    pub service_s: Delay,
    /// How service times vary.
    #[serde(default)]
    pub service: ServiceTime,
    /// Whether a worker's measured step holds the service of its own update.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub step_includes_service: bool,
}

fn one_machine() -> Machines {
    Machines::ONE
}

impl Asp {
    /// Mean seconds in which a server serves its part of an update.
    pub fn part_s(&self) -> f64 {
        self.service_s.get() / f64::from(self.servers.get())
    }

    fn service(&self) -> Service {
        Service::new(self.part_s(), self.service)
    }

    /// Workers fall out of step by their own variation and that of their service; the queue forgets sooner.
    fn settling(&self, stepping: &Stepping) -> WarmUp {
        let service = self.service();
        let cycle_s = stepping.worker_s + stepping.communication_s + service.part_s;
        let compute_s = stepping.time.cv() * stepping.worker_s;
        let variance = compute_s * compute_s + service.variance();
        let cycle_cv = ratio(variance.sqrt(), cycle_s);
        WarmUp {
            rounds: OUT_OF_STEP / (cycle_cv * cycle_cv),
            updates: f64::from(stepping.workers),
            has_own_times: true,
        }
    }

    /// A state machine: servers and workers in one place, one turn per event.
    #[expect(
        clippy::too_many_lines,
        reason = "a state machine of workers and server"
    )]
    fn events<const NOTED: bool>(
        &self,
        floor: &mut Floor<'_>,
        goal: Goal,
    ) -> Result<Stretch, StalledJob> {
        let (queue, drift, stepping, stream, scratch, log) = floor.parts();
        let start = queue.now();
        let mut stretch = Stretch::from(start);
        let mut draws = Draws::new(stepping);
        let Memory(read) = scratch.memory();
        // Without service times servers do nothing, however many there are.
        let servers = if self.service_s.get() > 0.0 {
            self.servers.get() as usize
        } else {
            0
        };
        let times = ServiceTimes::new(self.part_s(), self.service);
        let mut free_at = start;
        read.clear();
        read.resize(stepping.workers as usize, 0);
        let (mut busy_ns, mut served_ns, mut communicated_s) = (0.0, 0.0, 0.0);
        let mut missed = 0;
        let mut network = Network::starting_at(start, drift, stepping);
        for worker in 0..stepping.workers {
            let compute = draws.worker(worker, stream);
            let told = start + compute + network.time;
            if NOTED {
                log.cycle(worker, start, [start, start + compute, told]);
            }
            queue.after(compute + network.time, Event::Arrived(worker));
        }
        let mut end = goal.until;
        while let Some(&event) = queue.look_until(goal.until) {
            let Event::Arrived(worker) = event else {
                queue.advance();
                continue;
            };
            let now = queue.now();
            communicated_s += network.seconds;
            let mut complete = now;
            if servers > 0 {
                let begins = now.max(free_at);
                free_at = begins + times.draw(stream);
                if NOTED {
                    for server in 0..servers {
                        log.serves(server, worker, begins, free_at);
                    }
                }
                complete = free_at;
                let inside = free_at.min(goal.until) - begins;
                busy_ns += inside.nanoseconds() as f64;
            }
            served_ns += (complete.min(goal.until) - now).nanoseconds() as f64;
            // Updates complete in the order in which they arrive: no later one can be in time.
            if complete <= goal.until {
                let read = &mut read[worker as usize];
                missed += stretch.updates - *read;
                let is_last = stretch.update(complete, &goal);
                if NOTED {
                    log.update(stretch.updates, complete);
                }
                if is_last {
                    log.cycle(worker, now, [complete; 3]);
                    end = complete;
                    break;
                }
                *read = stretch.updates;
            }
            network.follow(now);
            let compute = draws.worker(worker, stream);
            let computed = complete + compute;
            if NOTED {
                log.cycle(worker, now, [complete, computed, computed + network.time]);
            }
            let delay = complete - now + compute + network.time;
            queue.put_off(delay);
        }
        if stretch.updates < goal.updates && queue.is_empty() {
            return Err(StalledJob { at: queue.now() });
        }
        give_up(queue, end);
        log.end(stretch.updates, end);
        stretch.gradients = stretch.updates;
        stretch.missed_gradients = missed as f64;
        let elapsed_s = (end - start).seconds();
        let workers = f64::from(stepping.workers);
        stretch.divide(elapsed_s, ratio(communicated_s + served_ns / 1e9, workers));
        stretch.utilisation = ratio(busy_ns / 1e9, elapsed_s);
        Ok(stretch)
    }
}

/// Memory of a stretch: updates that the parameters each worker computes on contain.
#[derive(Debug, Default)]
struct Memory(Vec<u64>);

impl Declared for Asp {
    const DECLARATION: Declaration = Declaration {
        name: "asp",
        what: "Nobody waits; each update queues at the parameter servers, first come, first served, and the worker goes on when it is served.",
        formula: "compute, communication, then a queue with mean service t_ps/S, t_ps = `service_s`, S = `servers`; an update is one gradient",
        source: "Dean et al., Large Scale Distributed Deep Networks, NeurIPS 2012; queue: Lindley 1952",
        example: "sync.asp = { servers = 1, service_s = 0.02, service = { cv = 0.5 }, step_includes_service = false }",
    };
}

impl EventProtocol for Asp {
    fn gradients_per_update(&self, _workers: u32) -> Option<u32> {
        Some(1)
    }

    fn mean_service_s(&self) -> f64 {
        self.part_s()
    }

    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        // Decided once per stretch: an event of this protocol is little work.
        if floor.log.is_fine() {
            self.events::<true>(floor, goal)
        } else {
            self.events::<false>(floor, goal)
        }
    }
}

impl Synchronisation for Asp {
    fn has_barrier(&self) -> bool {
        false
    }

    fn service_in_step_s(&self) -> f64 {
        if self.step_includes_service {
            self.part_s()
        } else {
            0.0
        }
    }

    fn check_fast(&self, stepping: &Stepping, updates: u64) -> Result<(), Invalid> {
        let service = self.service();
        let Some(waiting) = contention(&service, stepping) else {
            return Renewal::new(&service, stepping, 1.0).check(stepping.workers, updates);
        };
        let settled = self.settling(stepping);
        match settled.check(Self::DECLARATION.name, stepping, updates) {
            Err(Invalid::Entangled { .. }) => Err(Invalid::Contended { waiting }),
            settled => settled,
        }
    }

    fn stationary(&self, stepping: &Stepping, rate_error: f64) -> Stationary {
        let is_contended = contention(&self.service(), stepping).is_some();
        let settling = is_contended.then(|| self.settling(stepping));
        Stationary {
            long_run: settling.and_then(|s| LongRun::new(Arc::new(*self), s, stepping, rate_error)),
            ..Stationary::default()
        }
    }

    fn leap(&self, known: &Stationary, mut leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        match &known.long_run {
            Some(long_run) => long_run.updates(&mut leap, |flow, _| flow),
            None => {
                // The formula holds once workers are out of step; a stretch of few steps each runs in events.
                let (service, limit_s) = (self.service(), (leap.goal.until - leap.start).seconds());
                let (network, _) = leap.drift.factor_at(leap.start);
                let renewal = Renewal::new(&service, leap.stepping, network);
                let expected = leap.goal.updates.min(renewal.updates_in(limit_s));
                renewal.check(leap.stepping.workers, expected).ok()?;
                Some(updates(&service, &mut leap))
            }
        }
    }
}
