//! Tables by rounded rates and prices, shared by the lives of a thread: equal whichever life made them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::table::{Table, Terms};

/// Ratio of neighbouring rounded [`Fractions`]. Learned rates are far less certain than a quarter; prices are known and choose zones.
const STEPS: [f64; 3] = [1.05, 1.25, 1.25];
/// Share of a step from the rounded value beyond which it is rounded anew; half a step would alternate.
const STAYS: f64 = 0.75;
const MOST_VALUES: usize = 9_000_000;

/// Terms of tables that do not change as rates are learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    /// Hours per end of runs and of pauses, young and old, in the prior.
    pub(super) run_h: [f64; 2],
    pub(super) pause_h: [f64; 2],
    pub(super) changeover_h: f64,
    pub(super) work_h: f64,
    pub(super) slack_h: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    steps: [i32; 3],
    shape: [u64; 7],
}

/// What chooses a table, as dividends and divisors: spot price over on-demand price, and rates of losses and of returns over the prior's.
/// Each tick compares them, few divide.
pub(super) type Fractions = [[f64; 2]; 3];

/// A key with its terms and their limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundedTerms {
    key: Key,
    shape: Shape,
    logs: [f64; 3],
    least: [f64; 3],
    most: [f64; 3],
}

impl RoundedTerms {
    pub(super) fn new(now: &Fractions, shape: Shape) -> RoundedTerms {
        let [a, b] = shape.run_h;
        let [c, d] = shape.pause_h;
        let lengths = [a, b, c, d, shape.changeover_h, shape.work_h, shape.slack_h];
        let logs = STEPS.map(libm::log);
        let steps = |at: usize| {
            let [above, below] = now[at];
            (libm::log((above / below).max(1e-9)) / logs[at]).round() as i32
        };
        let key = Key {
            steps: [0, 1, 2].map(steps),
            shape: lengths.map(f64::to_bits),
        };
        let mut rounded = RoundedTerms {
            key,
            shape,
            logs,
            least: [0.0; 3],
            most: [0.0; 3],
        };
        (rounded.least, rounded.most) = (rounded.value(-STAYS), rounded.value(STAYS));
        rounded
    }

    /// The fractions that this is rounded to, and some steps more.
    fn value(&self, more: f64) -> [f64; 3] {
        [0, 1, 2].map(|at| libm::exp((f64::from(self.key.steps[at]) + more) * self.logs[at]))
    }

    /// Whether these fractions keep the same table.
    #[inline]
    pub(super) fn covers(&self, now: &Fractions) -> bool {
        (0..3).all(|at| {
            let [above, below] = now[at];
            self.least[at] * below <= above && above <= self.most[at] * below
        })
    }

    pub(super) fn terms(&self) -> Terms {
        let (shape, [ratio, losses, returns]) = (&self.shape, self.value(0.0));
        Terms {
            ratio,
            losses_per_h: shape.run_h.map(|hours| losses / hours),
            returns_per_h: shape.pause_h.map(|hours| returns / hours),
            changeover_h: shape.changeover_h,
            work_h: shape.work_h,
            slack_h: shape.slack_h,
        }
    }

    pub(super) fn table(&self) -> Arc<Table> {
        SHELF.with_borrow_mut(|shelf| shelf.table(self))
    }
}

#[derive(Debug, Default)]
struct TableCache {
    tables: HashMap<Key, Arc<Table>>,
    values: usize,
}

thread_local! {
    static SHELF: RefCell<TableCache> = RefCell::default();
}

impl TableCache {
    fn table(&mut self, rounded: &RoundedTerms) -> Arc<Table> {
        if let Some(known) = self.tables.get(&rounded.key) {
            return Arc::clone(known);
        }
        let table = Arc::new(Table::new(&rounded.terms(), None));
        if self.values + table.values() > MOST_VALUES {
            self.tables.clear();
            self.values = 0;
        }
        self.values += table.values();
        self.tables.insert(rounded.key, Arc::clone(&table));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::{RoundedTerms, Shape};

    #[test]
    fn figures_are_near_what_they_are_rounded_to_and_keep_it_a_little_longer() {
        let shape = Shape {
            run_h: [3.0, 6.0],
            pause_h: [0.7, 1.0],
            changeover_h: 0.2,
            work_h: 48.0,
            slack_h: 4.0,
        };
        for at in 0..400 {
            let losses = 0.1 * 1.01_f64.powi(at);
            let fractions = |by: f64| [[0.3 * 1.003_f64.powi(at), 1.0], [by, 1.0], [1.0, losses]];
            let rounded = RoundedTerms::new(&fractions(losses), shape);
            assert!(rounded.covers(&fractions(losses)), "{losses}");
            // A half of a step, and a quarter of one more.
            let [_, middle, _] = rounded.value(0.0);
            assert!((middle / losses).ln().abs() <= 0.5001 * 1.25_f64.ln());
            for (share, holds) in [(0.749, true), (-0.749, true), (0.751, false)] {
                let moved = fractions(middle * 1.25_f64.powf(share));
                assert_eq!(rounded.covers(&moved), holds, "{share}");
            }
        }
    }
}
