//! Fidelity `event`: each worker's step is an event. The reference for the other two.

use super::drift::DriftPath;
use super::progress::{Advance, Event, Stalled};
use super::stepping::Stepping;
use crate::engine::Queue;
use crate::rng::Stream;
use crate::units::SimTime;

/// Trains `steps` synchronous steps: all workers start together, the last to finish completes the
/// barrier, the communication follows, and the next step starts.
pub fn advance(
    queue: &mut Queue<Event>,
    drift: &mut DriftPath,
    stepping: &Stepping,
    steps: u64,
    mark: u64,
    stream: &mut Stream,
) -> Result<Advance, Stalled> {
    let mut result = Advance::from(queue.now());
    if steps == 0 {
        return Ok(result);
    }
    let (mut done, mut finished, mut step_start) = (0, 0, queue.now());
    start_step(queue, stepping, stream);
    while let Some(event) = queue.advance() {
        match event {
            Event::WorkerFinished => {
                finished += 1;
                if finished == stepping.workers {
                    let (network, _) = drift.at(queue.now());
                    let communication_s = stepping.communication_s * network;
                    result.compute_s += (queue.now() - step_start).seconds();
                    result.communication_s += communication_s;
                    queue.after(SimTime::from_seconds(communication_s), Event::StepComplete);
                }
            }
            Event::StepComplete => {
                done += 1;
                if done == mark {
                    result.at_mark = queue.now();
                }
                if done == steps {
                    return Ok(result);
                }
                finished = 0;
                step_start = queue.now();
                start_step(queue, stepping, stream);
            }
            Event::VmsReady | Event::Restored | Event::StepsDone => {}
        }
    }
    Err(Stalled { at: queue.now() })
}

/// Workers whose times are drawn before any of them enters the queue. The draws of a block do not
/// depend on each other, so the processor overlaps them; with the queue's work between, it cannot.
const BLOCK: u32 = 16;

fn start_step(queue: &mut Queue<Event>, stepping: &Stepping, stream: &mut Stream) {
    let mut block = [SimTime::ZERO; BLOCK as usize];
    for first in (0..stepping.workers).step_by(BLOCK as usize) {
        let workers = first..stepping.workers.min(first + BLOCK);
        let block = &mut block[..workers.len()];
        for (compute, worker) in block.iter_mut().zip(workers) {
            *compute = SimTime::from_seconds(stepping.draw_worker_s(worker, stream));
        }
        for &compute in &*block {
            queue.after(compute, Event::WorkerFinished);
        }
    }
}
