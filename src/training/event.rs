//! Fidelity `event`: each worker's step is an event. The reference for the other two.

use super::drift::DriftPath;
use super::progress::{Advance, Event, Stalled};
use super::stepping::Stepping;
use super::sync::{Goal, bsp};
use crate::engine::Queue;
use crate::rng::Stream;

/// Trains `steps` synchronous steps and notes when the first `mark` of them were complete.
///
/// # Errors
/// [`Stalled`] when the clock has nothing to wait for.
pub fn advance(
    queue: &mut Queue<Event>,
    drift: &mut DriftPath,
    stepping: &Stepping,
    steps: u64,
    mark: u64,
    stream: &mut Stream,
) -> Result<Advance, Stalled> {
    let goal = Goal {
        mark,
        ..Goal::updates(steps)
    };
    bsp::advance(queue, drift, stepping, goal, stream).map(|stretch| stretch.advance)
}
