//! Limits the computation of a figure. An expression above the limit is refused at the place that exceeds it, instead of
//! being computed for ever: the size of a product is not visible in the text.

use std::cell::Cell;

use super::fault::Fault;

/// Steps of a figure: parts evaluated and rows looked at.
const MOST_STEPS: u64 = 100_000_000;
/// Maximum number of values in memory.
const MOST_VALUES: u64 = 10_000_000;
/// Maximum nesting depth, through all functions: what a stack of two MiB holds.
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

    /// Drops the values that were added since there were `kept`.
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
