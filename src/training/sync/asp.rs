//! Asynchronous: nobody waits for anybody; each update passes the parameter servers, first come,
//! first served. An update is the gradient of one worker.
//!
//! Parameters are spread over the servers, so an update is split: every server takes its part, in
//! `service_s` divided by the number of servers, and the update is complete when the last part is.
//! As arrivals are taken in the order of time, a part's end is known when it arrives (Lindley's
//! recursion): one event per worker-step. The worker then reads the parameters and goes on.

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::fidelity::Invalid;
use super::long_run::{LongRun, Settling};
use super::network::Network;
use super::registry::Protocol;
use super::renewal::{OUT_OF_STEP, Renewal, Service, contention, updates};
use super::stretch::{Goal, Stretch, give_up, ratio};
use super::synchronisation::{Leap, Stationary, Synchronisation};
use crate::input::checked::{Delay, Machines, Sharpness};
use crate::training::Fidelity;
use crate::training::floor::Floor;
use crate::training::progress::{Event, Stalled};
use crate::training::stepping::Stepping;
use crate::units::SimTime;
use crate::workload::law::CommunicationLaw;

/// Settings of `asp`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asp {
    /// Parameter servers.
    #[serde(default = "one")]
    pub servers: Machines,
    /// Seconds in which one server alone would serve an update, t_ps; 0 for servers without limit.
    pub service_s: Delay,
    /// How service times vary.
    #[serde(default)]
    pub service: ServiceTime,
    /// q of the measured saturating law (t_w^q + (K·t_ps)^q)^(1/q), if there is one: contended servers follow it in
    /// fidelity `fast`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharpness: Option<Sharpness>,
}

fn one() -> Machines {
    Machines::ONE
}

/// How the service times of a parameter server vary.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceTime {
    /// All are alike: every update is equally large.
    #[default]
    Constant,
    /// Exponential.
    Exponential,
}

impl Asp {
    /// Mean seconds in which a server serves its part of an update.
    pub fn part_s(&self) -> f64 {
        self.service_s.get() / f64::from(self.servers.get())
    }

    /// Mean seconds that an update spends in service when nobody is before it: the longest of its
    /// parts.
    pub fn unqueued_s(&self) -> f64 {
        let spread = match self.service {
            ServiceTime::Constant => 1.0,
            ServiceTime::Exponential => (1..=self.servers.get()).map(|i| 1.0 / f64::from(i)).sum(),
        };
        self.part_s() * spread
    }

    /// Seconds of a round of K updates by the measured law, t_w being a worker's own time; `None`
    /// without a measured sharpness.
    pub fn law_round_s(&self, workers: u32, own_s: f64) -> Option<f64> {
        self.service().round_s(workers, own_s)
    }

    fn service(&self) -> Service {
        let part_s = self.part_s();
        let square = part_s * part_s;
        let (second_moment, variance) = match self.service {
            ServiceTime::Constant => (square, 0.0),
            // The longest of several parts varies less than one.
            ServiceTime::Exponential => (2.0 * part_s * part_s, square),
        };
        Service {
            part_s,
            unqueued_s: self.unqueued_s(),
            second_moment,
            variance,
            law: self.law(),
        }
    }

    /// Workers fall out of step by their own variation; the queue forgets sooner.
    fn settling(&self, stepping: &Stepping) -> Settling {
        let cycle_s = stepping.worker_s + stepping.communication_s + self.unqueued_s();
        let cycle_cv = ratio(stepping.time.cv() * stepping.worker_s, cycle_s);
        Settling {
            rounds: OUT_OF_STEP / (cycle_cv * cycle_cv),
            updates: f64::from(stepping.workers),
            has_own_times: true,
        }
    }

    /// The measured law of communication, if there is one.
    fn law(&self) -> Option<CommunicationLaw> {
        let sharpness = self.sharpness?.get();
        Some(CommunicationLaw::Saturating {
            service_s: self.part_s(),
            sharpness,
        })
    }

    /// A state machine: servers and workers in one place, one turn per event.
    fn events<const NOTED: bool>(
        &self,
        floor: &mut Floor<'_>,
        mut stretch: Stretch,
        goal: Goal,
    ) -> Result<Stretch, Stalled> {
        let Floor {
            queue,
            drift,
            stepping,
            stream,
            scratch,
            log,
        } = floor.parts();
        let start = queue.now();
        let mut draws = Draws::new(stepping, scratch);
        let Memory { read, free_at } = scratch.of();
        // Without service times servers do nothing, however many there are.
        let servers = match self.service_s.get() > 0.0 {
            true => self.servers.get() as usize,
            false => 0,
        };
        free_at.clear();
        free_at.resize(servers, start);
        read.clear();
        read.resize(stepping.workers as usize, 0);
        let part_s = self.part_s();
        let part = SimTime::from_seconds(part_s);
        let (mut busy_ns, mut served_ns, mut communicated_s) = (0.0, 0.0, 0.0);
        let mut network = Network::at(start, drift, stepping);
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
            for (server, free_at) in free_at.iter_mut().enumerate() {
                let service = match self.service {
                    ServiceTime::Constant => part,
                    ServiceTime::Exponential => {
                        SimTime::from_seconds(-part_s * libm::log(stream.uniform()))
                    }
                };
                let begins = now.max(*free_at);
                *free_at = begins + service;
                if NOTED {
                    log.serves(server, worker, begins, *free_at);
                }
                complete = complete.max(*free_at);
                let inside = (*free_at).min(goal.until) - begins;
                busy_ns += inside.nanoseconds() as f64;
            }
            served_ns += (complete.min(goal.until) - now).nanoseconds() as f64;
            // Updates complete in the order in which they arrive: no later one can be in time.
            if complete <= goal.until {
                let read = &mut read[worker as usize];
                stretch.missed_gradients += stretch.updates - *read;
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
            return Err(Stalled { at: queue.now() });
        }
        give_up(queue, end);
        log.end(stretch.updates, end);
        stretch.gradients = stretch.updates;
        let elapsed_s = (end - start).seconds();
        let workers = f64::from(stepping.workers);
        stretch.divide(elapsed_s, ratio(communicated_s + served_ns / 1e9, workers));
        stretch.utilisation = ratio(busy_ns / 1e9, servers as f64 * elapsed_s);
        Ok(stretch)
    }
}

/// Memory of a stretch.
#[derive(Debug, Default)]
struct Memory {
    /// Updates that the parameters each worker computes on contain.
    read: Vec<u64>,
    /// When each server is free.
    free_at: Vec<SimTime>,
}

impl Synchronisation for Asp {
    fn name(&self) -> &'static str {
        "asp"
    }

    fn check(&self, _workers: u32) -> Result<(), String> {
        Ok(())
    }

    fn has_barrier(&self) -> bool {
        false
    }

    fn gradients_per_update(&self, _workers: u32) -> Option<u32> {
        Some(1)
    }

    fn valid(&self, fidelity: Fidelity, stepping: &Stepping, updates: u64) -> Result<(), Invalid> {
        match fidelity {
            Fidelity::Event => Ok(()),
            Fidelity::Step => Err(Invalid::NoCommonStep {
                protocol: self.name(),
            }),
            Fidelity::Fast => {
                let service = self.service();
                let Some(waiting) = contention(&service, stepping) else {
                    return Renewal::of(&service, stepping, 1.0).check(stepping.workers, updates);
                };
                let settled = self.settling(stepping);
                match settled.check(self.name(), stepping, updates) {
                    Err(Invalid::Entangled { .. }) => Err(Invalid::Contended { waiting }),
                    settled => settled,
                }
            }
        }
    }

    fn run(&self, floor: &mut Floor<'_>, stretch: Stretch, goal: Goal) -> Result<Stretch, Stalled> {
        // Decided once per stretch: an event of this protocol is little work.
        match floor.log.is_fine() {
            true => self.events::<true>(floor, stretch, goal),
            false => self.events::<false>(floor, stretch, goal),
        }
    }

    fn stationary(&self, stepping: &Stepping) -> Stationary {
        let is_contended = contention(&self.service(), stepping).is_some();
        let settling = is_contended.then(|| self.settling(stepping));
        Stationary {
            long_run: settling.and_then(|s| LongRun::new(Protocol::Asp(*self), s, stepping)),
            ..Stationary::default()
        }
    }

    fn leap(&self, mut leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        match &leap.stationary.long_run {
            Some(long_run) => long_run.updates(&mut leap, |flow, _| flow),
            None => Some(updates(&self.service(), &mut leap)),
        }
    }
}
