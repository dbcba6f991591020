//! Fidelity `event`: each worker's step is an event. The reference for the other two.

use super::floor::Floor;
use super::progress::{Advance, Stalled};
use super::sync::{Goal, bsp};

/// Trains `steps` synchronous steps and notes when the first `mark` of them were complete.
///
/// # Errors
/// [`Stalled`] when the clock has nothing to wait for.
pub fn advance(floor: &mut Floor<'_>, steps: u64, mark: u64) -> Result<Advance, Stalled> {
    let goal = Goal {
        mark,
        ..Goal::updates(steps)
    };
    bsp::advance(floor, goal).map(|stretch| stretch.advance)
}
