//! Which aggregates a run is asked for.

use std::io;

use super::gather::{Gather, Maker, Part, Sink};
use super::key_columns::KeyColumns;
use super::key_groups::KeyTable;
use super::record::Record;
use super::shard::Tasks;
use super::summary::{Group, Summary, SummaryMaker};
use super::summary_by::{SummaryBy, SummaryByMaker, SummaryByPart};
use super::summary_part::SummaryPart;

/// An aggregation under way.
pub enum Aggregation {
    /// By workload, pricing, objective and strategy, with medians and choices.
    Usual(Box<Summary>),
    /// By other columns.
    By(Box<SummaryBy>),
}

/// What the records of one task come to in it.
pub enum AggregationPart {
    /// By workload, pricing, objective and strategy, with medians and choices.
    Usual(SummaryPart),
    /// By other columns.
    By(SummaryByPart),
}

/// Makes parts of one.
pub enum AggregationMaker {
    /// By workload, pricing, objective and strategy, with medians and choices.
    Usual(SummaryMaker),
    /// By other columns.
    By(SummaryByMaker),
}

/// A finished aggregation.
pub enum Aggregated {
    /// By workload, pricing, objective and strategy.
    Usual(Vec<Group>),
    /// By other columns.
    By(KeyTable),
}

impl Aggregation {
    /// By these columns, of a run with these tasks; the usual one without, where every VM type is searched by itself
    /// `across_vms`.
    pub fn of(columns: Option<&KeyColumns>, across_vms: bool, tasks: Tasks) -> Aggregation {
        match columns {
            None => Aggregation::Usual(Box::new(Summary::new(across_vms, tasks))),
            Some(columns) => Aggregation::By(Box::new(SummaryBy::new(columns.clone(), tasks))),
        }
    }

    /// All groups, in order.
    ///
    /// # Errors
    /// More groups than there may be.
    pub fn finish(self) -> io::Result<Aggregated> {
        Ok(match self {
            Aggregation::Usual(summary) => Aggregated::Usual(summary.finish()),
            Aggregation::By(summary) => Aggregated::By(summary.finish()?),
        })
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

impl AggregationPart {
    /// Takes the next record of the task.
    ///
    /// # Errors
    /// None in a task; the signature is that of a group.
    pub fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        match self {
            AggregationPart::Usual(part) => part.take(record),
            AggregationPart::By(part) => part.take(record)?,
        }
        Ok(())
    }
}

impl<'p> Part<'p> for AggregationPart {
    fn take(&mut self, record: Record<'p>) -> io::Result<()> {
        AggregationPart::take(self, &record)
    }
}

impl Maker for AggregationMaker {
    type Part<'p> = AggregationPart;

    fn part<'p>(&self) -> Self::Part<'p> {
        match self {
            AggregationMaker::Usual(maker) => AggregationPart::Usual(maker.part()),
            AggregationMaker::By(maker) => AggregationPart::By(maker.part()),
        }
    }
}

impl Gather for Aggregation {
    type Maker = AggregationMaker;

    fn maker(&self) -> AggregationMaker {
        match self {
            Aggregation::Usual(summary) => AggregationMaker::Usual(summary.maker()),
            Aggregation::By(summary) => AggregationMaker::By(summary.maker()),
        }
    }

    fn merge(&mut self, part: AggregationPart) -> io::Result<()> {
        match (self, part) {
            (Aggregation::Usual(summary), AggregationPart::Usual(part)) => summary.merge(part),
            (Aggregation::By(summary), AggregationPart::By(part)) => summary.merge(part)?,
            _ => return Err(io::Error::other("a part of another kind of summary")),
        }
        Ok(())
    }

    fn rest(&mut self) -> io::Result<()> {
        match self {
            Aggregation::Usual(summary) => summary.rest(),
            Aggregation::By(summary) => summary.rest(),
        }
    }
}
