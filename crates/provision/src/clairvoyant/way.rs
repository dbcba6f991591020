//! What to rent when.

use crate::life::Place;

/// Machines that are rented: where, and for which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rented {
    /// Where, and how.
    pub place: Place,
    /// Number of the form.
    pub form: usize,
}

/// What to rent in each tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// What it has in each tick; `None` where it waits.
    pub ticks: Vec<Option<Rented>>,
    /// USD that it costs in whole ticks.
    pub cost_usd: f64,
}
