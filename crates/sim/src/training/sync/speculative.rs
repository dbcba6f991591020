//! Speculative re-execution: as `bsp`, but when a worker-step has taken longer than a quantile of
//! worker-steps, an idle machine starts a copy of it. The first of the two to finish counts, the
//! other is stopped. Idle are spare machines and those that have finished their own step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::backup::some_compute;
use super::draws::Draws;
use super::event_protocol::EventProtocol;
use super::fidelity::Invalid;
use super::leap::Leap;
use super::sampled_steps::{SampledSteps, steps_to_measure};
use super::stationary::Stationary;
use super::steps;
use super::stretch::{Goal, Stretch, give_up};
use super::synchronisation::{Synchronisation, WrongWorkers};
use crate::training::floor::Floor;
use crate::training::log::Log;
use crate::training::progress::{Event, StalledJob};
use crate::training::slowest;
use crate::training::stepping::Stepping;
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_base::{Declaration, Declared};
use scavsim_engine::Queue;
use scavsim_read::input::checked::Probability;

/// Settings of `speculative`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Speculative {
    /// A worker-step is overdue when it takes longer than this fraction of worker-steps.
    pub quantile: Probability,
    /// Machines that compute nothing but copies; they are among the K of the configuration.
    #[serde(default)]
    pub spare: u32,
}

#[derive(Debug, Clone, Copy)]
struct WorkerStep {
    done: bool,
    copy: Option<Copied>,
}

#[derive(Debug, Clone, Copy)]
struct Copied {
    machine: u32,
    since: SimTime,
}

/// A machine without work.
type IdleMachine = u32;

#[derive(Debug, Default)]
struct StepMemory {
    tasks: Vec<WorkerStep>,
    idle: Vec<IdleMachine>,
}

impl Speculative {
    /// Worker-steps of a step: all machines but the spare ones; at least 1.
    pub fn tasks(&self, workers: u32) -> u32 {
        workers.saturating_sub(self.spare).max(1)
    }

    pub fn overdue_s(&self, stepping: &Stepping) -> f64 {
        stepping.worker_s * slowest::quantile(self.quantile.get(), stepping.time)
    }
}

impl Declared for Speculative {
    const DECLARATION: Declaration = Declaration {
        name: "speculative",
        what: "Like `bsp`, but a worker-step that takes longer than the quantile gets a copy on the machine that was idle first, a spare one or one that has finished its own; the first to finish counts, the other is stopped. One copy at most.",
        formula: "overdue after F⁻¹(`quantile`) of worker-steps; an update sums K − r gradients, r = `spare`",
        source: "Dean & Ghemawat, MapReduce, OSDI 2004",
        example: "sync.speculative = { quantile = 0.95, spare = 0 }",
    };
}

impl EventProtocol for Speculative {
    fn gradients_per_update(&self, workers: u32) -> Option<u32> {
        Some(self.tasks(workers))
    }

    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        let (queue, drift, stepping, stream, scratch, log) = floor.parts();
        let mut stretch = Stretch::from(queue.now());
        let draws = Draws::new(stepping);
        let StepMemory { tasks, idle } = scratch.memory();
        let mut step = SpeculativeStep {
            draws,
            tasks,
            idle,
            count: self.tasks(stepping.workers),
            workers: stepping.workers,
            overdue_after: SimTime::from_seconds(self.overdue_s(stepping)),
            start: queue.now(),
            left: 0,
            taken: 0,
            first_uncopied: 0,
            overdue: false,
            worked_ns: 0.0,
            wasted_ns: 0.0,
            log,
        };
        // A machine becomes idle at most twice a step: after its own work, and after a copy.
        step.idle.clear();
        step.idle.reserve(2 * stepping.workers as usize);
        // Every worker-step, a copy of each, and that they are overdue.
        queue.reserve(2 * stepping.workers as usize + 1);
        step.begin(queue, stream);
        let mut end = None;
        while let Some(event) = queue.advance_until(goal.until) {
            match event {
                Event::Arrived(worker) => step.finish(worker, false, queue, stream),
                Event::CopyFinished(worker) => step.finish(worker, true, queue, stream),
                Event::Overdue => {
                    step.overdue = true;
                    step.copy(queue, stream);
                }
                Event::StepComplete => {
                    stretch.gradients += u64::from(step.count);
                    let is_last = stretch.update(queue.now(), &goal);
                    step.log.step(stretch.updates, queue.now());
                    if is_last {
                        end = Some(queue.now());
                        break;
                    }
                    step.begin(queue, stream);
                    continue;
                }
                _ => continue,
            }
            if step.left == 0 {
                queue.retain(|event| !event.is_step());
                let (network, _) = drift.factor_at(queue.now());
                let communication_s = stepping.communication_s * network;
                stretch.advance.compute_s += (queue.now() - step.start).seconds();
                stretch.advance.communication_s += communication_s;
                let communication = SimTime::from_seconds(communication_s);
                let (now, all) = (queue.now(), stepping.workers);
                step.log.barrier(all, now, now + communication);
                queue.after(communication, Event::StepComplete);
            }
        }
        if end.is_none() && queue.is_empty() {
            return Err(StalledJob { at: queue.now() });
        }
        let end = end.unwrap_or(goal.until);
        give_up(queue, end);
        step.log.end(stretch.updates, end);
        stretch.waste(step.wasted_ns / 1e9, step.worked_ns / 1e9);
        Ok(stretch)
    }
}

impl Synchronisation for Speculative {
    fn check(&self, workers: u32) -> Result<(), WrongWorkers> {
        some_compute(self.spare, workers)
    }

    fn effective_batch(&self, batch: f64, workers: u32) -> f64 {
        batch * f64::from(self.tasks(workers)) / f64::from(workers)
    }

    fn check_fast(&self, stepping: &Stepping, _updates: u64) -> Result<(), Invalid> {
        match steps_to_measure(stepping) {
            Some(_) => Ok(()),
            None => Err(Invalid::Entangled {
                protocol: Self::DECLARATION.name,
            }),
        }
    }

    fn stationary(&self, stepping: &Stepping, rate_error: f64) -> Stationary {
        Stationary {
            sampled: SampledSteps::new(Arc::new(*self), stepping, rate_error),
            ..Stationary::default()
        }
    }

    fn leap(&self, known: &Stationary, leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        let stepping = leap.stepping;
        let sample = known.sampled.as_ref()?.for_workers(stepping)?;
        let draw = |stream: &mut Stream, _| stepping.worker_s * sample.draw(stream);
        let (mut stretch, end) = steps::take_steps(leap, sample.one, draw);
        stretch.gradients = stretch.updates * u64::from(self.tasks(stepping.workers));
        stretch.wasted = sample.wasted;
        stretch.computed_s = stretch.updates as f64 * sample.computed * stepping.worker_s;
        let compute = stretch.advance.compute_s / stepping.worker_s;
        stretch.deviations = sample.deviations(stretch.updates, compute);
        Some((stretch, end))
    }
}

struct SpeculativeStep<'s> {
    draws: Draws<'s>,
    tasks: &'s mut Vec<WorkerStep>,
    /// First come, first taken, from `taken` on.
    idle: &'s mut Vec<IdleMachine>,
    taken: usize,
    count: u32,
    workers: u32,
    overdue_after: SimTime,
    start: SimTime,
    left: u32,
    /// All before this one are done or have a copy, once they are overdue.
    first_uncopied: usize,
    overdue: bool,
    worked_ns: f64,
    wasted_ns: f64,
    log: &'s mut Log,
}

impl SpeculativeStep<'_> {
    fn begin(&mut self, queue: &mut Queue<Event>, stream: &mut Stream) {
        let fresh = WorkerStep {
            done: false,
            copy: None,
        };
        self.tasks.clear();
        self.tasks.resize(self.count as usize, fresh);
        self.idle.clear();
        self.idle.extend(self.count..self.workers);
        (self.taken, self.first_uncopied, self.overdue) = (0, 0, false);
        (self.start, self.left) = (queue.now(), self.count);
        for worker in 0..self.count {
            let compute = self.draws.worker(worker, stream);
            self.log.computes(worker, self.start + compute);
            queue.after(compute, Event::Arrived(worker));
        }
        queue.after(self.overdue_after, Event::Overdue);
    }

    fn finish(
        &mut self,
        worker: u32,
        by_copy: bool,
        queue: &mut Queue<Event>,
        stream: &mut Stream,
    ) {
        let task = &mut self.tasks[worker as usize];
        if task.done {
            return;
        }
        task.done = true;
        self.left -= 1;
        let since = |start: SimTime| (queue.now() - start).nanoseconds() as f64;
        self.idle.push(worker);
        self.log.settle(worker, queue.now());
        match task.copy {
            None => self.worked_ns += since(self.start),
            Some(copy) => {
                self.idle.push(copy.machine);
                self.log.settle(copy.machine, queue.now());
                let (original, copied) = (since(self.start), since(copy.since));
                let (useful, useless) = if by_copy {
                    (copied, original)
                } else {
                    (original, copied)
                };
                self.worked_ns += useful;
                self.wasted_ns += useless;
            }
        }
        if self.overdue {
            self.copy(queue, stream);
        }
    }

    /// Gives overdue worker-steps to idle machines, as long as there are both.
    fn copy(&mut self, queue: &mut Queue<Event>, stream: &mut Stream) {
        while let Some(&machine) = self.idle.get(self.taken) {
            let uncopied = |task: &WorkerStep| !task.done && task.copy.is_none();
            let Some(further) = self.tasks[self.first_uncopied..].iter().position(uncopied) else {
                self.first_uncopied = self.tasks.len();
                return;
            };
            let worker = self.first_uncopied + further;
            self.first_uncopied = worker + 1;
            self.taken += 1;
            self.tasks[worker].copy = Some(Copied {
                machine,
                since: queue.now(),
            });
            let compute = self.draws.worker(machine, stream);
            let now = queue.now();
            self.log.copies(machine, worker as u32, now, now + compute);
            queue.after(compute, Event::CopyFinished(worker as u32));
        }
    }
}
