//! Compute times of single workers, drawn in blocks.
//!
//! The draws of a block do not depend on each other, so the processor overlaps them; one by one,
//! with the queue's work between, it cannot.

use crate::rng::Stream;
use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::units::SimTime;

const BLOCK: usize = 16;

/// A supply of compute times in the order of the stream. What is left of a block at the end of a
/// stretch is dropped.
pub(super) struct Draws<'s> {
    stepping: &'s Stepping,
    block: [f64; BLOCK],
    next: usize,
}

impl<'s> Draws<'s> {
    pub(super) fn new(stepping: &'s Stepping) -> Self {
        Draws {
            stepping,
            block: [0.0; BLOCK],
            next: BLOCK,
        }
    }

    /// The compute time of `worker`'s next step.
    #[inline]
    pub(super) fn worker(&mut self, worker: u32, stream: &mut Stream) -> SimTime {
        if self.next == BLOCK {
            self.refill(stream);
        }
        let relative = self.block[self.next];
        self.next += 1;
        let mean_s = match &self.stepping.machines {
            None => self.stepping.worker_s,
            Some(factors) => self.stepping.worker_s * factors[worker as usize],
        };
        SimTime::from_seconds(mean_s * relative)
    }

    #[inline(never)]
    fn refill(&mut self, stream: &mut Stream) {
        for relative in &mut self.block {
            *relative = slowest::draw(1, self.stepping.time, stream);
        }
        self.next = 0;
    }
}
