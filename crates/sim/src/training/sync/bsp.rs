//! Bulk-synchronous: all workers start together, the last to finish completes the barrier, the
//! communication follows, and the next step starts. An update is a step.

use std::cell::OnceCell;

use super::draws::{Draws, StepComputeDraws};
use super::event_protocol::EventProtocol;
use super::leap::Leap;
use super::stationary::Stationary;
use super::steps;
use super::stretch::{Goal, Stretch, give_up};
use super::synchronisation::Synchronisation;
use crate::training::floor::Floor;
use crate::training::log::Log;
use crate::training::progress::{Event, StalledJob};
use crate::training::stepping::{StepCondition, Stepping};
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_base::{Declaration, Declared};
use scavsim_engine::Queue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bsp;

impl Declared for Bsp {
    const DECLARATION: Declaration = Declaration {
        name: "bsp",
        what: "Every worker computes, all meet, the slowest ends the step; the communication of all follows.",
        formula: "step = max of K compute times + communication; an update sums K gradients",
        source: "Valiant, A Bridging Model for Parallel Computation, CACM 1990",
        example: "sync = \"bsp\"",
    };
}

impl EventProtocol for Bsp {
    fn gradients_per_update(&self, workers: u32) -> Option<u32> {
        Some(workers)
    }

    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        rounds(floor, floor.stepping.workers, goal)
    }
}

impl Synchronisation for Bsp {
    fn leap(&self, _: &Stationary, leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        let stepping = leap.stepping;
        // A step is seldom drawn by itself.
        let slowest = OnceCell::new();
        let draw = |stream: &mut Stream, given| match given {
            StepCondition::Nothing => {
                let slowest = slowest.get_or_init(|| StepComputeDraws::new(stepping));
                slowest.draw_s(stream)
            }
            StepCondition::Straggler => stepping.draw_slowest_given_s(given, stream),
        };
        let (mut stretch, end) = steps::take_steps(leap, stepping.slowest, draw);
        stretch.gradients = stretch.updates * u64::from(stepping.workers);
        Some((stretch, end))
    }

    fn expected_update_s(&self, step_s: f64) -> Option<f64> {
        Some(step_s)
    }
}

/// Steps that end at arrival number `needed` of the workers; the others give up and start again with the next step.
pub(super) fn rounds(
    floor: &mut Floor<'_>,
    needed: u32,
    goal: Goal,
) -> Result<Stretch, StalledJob> {
    let (queue, drift, stepping, stream, _, log) = floor.parts();
    let mut draws = Draws::new(stepping);
    let late = u64::from(stepping.workers - needed);
    let (mut finished, mut step_start) = (0, queue.now());
    let mut stretch = Stretch::from(step_start);
    // Of all machines together.
    let (mut worked_ns, mut step_ns, mut wasted_s) = (0.0, 0, 0.0);
    start_step(queue, stepping, &mut draws, stream, log);
    while let Some(event) = queue.advance_until(goal.until) {
        match event {
            Event::WorkerFinished => {
                finished += 1;
                step_ns += (queue.now() - step_start).nanoseconds();
                if finished == needed {
                    let waited_s = (queue.now() - step_start).seconds();
                    if late > 0 {
                        queue.retain(|event| !event.is_step());
                        wasted_s += late as f64 * waited_s;
                    }
                    let (network, _) = drift.factor_at(queue.now());
                    let communication_s = stepping.communication_s * network;
                    stretch.advance.compute_s += waited_s;
                    stretch.advance.communication_s += communication_s;
                    let communication = SimTime::from_seconds(communication_s);
                    log.barrier(needed, queue.now(), queue.now() + communication);
                    queue.after(communication, Event::StepComplete);
                }
            }
            Event::StepComplete => {
                worked_ns += step_ns as f64;
                stretch.gradients += u64::from(needed);
                stretch.dropped += late;
                let is_last = stretch.update(queue.now(), &goal);
                log.step(stretch.updates, queue.now());
                if is_last {
                    log.end(stretch.updates, queue.now());
                    stretch.waste(wasted_s, worked_ns / 1e9);
                    return Ok(stretch);
                }
                (finished, step_ns, step_start) = (0, 0, queue.now());
                start_step(queue, stepping, &mut draws, stream, log);
            }
            _ => {}
        }
    }
    if queue.is_empty() {
        return Err(StalledJob { at: queue.now() });
    }
    give_up(queue, goal.until);
    log.end(stretch.updates, goal.until);
    stretch.waste(wasted_s, worked_ns / 1e9);
    Ok(stretch)
}

/// All workers begin together: their times are drawn in one go, before any of them enters the queue.
#[inline]
fn start_step(
    queue: &mut Queue<Event>,
    stepping: &Stepping,
    draws: &mut Draws<'_>,
    stream: &mut Stream,
    log: &mut Log,
) {
    let start = queue.now();
    queue.together((0..stepping.workers).map(|worker| {
        let compute = draws.worker(worker, stream);
        log.computes(worker, start + compute);
        (compute, Event::WorkerFinished)
    }));
}
