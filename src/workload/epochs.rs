//! Epochs to the target, from a table.

use super::grid::{Grid, Point};
use super::origin::Origin;

/// One measured number of passes over the data set.
#[derive(Debug, Clone)]
pub struct EpochRow {
    /// Worker count K.
    pub workers: u32,
    /// Global batch B.
    pub batch: u32,
    /// Epochs to the target.
    pub epochs: f64,
    /// Where the figure comes from.
    pub origin: Origin,
}

/// Epochs to the target over (K, B): linear in 1/√B for each K, linear in K between.
#[derive(Debug, Clone)]
pub struct Epochs {
    rows: Vec<EpochRow>,
    grid: Grid,
}

impl Epochs {
    /// From the measured rows.
    pub fn new(rows: Vec<EpochRow>) -> Self {
        let points: Vec<Point> = rows
            .iter()
            .map(|r| Point {
                workers: f64::from(r.workers),
                batch: f64::from(r.batch),
                value: r.epochs,
            })
            .collect();
        Epochs {
            rows,
            grid: Grid::new(&points, |batch| -1.0 / batch.sqrt()),
        }
    }

    /// Epochs at (`workers`, `batch`); `None` outside the hull.
    pub fn at(&self, workers: f64, batch: f64) -> Option<f64> {
        self.grid.at(workers, batch)
    }

    /// The measured rows.
    pub fn rows(&self) -> &[EpochRow] {
        &self.rows
    }
}
