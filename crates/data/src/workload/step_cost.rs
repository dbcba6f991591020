//! Seconds per synchronous step: compute and exposed communication, from a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::compute_by_batch::ComputeByLocalBatch;
use super::law::Laws;
use super::origin::Provenance;
use super::step::StepCost;
use super::step_errors::StepErrors;
use super::step_pool::Pool;
use super::step_surface::Surface;
use crate::configuration::{Configuration, Shape};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepMeasured {
    /// At the barrier: it already contains the wait for the slowest worker.
    Barrier,
    /// In one worker: the wait for the slowest comes on top.
    Worker,
}

#[derive(Debug, Clone)]
pub struct StepRow {
    pub vm: Arc<str>,
    pub workers: u32,
    pub batch: u32,
    pub step_s: f64,
    /// Seconds of exposed communication in it, where known.
    pub communication_s: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SplitError {
    #[error(
        "no row for `{0}` has `communication_s`, so compute and communication cannot be separated"
    )]
    NoSplit(Arc<str>),
    #[error("the compute time derived for {0} is {1:.3} s, not below its step of {2:.3} s")]
    ComputeExceedsStep(Box<Configuration>, f64, f64),
}

/// Standard deviation of ln(predicted/true) where nothing tells it. No measurement: a law that is not fitted is off by 15 %.
pub const UNTOLD: f64 = 0.15;

#[derive(Debug, Clone)]
pub struct StepCosts {
    pub measured: StepMeasured,
    tables: Vec<Table>,
    /// By VM type, where one law holds for all its shapes.
    pools: BTreeMap<String, Pool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Communication {
    /// Communication has its time, in one row per VM shape at least.
    #[default]
    Known,
    /// Nothing: a step counts as one piece of compute.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownStep {
    pub cost: StepCost,
    pub provenance: Provenance,
    pub deviation: Option<f64>,
}

#[derive(Debug, Clone)]
struct Table {
    vm: Arc<str>,
    /// By workers, then batch.
    points: Vec<(Configuration, StepCost)>,
    surface: Surface,
    errors: StepErrors,
}

impl StepCosts {
    /// From measured rows, and laws for what lies between and beyond them. Where only the whole step is known, compute is the
    /// function of the local batch that rows with a known split show, and communication the rest; [`SplitError`] when that is
    /// impossible. With [`Communication::Unknown`] all is compute.
    pub fn new(
        mut rows: Vec<StepRow>,
        measured: StepMeasured,
        communication: Communication,
        laws: &Laws,
    ) -> Result<Self, SplitError> {
        rows.sort_by(|a, b| (&a.vm, a.workers, a.batch).cmp(&(&b.vm, b.workers, b.batch)));
        let tables = rows
            .chunk_by(|a, b| a.vm == b.vm)
            .map(|rows| Table::new(rows, communication, laws))
            .collect::<Result<Vec<_>, _>>()?;
        let pools = (laws.pooled.iter())
            .map(|(vm_type, law)| {
                let points = tables.iter().flat_map(|t| &t.points);
                (vm_type.clone(), Pool::new(vm_type, *law, points))
            })
            .collect();
        Ok(StepCosts {
            measured,
            tables,
            pools,
        })
    }

    /// The measured value at a measured point; between points by the pooled law with its residual, by ln(measured/law) of a
    /// law of the shape, or by ln(seconds). `None` outside the hull.
    pub fn cost_at(&self, at: &Configuration) -> Option<(StepCost, Provenance)> {
        self.known(at).map(|known| (known.cost, known.provenance))
    }

    pub fn known(&self, at: &Configuration) -> Option<KnownStep> {
        let table = self.table(&at.vm)?;
        let pool = self.pool(at);
        if let Some(cost) = table.measured(at) {
            return Some(KnownStep {
                cost,
                provenance: Provenance::Measured,
                deviation: pool.map(Pool::repeat),
            });
        }
        if !table.surface.surrounds(at) {
            return None;
        }
        let (cost, deviation) = match pool.and_then(|pool| pool.cost_at(at, 1.0, 1.0)) {
            Some((cost, deviation)) => {
                let shared = table.surface.share(at, cost.total_s());
                (shared.unwrap_or(cost), Some(deviation))
            }
            None => (table.surface.inside(at)?, table.errors.inside),
        };
        Some(KnownStep {
            cost,
            provenance: Provenance::Interpolated,
            deviation,
        })
    }

    /// Whether [`Self::known`] has an answer, without what makes it dear.
    pub(super) fn knows(&self, at: &Configuration) -> bool {
        let Some(table) = self.table(&at.vm) else {
            return false;
        };
        if table.measured(at).is_some() {
            return true;
        }
        let by_law = || self.pool(at).is_some_and(|pool| pool.knows(at));
        table.surface.surrounds(at) && (by_law() || table.surface.inside(at).is_some())
    }

    /// The cost outside the hull: by law, joined to measurements at their edge, compute and communication scaled.
    pub fn beyond(
        &self,
        at: &Configuration,
        compute_scale: f64,
        network_scale: f64,
    ) -> Option<KnownStep> {
        let table = self.table(&at.vm);
        let pooled = self.pool(at).and_then(|pool| {
            let (cost, deviation) = pool.cost_at(at, compute_scale, network_scale)?;
            let unscaled = compute_scale == 1.0 && network_scale == 1.0;
            let share = table.filter(|_| unscaled);
            let shared = share.and_then(|t| t.surface.share(at, cost.total_s()));
            Some((shared.unwrap_or(cost), Some(deviation)))
        });
        let (cost, deviation) = match (pooled, table) {
            (Some(found), _) => found,
            (None, Some(table)) => {
                let cost = table.surface.beyond(at, compute_scale, network_scale)?;
                (cost, table.errors.beyond)
            }
            (None, None) => return None,
        };
        Some(KnownStep {
            cost,
            provenance: Provenance::Extrapolated,
            deviation,
        })
    }

    /// Like [`Self::beyond`] for a step measured as one piece, split by the pooled law; `None` where its parts are known or
    /// no law splits it.
    pub(super) fn parted(
        &self,
        at: &Configuration,
        compute_scale: f64,
        network_scale: f64,
    ) -> Option<KnownStep> {
        let whole = self.table(&at.vm)?.measured(at)?.communication_s == 0.0 && at.workers > 1;
        let (cost, deviation) =
            self.pool(at)
                .filter(|_| whole)?
                .cost_at(at, compute_scale, network_scale)?;
        Some(KnownStep {
            cost,
            provenance: Provenance::Extrapolated,
            deviation: Some(deviation),
        })
    }

    /// Covariances of the errors of ln(seconds) of what is said of `configurations`, by rows; `own` is the variance of the
    /// own error of a measured one. Those of VM types without a law for all shapes are as far off as [`UNTOLD`] says, each for itself.
    pub fn covariances(
        &self,
        configurations: &[Configuration],
        own: &dyn Fn(&Configuration) -> f64,
    ) -> Vec<f64> {
        let n = configurations.len();
        let mut all = vec![0.0; n * n];
        for (i, at) in configurations.iter().enumerate() {
            let variance = if self.table(&at.vm).is_some_and(|t| t.measured(at).is_some()) {
                own(at)
            } else {
                UNTOLD * UNTOLD
            };
            all[i * n + i] = variance;
        }
        for (vm_type, pool) in &self.pools {
            let is_own =
                |c: &Configuration| Shape::parse(&c.vm).is_ok_and(|s| s.vm_type == vm_type);
            let places: Vec<usize> = (0..n)
                .filter(|&i| is_own(&configurations[i]) && pool.knows(&configurations[i]))
                .collect();
            let known: Vec<&Configuration> = places.iter().map(|&i| &configurations[i]).collect();
            let covariances = pool.covariances(&known, own);
            for (row, &i) in places.iter().enumerate() {
                for (column, &j) in places.iter().enumerate() {
                    all[i * n + j] = covariances[row * places.len() + column];
                }
            }
        }
        all
    }

    pub fn shapes(&self) -> impl Iterator<Item = &Arc<str>> {
        self.tables.iter().map(|t| &t.vm)
    }

    pub fn points_of(&self, vm: &str) -> &[(Configuration, StepCost)] {
        self.table(vm).map_or(&[], |t| &t.points)
    }

    pub fn points(&self) -> impl Iterator<Item = &(Configuration, StepCost)> {
        self.tables.iter().flat_map(|t| &t.points)
    }

    /// The measured configuration of the same VM type nearest to `to`, by relative distance in workers and batch.
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

    fn pool(&self, at: &Configuration) -> Option<&Pool> {
        if self.pools.is_empty() {
            return None;
        }
        self.pools.get(Shape::parse(&at.vm).ok()?.vm_type)
    }
}

impl Table {
    fn new(
        rows: &[StepRow],
        communication: Communication,
        laws: &Laws,
    ) -> Result<Self, SplitError> {
        let vm = &rows[0].vm;
        let configuration = |r: &StepRow| Configuration {
            vm: Arc::clone(vm),
            workers: r.workers,
            batch: r.batch,
        };
        let unknown = communication == Communication::Unknown;
        // A single worker has nobody to talk to.
        let known =
            |r: &StepRow| (r.communication_s).or((unknown || r.workers == 1).then_some(0.0));
        let split: Vec<(f64, f64)> = rows
            .iter()
            .filter_map(|r| Some((configuration(r).local_batch(), r.step_s - known(r)?)))
            .collect();
        let compute =
            ComputeByLocalBatch::new(split).ok_or_else(|| SplitError::NoSplit(Arc::clone(vm)))?;

        let mut points = Vec::with_capacity(rows.len());
        for row in rows {
            let at = configuration(row);
            let communication_s = match known(row) {
                Some(seconds) => seconds,
                None => row.step_s - compute.seconds_at(at.local_batch()),
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
        let law = laws.steps.get(&**vm).copied();
        let pooled = Shape::parse(vm).is_ok_and(|s| laws.pooled.contains_key(s.vm_type));
        Ok(Table {
            vm: Arc::clone(vm),
            surface: Surface::new(&points, law),
            errors: if pooled {
                StepErrors::default()
            } else {
                StepErrors::from_points(&points, law)
            },
            points,
        })
    }

    fn measured(&self, at: &Configuration) -> Option<StepCost> {
        let key = (at.workers, at.batch);
        let place = self
            .points
            .binary_search_by_key(&key, |(c, _)| (c.workers, c.batch));
        place.ok().map(|place| self.points[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;

    fn row(workers: u32, batch: u32, step_s: f64, communication_s: Option<f64>) -> StepRow {
        StepRow {
            vm: "vm".into(),
            workers,
            batch,
            step_s,
            communication_s,
        }
    }

    fn test_configuration(workers: u32, batch: u32) -> Configuration {
        Configuration {
            vm: "vm".into(),
            workers,
            batch,
        }
    }

    fn costs(rows: Vec<StepRow>, communication: Communication) -> Result<StepCosts, SplitError> {
        let (measured, laws) = (StepMeasured::Barrier, Laws::default());
        StepCosts::new(rows, measured, communication, &laws)
    }

    /// Steps of two and four workers at batches of 64 and 128.
    fn square(row: impl FnMut((u32, u32)) -> StepRow) -> StepCosts {
        let rows = [(2, 64), (2, 128), (4, 64), (4, 128)].map(row);
        costs(rows.to_vec(), Communication::Known).expect("a split at four workers")
    }

    /// Compute 0.1 + 0.02 b; communication 0.01 K; the split is known at K = 4 only.
    fn linear() -> StepCosts {
        let step = |k: u32, b: u32| 0.1 + 0.02 * f64::from(b) / f64::from(k) + 0.01 * f64::from(k);
        square(|(k, b)| row(k, b, step(k, b), (k == 4).then_some(0.04)))
    }

    #[test]
    fn a_missing_split_is_derived_from_the_local_batch_also_beyond_its_range() {
        for (configuration, cost) in linear().points() {
            let expected = 0.01 * f64::from(configuration.workers);
            near(cost.communication_s, expected, 1e-12);
        }
    }

    /// Compute 0.02 b, communication 0.01 B/K, so that logarithms are linear in those of K and B.
    #[test]
    fn between_points_a_world_of_powers_is_recovered_and_outside_it_is_refused() {
        let powers = square(|(k, b)| {
            let local = f64::from(b) / f64::from(k);
            row(k, b, 0.03 * local, Some(0.01 * local))
        });
        let (cost, provenance) = powers.cost_at(&test_configuration(3, 96)).expect("inside");
        assert_eq!(provenance, Provenance::Interpolated);
        near(cost.compute_s, 0.64, 1e-12);
        near(cost.communication_s, 0.32, 1e-12);
        assert_eq!(linear().cost_at(&test_configuration(5, 96)), None);
        let nearest = linear().nearest(&test_configuration(5, 120));
        assert_eq!(nearest, Some(test_configuration(4, 128)));
    }

    #[test]
    fn without_any_split_or_with_too_short_a_step_the_table_is_refused() {
        let table = |rows| costs(rows, Communication::Known);
        let none = table(vec![row(2, 64, 1.0, None)]);
        assert!(matches!(none, Err(SplitError::NoSplit(_))));
        let short = table(vec![row(4, 64, 1.0, Some(0.1)), row(2, 32, 0.5, None)]);
        assert!(matches!(short, Err(SplitError::ComputeExceedsStep(..))));
    }

    #[test]
    fn a_step_without_a_split_is_one_piece_between_its_points_too() {
        let rows = vec![row(2, 64, 1.0, None), row(4, 64, 0.6, None)];
        let costs = costs(rows, Communication::Unknown).expect("whole steps");
        let (cost, _) = costs.cost_at(&test_configuration(3, 64)).expect("inside");
        let share = libm::log(1.5) / libm::log(2.0);
        near(cost.compute_s, 0.6_f64.powf(share), 1e-12);
        assert_eq!(cost.communication_s, 0.0);
    }

    #[test]
    fn a_table_measured_at_equal_local_batches_reaches_its_ends_between_worker_counts() {
        let step = |k: u32, b: u32| row(k, k * b, f64::from(b + k), Some(f64::from(k)));
        let rows = vec![step(2, 10), step(2, 20), step(6, 10), step(6, 20)];
        let costs = costs(rows, Communication::Known).expect("a split in every row");
        let smallest = costs.cost_at(&test_configuration(4, 40));
        let (cost, _) = smallest.expect("the smallest local batch");
        let share = libm::log(2.0) / libm::log(3.0);
        near(cost.total_s(), 12.0 * (16.0_f64 / 12.0).powf(share), 1e-12);
    }
}
