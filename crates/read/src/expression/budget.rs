//! What a figure may take to compute. One that takes too much is refused at the place where it went too far, rather than
//! computed for ever: the writer of an expression does not see what it multiplies to.

use std::cell::Cell;

use super::fault::Fault;

/// Steps of a figure: parts evaluated and rows looked at.
const MOST_STEPS: u64 = 100_000_000;
/// Values that are kept at once.
const MOST_VALUES: u64 = 10_000_000;
/// Parts inside of parts, through all functions: what a stack of two MiB holds.
const DEEPEST: u32 = 400;

#[derive(Debug, Default)]
pub(super) struct Budget {
    steps: Cell<u64>,
    values: Cell<u64>,
    depth: Cell<u32>,
}

impl Budget {
    pub(super) fn step(&self, count: usize) -> Result<(), Fault> {
        let steps = self.steps.get().saturating_add(count as u64);
        self.steps.set(steps);
        if steps <= MOST_STEPS {
            Ok(())
        } else {
            Err(Fault::Steps(MOST_STEPS))
        }
    }

    pub(super) fn keep(&self, count: usize) -> Result<(), Fault> {
        let values = self.values.get().saturating_add(count as u64);
        self.values.set(values);
        if values <= MOST_VALUES {
            Ok(())
        } else {
            Err(Fault::Values(MOST_VALUES))
        }
    }

    pub(super) fn kept(&self) -> u64 {
        self.values.get()
    }

    pub(super) fn release(&self, count: usize) {
        let values = self.values.get().saturating_sub(count as u64);
        self.values.set(values);
    }

    /// Forgets the values that were kept since there were so many.
    pub(super) fn forget_to(&self, kept: u64) {
        self.values.set(kept);
    }

    pub(super) fn deeper(&self) -> Result<(), Fault> {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() <= DEEPEST {
            Ok(())
        } else {
            Err(Fault::Depth(DEEPEST))
        }
    }

    pub(super) fn higher(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }
}
