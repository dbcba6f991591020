//! Epochs to the target, from a table.

use std::sync::Arc;

use super::grid::{Grid, Point};
use super::origin::{Origin, Provenance};
use super::rows;
use crate::input::csv::Row;
use crate::input::{Diagnostics, Source};

/// One measured number of passes over the data set.
#[derive(Debug, Clone)]
pub struct EpochRow {
    /// Worker count K; `None` where epochs depend on the batch only.
    pub workers: Option<u32>,
    /// Global batch B.
    pub batch: u32,
    /// Epochs to the target.
    pub epochs: f64,
    /// Where the figure comes from.
    pub origin: Origin,
}

/// Epochs to the target over (K, B): linear in 1/√B for each K, linear in K between; or over B
/// alone.
#[derive(Debug, Clone)]
pub struct Epochs {
    rows: Vec<EpochRow>,
    grid: Grid,
    /// Whether epochs depend on the batch only.
    any_workers: bool,
}

/// Place of rows without a worker count.
const ANY: f64 = 0.0;

impl Epochs {
    /// From the measured rows: all with a worker count, or all without.
    pub fn new(mut rows: Vec<EpochRow>) -> Self {
        rows.sort_by_key(|r| (r.workers, r.batch));
        let points: Vec<Point> = rows
            .iter()
            .map(|r| Point {
                workers: r.workers.map_or(ANY, f64::from),
                batch: f64::from(r.batch),
                value: r.epochs,
            })
            .collect();
        Epochs {
            any_workers: rows.iter().all(|r| r.workers.is_none()),
            rows,
            grid: Grid::new(&points, |batch| -1.0 / batch.sqrt()),
        }
    }

    /// Epochs at (`workers`, `batch`); `None` outside the hull.
    pub fn at(&self, workers: u32, batch: u32) -> Option<(f64, Provenance)> {
        if let Some(row) = self.measured(workers, batch) {
            return Some((row.epochs, Provenance::Measured));
        }
        let workers = if self.any_workers {
            ANY
        } else {
            f64::from(workers)
        };
        let epochs = self.grid.at(workers, f64::from(batch))?;
        Some((epochs, Provenance::Interpolated))
    }

    /// The row measured at (`workers`, `batch`).
    pub fn measured(&self, workers: u32, batch: u32) -> Option<&EpochRow> {
        let key = ((!self.any_workers).then_some(workers), batch);
        let place = self
            .rows
            .binary_search_by_key(&key, |r| (r.workers, r.batch));
        place.ok().map(|place| &self.rows[place])
    }

    /// The measured rows, by workers and batch.
    pub fn rows(&self) -> &[EpochRow] {
        &self.rows
    }
}

/// The rows of `epochs.csv`.
pub(super) fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<EpochRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let workers = if row.has("workers") {
            rows::whole(row, "workers", d).map(Some)
        } else {
            Some(None)
        };
        let batch = rows::whole(row, "batch", d);
        let epochs = rows::above_zero(row, "epochs", d);
        let origin = rows::origin(row, source, d);
        Some(EpochRow {
            workers: workers?,
            batch: batch?,
            epochs: epochs?,
            origin: origin?,
        })
    };
    let required = ["batch", "epochs", "origin", "source"];
    rows::read(source, &required, &["workers"], diagnostics, parse, |r| {
        (r.workers, r.batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_of_a_batch_hold_for_any_worker_count() {
        let row = |batch, epochs| EpochRow {
            workers: None,
            batch,
            epochs,
            origin: Origin::Measured,
        };
        let epochs = Epochs::new(vec![row(400, 40.0), row(100, 30.0)]);
        assert_eq!(epochs.at(7, 100), Some((30.0, Provenance::Measured)));
        let (between, provenance) = epochs.at(1, 200).expect("inside");
        assert!(between > 30.0 && between < 40.0);
        assert_eq!(provenance, Provenance::Interpolated);
        assert_eq!(epochs.at(1, 401), None);
    }
}
