//! Seconds per synchronous step: compute and exposed communication, from a table.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::grid::{Grid, Point};
use crate::configuration::Configuration;
use crate::stats::line::{Line, locate};

/// Mean seconds of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepCost {
    /// Forward and backward pass of one worker over its local batch, or of the slowest of all
    /// workers when the step was measured at the barrier.
    pub compute_s: f64,
    /// Communication that compute does not hide.
    pub communication_s: f64,
}

impl StepCost {
    /// Compute and communication, one after the other.
    pub fn total_s(self) -> f64 {
        self.compute_s + self.communication_s
    }
}

/// Where the compute time of a step was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepMeasured {
    /// At the barrier: it already contains the wait for the slowest worker.
    Barrier,
    /// In one worker: the wait for the slowest comes on top.
    Worker,
}

/// One measured step.
#[derive(Debug, Clone)]
pub struct StepRow {
    /// VM type of the workers.
    pub vm: Arc<str>,
    /// Worker count K.
    pub workers: u32,
    /// Global batch B.
    pub batch: u32,
    /// Seconds for the whole step.
    pub step_s: f64,
    /// Seconds of exposed communication in it, where known.
    pub communication_s: Option<f64>,
}

/// Why a table of steps cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// No row of this VM type has a communication time.
    #[error(
        "no row for `{0}` has `communication_s`, so compute and communication cannot be told apart"
    )]
    NoSplit(Arc<str>),
    /// The derived compute time exceeds the step.
    #[error("the compute time derived for {0} is {1:.3} s, not below its step of {2:.3} s")]
    ComputeExceedsStep(Box<Configuration>, f64, f64),
}

/// Measured steps of one workload, per VM type.
#[derive(Debug, Clone)]
pub struct StepCosts {
    /// Where the compute time was measured.
    pub measured: StepMeasured,
    tables: Vec<Table>,
}

#[derive(Debug, Clone)]
struct Table {
    vm: Arc<str>,
    points: Vec<(Configuration, StepCost)>,
    compute: ComputeByLocalBatch,
    communication: Grid,
}

impl StepCosts {
    /// From measured rows.
    ///
    /// Where only the whole step is known, compute is taken as the function of the local batch
    /// that the rows with a known split show, and communication as the rest.
    ///
    /// # Errors
    /// [`SplitError`] when that is impossible.
    pub fn new(rows: &[StepRow], measured: StepMeasured) -> Result<Self, SplitError> {
        let mut vms: Vec<Arc<str>> = rows.iter().map(|r| Arc::clone(&r.vm)).collect();
        vms.sort();
        vms.dedup();
        let tables = vms
            .into_iter()
            .map(|vm| Table::new(vm, rows))
            .collect::<Result<_, _>>()?;
        Ok(StepCosts { measured, tables })
    }

    /// The cost of a step: compute piecewise linear in b, communication bilinear in (K, B);
    /// the measured value itself at a measured point, `None` outside the hull.
    pub fn at(&self, at: &Configuration) -> Option<StepCost> {
        let table = self.table(&at.vm)?;
        if let Some((_, cost)) = table.points.iter().find(|(c, _)| c == at) {
            return Some(*cost);
        }
        let communication = table
            .communication
            .at(f64::from(at.workers), f64::from(at.batch))?;
        Some(StepCost {
            compute_s: table.compute.inside(at.local_batch())?,
            communication_s: communication,
        })
    }

    /// Whether `at` itself was measured.
    pub fn is_measured(&self, at: &Configuration) -> bool {
        self.table(&at.vm)
            .is_some_and(|t| t.points.iter().any(|(c, _)| c == at))
    }

    /// All measured configurations with their costs, by VM type, workers and batch.
    pub fn points(&self) -> impl Iterator<Item = &(Configuration, StepCost)> {
        self.tables.iter().flat_map(|t| &t.points)
    }

    /// The measured configuration of the same VM type nearest to `to`, by relative distance in
    /// workers and batch.
    pub fn nearest(&self, to: &Configuration) -> Option<Configuration> {
        let distance = |c: &Configuration| {
            let apart = |a: u32, b: u32| libm::log(f64::from(a.max(1)) / f64::from(b.max(1))).abs();
            apart(c.workers, to.workers) + apart(c.batch, to.batch)
        };
        self.table(&to.vm)?
            .points
            .iter()
            .map(|(c, _)| c)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .cloned()
    }

    fn table(&self, vm: &str) -> Option<&Table> {
        self.tables.iter().find(|t| &*t.vm == vm)
    }
}

impl Table {
    fn new(vm: Arc<str>, rows: &[StepRow]) -> Result<Self, SplitError> {
        let mut rows: Vec<&StepRow> = rows.iter().filter(|r| r.vm == vm).collect();
        rows.sort_by_key(|r| (r.workers, r.batch));
        let configuration = |r: &StepRow| Configuration {
            vm: Arc::clone(&r.vm),
            workers: r.workers,
            batch: r.batch,
        };
        // A single worker has nobody to talk to.
        let known = |r: &StepRow| r.communication_s.or((r.workers == 1).then_some(0.0));
        let split: Vec<(f64, f64)> = rows
            .iter()
            .filter_map(|r| Some((configuration(r).local_batch(), r.step_s - known(r)?)))
            .collect();
        let compute =
            ComputeByLocalBatch::new(split).ok_or_else(|| SplitError::NoSplit(Arc::clone(&vm)))?;

        let mut points = Vec::with_capacity(rows.len());
        for row in rows {
            let at = configuration(row);
            let communication_s = match known(row) {
                Some(seconds) => seconds,
                None => row.step_s - compute.at(at.local_batch()),
            };
            if communication_s < 0.0 {
                let compute_s = row.step_s - communication_s;
                return Err(SplitError::ComputeExceedsStep(
                    Box::new(at),
                    compute_s,
                    row.step_s,
                ));
            }
            let cost = StepCost {
                compute_s: row.step_s - communication_s,
                communication_s,
            };
            points.push((at, cost));
        }
        let communication = Grid::new(
            &points
                .iter()
                .map(|(c, cost)| Point {
                    workers: f64::from(c.workers),
                    batch: f64::from(c.batch),
                    value: cost.communication_s,
                })
                .collect::<Vec<_>>(),
            |batch| batch,
        );
        let compute = ComputeByLocalBatch::new(
            points
                .iter()
                .map(|(c, cost)| (c.local_batch(), cost.compute_s))
                .collect(),
        )
        .unwrap_or(compute);
        Ok(Table {
            vm,
            points,
            compute,
            communication,
        })
    }
}

/// Compute seconds as a piecewise-linear function of the local batch.
#[derive(Debug, Clone)]
struct ComputeByLocalBatch {
    local_batch: Vec<f64>,
    seconds: Vec<f64>,
    slope: f64,
}

impl ComputeByLocalBatch {
    /// From (local batch, seconds) in any order; equal local batches are averaged. `None` if empty.
    fn new(mut points: Vec<(f64, f64)>) -> Option<Self> {
        let slope = Line::fit(points.iter().copied())?.slope;
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (local_batch, seconds) = points
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| {
                let sum: f64 = same.iter().map(|p| p.1).sum();
                (same[0].0, sum / same.len() as f64)
            })
            .unzip();
        Some(ComputeByLocalBatch {
            local_batch,
            seconds,
            slope,
        })
    }

    fn inside(&self, b: f64) -> Option<f64> {
        let (left, share) = locate(&self.local_batch, b)?;
        Some(match self.seconds.get(left + 1) {
            Some(right) => self.seconds[left] + share * (right - self.seconds[left]),
            None => self.seconds[left],
        })
    }

    /// Inside the table as [`Self::inside`]; outside, from the end point on with the slope of the
    /// least-squares line through all points, which a bend in the last segment does not upset.
    fn at(&self, b: f64) -> f64 {
        let last = self.seconds.len() - 1;
        self.inside(b).unwrap_or_else(|| {
            let end = if b < self.local_batch[0] { 0 } else { last };
            self.seconds[end] + self.slope * (b - self.local_batch[end])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(workers: u32, batch: u32, step_s: f64, communication_s: Option<f64>) -> StepRow {
        StepRow {
            vm: "vm".into(),
            workers,
            batch,
            step_s,
            communication_s,
        }
    }

    fn at(workers: u32, batch: u32) -> Configuration {
        Configuration {
            vm: "vm".into(),
            workers,
            batch,
        }
    }

    /// Compute 0.1 + 0.02 b; communication 0.01 K; the split is known at K = 4 only.
    fn linear() -> StepCosts {
        let step = |k: u32, b: u32| 0.1 + 0.02 * f64::from(b) / f64::from(k) + 0.01 * f64::from(k);
        let rows: Vec<StepRow> = [(2, 64), (2, 128), (4, 64), (4, 128)]
            .into_iter()
            .map(|(k, b)| row(k, b, step(k, b), (k == 4).then_some(0.04)))
            .collect();
        StepCosts::new(&rows, StepMeasured::Barrier).expect("a split at four workers")
    }

    #[test]
    fn a_missing_split_is_derived_from_the_local_batch_also_beyond_its_range() {
        for (configuration, cost) in linear().points() {
            let expected = 0.01 * f64::from(configuration.workers);
            assert!(
                (cost.communication_s - expected).abs() < 1e-12,
                "{configuration}"
            );
        }
    }

    #[test]
    fn between_points_the_linear_world_is_recovered_and_outside_it_is_refused() {
        let cost = linear().at(&at(3, 96)).expect("inside");
        assert!((cost.compute_s - 0.74).abs() < 1e-12);
        assert!((cost.communication_s - 0.03).abs() < 1e-12);
        assert_eq!(linear().at(&at(5, 96)), None);
        assert_eq!(linear().nearest(&at(5, 120)), Some(at(4, 128)));
    }

    #[test]
    fn without_any_split_or_with_too_short_a_step_the_table_is_refused() {
        let none = StepCosts::new(&[row(2, 64, 1.0, None)], StepMeasured::Barrier);
        assert!(matches!(none, Err(SplitError::NoSplit(_))));
        let rows = [row(4, 64, 1.0, Some(0.1)), row(2, 32, 0.5, None)];
        let short = StepCosts::new(&rows, StepMeasured::Barrier);
        assert!(matches!(short, Err(SplitError::ComputeExceedsStep(..))));
    }
}
