use std::sync::Arc;

use super::grid::{Grid, Point};
use super::law::EpochLaw;
use super::origin::{Origin, Provenance};
use super::rows;
use super::spread::Squares;
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostics, Source};

#[derive(Debug, Clone)]
pub struct EpochRow {
    /// Worker count K; `None` where epochs depend on the batch only.
    pub workers: Option<u32>,
    pub batch: u32,
    pub epochs: f64,
    pub origin: Origin,
}

/// Epochs to the target over (K, B), or over B alone: linear in the abscissa of the workload's own law, then linear in K.
/// That abscissa is B where epochs rise with it, by a noise scale, and 1/√B for [`EpochLaw::AffineNoise`] and without a law
/// (Tyagi & Sharma).
#[derive(Debug, Clone)]
pub struct Epochs {
    rows: Vec<EpochRow>,
    grid: Grid,
    errors: Errors,
    any_workers: bool,
}

fn joined(
    grid: &Grid,
    workers: f64,
    batch: f64,
    by_law: &dyn Fn(f64) -> Option<f64>,
) -> Option<f64> {
    let (edge, known) = grid.edge(workers, batch)?;
    Some(by_law(batch)? * known / by_law(edge)?)
}

/// What epochs are linear in, rising with B.
fn abscissa(law: Option<EpochLaw>) -> fn(f64) -> f64 {
    match law {
        Some(
            EpochLaw::NoiseScale { .. } | EpochLaw::Goodput { .. } | EpochLaw::Constant { .. },
        ) => |batch| batch,
        Some(EpochLaw::AffineNoise { .. }) | None => |batch| -1.0 / batch.sqrt(),
    }
}

fn point(row: &EpochRow) -> Point {
    Point {
        workers: row.workers.map_or(ANY, f64::from),
        batch: f64::from(row.batch),
        value: row.epochs,
    }
}

/// Standard deviation of ln(predicted/true) of measured epochs beyond their batches, where nothing can be left out. No measurement: it and
/// its weight are chosen by the coverage of intervals in `cargo bench --bench studies -- advise`.
pub const UNTOLD: f64 = 0.15;
/// Errors that it weighs as much as.
pub const UNTOLD_WEIGHT: u32 = 3;

/// Standard deviations of ln(predicted/measured), each batch left out; `None` where none could be.
#[derive(Debug, Clone, Copy)]
struct Errors {
    inside: Option<f64>,
    /// The first and last batch, by law joined to the others, with [`UNTOLD`] beside them; without a law, by none.
    beyond: Option<f64>,
}

impl Errors {
    fn from_points(
        points: &[Point],
        is_stated: bool,
        abscissa: fn(f64) -> f64,
        by_law: &dyn Fn(f64) -> Option<f64>,
    ) -> Self {
        // What somebody states for all batches is not told by any of them.
        let untold = if is_stated {
            Squares::default()
        } else {
            Squares::assumed(UNTOLD, UNTOLD_WEIGHT)
        };
        let mut squares = [Squares::default(), untold];
        for (out, point) in points.iter().enumerate() {
            let others = points.iter().enumerate().filter(|(i, _)| *i != out);
            let others: Vec<Point> = others.map(|(_, p)| *p).collect();
            let grid = Grid::new(&others, abscissa);
            let (kind, predicted) = match grid.value_at(point.workers, point.batch) {
                Some(predicted) => (0, predicted),
                None => match joined(&grid, point.workers, point.batch, by_law) {
                    Some(predicted) => (1, predicted),
                    None => continue,
                },
            };
            squares[kind].add(predicted, point.value);
        }
        let [inside, beyond] = squares.map(|squares| squares.deviation());
        Errors { inside, beyond }
    }
}

/// Place of rows without a worker count.
const ANY: f64 = 0.0;

impl Epochs {
    /// From the measured rows, all with a worker count or all without; `law`, and what it says by batch.
    pub fn new(
        mut rows: Vec<EpochRow>,
        law: Option<EpochLaw>,
        by_law: &dyn Fn(f64) -> Option<f64>,
    ) -> Self {
        rows.sort_by_key(|r| (r.workers, r.batch));
        let points: Vec<Point> = rows.iter().map(point).collect();
        let abscissa = abscissa(law);
        Epochs {
            any_workers: rows.iter().all(|r| r.workers.is_none()),
            errors: Errors::from_points(
                &points,
                rows.iter().all(|r| r.origin == Origin::Stated),
                abscissa,
                by_law,
            ),
            rows,
            grid: Grid::new(&points, abscissa),
        }
    }

    /// `by_law(B)` joined to what was measured: times measured/law at the nearest measured batch.
    pub fn joined(
        &self,
        workers: u32,
        batch: u32,
        by_law: impl Fn(f64) -> Option<f64>,
    ) -> Option<f64> {
        let workers = if self.any_workers {
            ANY
        } else {
            f64::from(workers)
        };
        joined(&self.grid, workers, f64::from(batch), &by_law)
    }

    /// Standard deviation of the logarithm of epochs obtained like that, where any is known.
    pub fn deviation(&self, provenance: Provenance) -> Option<f64> {
        match provenance {
            Provenance::Measured => None,
            Provenance::Interpolated => self.errors.inside,
            _ => self.errors.beyond,
        }
    }

    /// Epochs at (`workers`, `batch`); `None` outside the hull.
    pub fn epochs_at(&self, workers: u32, batch: u32) -> Option<(f64, Provenance)> {
        if let Some(row) = self.measured(workers, batch) {
            return Some((row.epochs, Provenance::Measured));
        }
        let workers = if self.any_workers {
            ANY
        } else {
            f64::from(workers)
        };
        let epochs = self.grid.value_at(workers, f64::from(batch))?;
        Some((epochs, Provenance::Interpolated))
    }

    pub fn measured(&self, workers: u32, batch: u32) -> Option<&EpochRow> {
        let key = ((!self.any_workers).then_some(workers), batch);
        let place = self
            .rows
            .binary_search_by_key(&key, |r| (r.workers, r.batch));
        place.ok().map(|place| &self.rows[place])
    }

    pub fn rows(&self) -> &[EpochRow] {
        &self.rows
    }
}

pub(super) fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<EpochRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let workers = if row.has("workers") {
            rows::read_count(row, "workers", d).map(Some)
        } else {
            Some(None)
        };
        let batch = rows::read_count(row, "batch", d);
        let epochs = rows::above_zero(row, "epochs", d);
        let origin = rows::origin(row, d);
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
    use crate::tests::{close, near};

    fn row(batch: u32, epochs: f64) -> EpochRow {
        EpochRow {
            workers: None,
            batch,
            epochs,
            origin: Origin::Measured,
        }
    }

    #[test]
    fn epochs_of_a_batch_hold_for_any_worker_count() {
        let epochs = Epochs::new(vec![row(400, 40.0), row(100, 30.0)], None, &|_| None);
        assert_eq!(epochs.epochs_at(7, 100), Some((30.0, Provenance::Measured)));
        let (between, provenance) = epochs.epochs_at(1, 200).expect("inside");
        assert!(between > 30.0 && between < 40.0);
        assert_eq!(provenance, Provenance::Interpolated);
        assert_eq!(epochs.epochs_at(1, 401), None);
    }

    #[test]
    fn epochs_that_rise_by_a_noise_scale_lie_on_a_line_in_the_batch_and_go_on_from_its_end() {
        let law = EpochLaw::NoiseScale {
            base_epochs: 20.0,
            noise_scale_samples: 200.0,
        };
        let by_law = |b: f64| law.epochs(b, None);
        let rows = vec![row(100, 33.0), row(200, 44.0), row(400, 66.0)];
        let epochs = Epochs::new(rows, Some(law), &by_law);
        assert_eq!(epochs.epochs_at(1, 300).map(|e| e.0), Some(55.0));
        // Measured is 1.1 times the law at the end, and so goes on.
        let beyond = epochs.joined(1, 800, by_law).expect("a law");
        near(beyond, 110.0, 1e-9);
        let inside = epochs.deviation(Provenance::Interpolated);
        assert!(inside.is_some_and(|d| d < 1e-9));
        // Two that were left out are met; three are assumed to be off by 15 %, and t has five degrees of freedom.
        let assumed = 0.15 * (3.0_f64 / 5.0).sqrt() * 2.015048 / 1.644854;
        let beyond = epochs.deviation(Provenance::Extrapolated);
        close(beyond.unwrap_or(0.0), assumed, 1e-5);
    }
}
