//! Which aggregates a run is asked for.

use std::io;

use super::record::Record;
use super::run::Sink;
use super::summary::{Group, Summary};
use super::summary_by::{KeyColumns, KeyTable, SummaryBy};

/// An aggregation under way.
pub enum Aggregation {
    /// By workload, pricing, objective and strategy, with medians and choices.
    Usual(Summary),
    /// By other columns.
    By(SummaryBy),
}

/// A finished aggregation.
pub enum Aggregated {
    /// By workload, pricing, objective and strategy.
    Usual(Vec<Group>),
    /// By other columns.
    By(KeyTable),
}

impl Aggregation {
    /// By these columns; the usual one without, where every VM type is searched by itself `across_vms`.
    pub fn of(columns: Option<&KeyColumns>, across_vms: bool) -> Aggregation {
        match columns {
            None => Aggregation::Usual(Summary::new(across_vms)),
            Some(columns) => Aggregation::By(SummaryBy::new(columns.clone())),
        }
    }

    /// All groups, in order.
    pub fn finish(self) -> Aggregated {
        match self {
            Aggregation::Usual(summary) => Aggregated::Usual(summary.finish()),
            Aggregation::By(summary) => Aggregated::By(summary.finish()),
        }
    }
}

impl Default for Aggregation {
    fn default() -> Self {
        Aggregation::of(None, false)
    }
}

impl Sink for Aggregation {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        match self {
            Aggregation::Usual(summary) => summary.take(record),
            Aggregation::By(summary) => summary.take(record),
        }
    }
}
