//! Tables by rounded rates and prices, shared by the lives of a thread: equal whichever life made them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::table::{Table, Terms};

/// Ratio of neighbouring rounded rates.
const RATE_STEP: f64 = 1.12;
/// Ratio of neighbouring rounded prices.
const PRICE_STEP: f64 = 1.05;
/// Ratio to the rounded rate beyond which it is rounded anew: three quarters of a step; half a step would alternate.
const RATE_STAYS: f64 = 1.088;
const PRICE_STAYS: f64 = 1.0375;
const MOST_VALUES: usize = 8_000_000;

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
pub(super) struct Key {
    /// Spot price over on-demand price.
    ratio: i32,
    losses: i32,
    returns: i32,
    shape: [u64; 7],
}

/// Ratios that choose a table: spot price over on-demand price, and rates of losses and returns over the prior's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratios {
    pub(super) ratio: f64,
    pub(super) losses: f64,
    pub(super) returns: f64,
}

impl Ratios {
    fn times(self, price: f64, rate: f64) -> Ratios {
        Ratios {
            ratio: self.ratio * price,
            losses: self.losses * rate,
            returns: self.returns * rate,
        }
    }
}

/// A key with its terms and their limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundedTerms {
    key: Key,
    shape: Shape,
    middle: Ratios,
    least: Ratios,
    most: Ratios,
}

fn steps(value: f64, step: f64) -> i32 {
    (libm::log(value.max(1e-9)) / libm::log(step)).round() as i32
}

fn value(steps: i32, step: f64) -> f64 {
    libm::exp(f64::from(steps) * libm::log(step))
}

impl RoundedTerms {
    pub(super) fn new(ratios: Ratios, shape: Shape) -> RoundedTerms {
        let [a, b] = shape.run_h;
        let [c, d] = shape.pause_h;
        let lengths = [a, b, c, d, shape.changeover_h, shape.work_h, shape.slack_h];
        let key = Key {
            ratio: steps(ratios.ratio, PRICE_STEP),
            losses: steps(ratios.losses, RATE_STEP),
            returns: steps(ratios.returns, RATE_STEP),
            shape: lengths.map(f64::to_bits),
        };
        let middle = Ratios {
            ratio: value(key.ratio, PRICE_STEP),
            losses: value(key.losses, RATE_STEP),
            returns: value(key.returns, RATE_STEP),
        };
        RoundedTerms {
            key,
            shape,
            middle,
            least: middle.times(1.0 / PRICE_STAYS, 1.0 / RATE_STAYS),
            most: middle.times(PRICE_STAYS, RATE_STAYS),
        }
    }

    /// Whether these ratios keep the same table.
    pub(super) fn covers(&self, ratios: Ratios) -> bool {
        let (least, most) = (&self.least, &self.most);
        (least.ratio..=most.ratio).contains(&ratios.ratio)
            && (least.losses..=most.losses).contains(&ratios.losses)
            && (least.returns..=most.returns).contains(&ratios.returns)
    }

    pub(super) fn terms(&self) -> Terms {
        let (middle, shape) = (&self.middle, &self.shape);
        Terms {
            ratio: middle.ratio,
            losses_per_h: shape.run_h.map(|hours| middle.losses / hours),
            returns_per_h: shape.pause_h.map(|hours| middle.returns / hours),
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
    use super::{Ratios, RoundedTerms, Shape};

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
            let ratios = Ratios {
                ratio: 0.3 * 1.003_f64.powi(at),
                losses,
                returns: 1.0 / losses,
            };
            let rounded = RoundedTerms::new(ratios, shape);
            assert!(rounded.covers(ratios), "{ratios:?}");
            // A half of a step, and a quarter of one more.
            assert!((rounded.middle.losses / losses).ln().abs() <= 0.5001 * 1.12_f64.ln());
            for (by, holds) in [(1.087, true), (1.0 / 1.087, true), (1.09, false)] {
                let moved = rounded.middle.times(1.0, by);
                assert_eq!(rounded.covers(moved), holds, "{by}");
            }
        }
    }
}
