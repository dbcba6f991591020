use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::law::PooledLaw;
use super::law::free_pooled::FREE;
use super::residual::{Place, Ratio, Residual};
use super::step::StepCost;
use crate::configuration::{Configuration, Shape};
use scavsim_base::rng;

/// A pooled law with the measurements around it.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    law: PooledLaw,
    residual: Residual,
    measured: Vec<Configuration>,
    found: ResidualCache,
}

/// Answers of the residual by place; each takes a decomposition, and stand-ins, checks and runs ask again. Copies share it.
#[derive(Debug, Clone, Default)]
struct ResidualCache(Arc<RwLock<HashMap<Key, (f64, f64)>>>);

/// Placement, workers and batch.
type Key = (u64, u32, u32);

const MOST_FOUND: usize = 100_000;

impl ResidualCache {
    fn get(&self, key: Key, find: impl FnOnce() -> (f64, f64)) -> (f64, f64) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&key) {
            return *known;
        }
        drop(all);
        let answer = find();
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST_FOUND {
            all.insert(key, answer);
        }
        answer
    }
}

/// Where a configuration stands; `None` where its shape is not one of its workers.
pub fn place(at: &Configuration) -> Option<(u32, Place)> {
    let shape = Shape::parse(&at.vm).ok()?;
    let vms = shape.vms(at.workers)?;
    let fullest = shape
        .layout(at.workers)
        .into_iter()
        .map(|run| run.0)
        .max()?;
    let placement = rng::mix(rng::identity(shape.suffix), u64::from(at.workers));
    let place = Place::new(vms, at.workers, fullest, at.local_batch(), placement);
    Some((vms, place))
}

impl Pool {
    pub(super) fn new<'p>(
        vm_type: &str,
        law: PooledLaw,
        points: impl Iterator<Item = &'p (Configuration, StepCost)> + Clone,
    ) -> Self {
        let ratio = |(c, measured): &(Configuration, StepCost)| {
            let of_type = Shape::parse(&c.vm).is_ok_and(|s| s.vm_type == vm_type);
            let (vms, place) = place(c).filter(|_| of_type)?;
            let by_law = law.cost(vms, c.workers, c.local_batch(), 1.0, 1.0)?;
            Some(Ratio {
                place,
                log_ratio: libm::log(measured.total_s() / by_law.total_s()),
                gradient: gradient(&law, vms, c),
            })
        };
        Pool {
            law,
            measured: (points.clone())
                .filter(|(c, _)| vm_type == crate::configuration::vm_type(&c.vm))
                .map(|(c, _)| c.clone())
                .collect(),
            residual: Residual::new(law.residual, points.filter_map(ratio).collect()),
            found: ResidualCache::default(),
        }
    }

    pub(super) fn cost_at(
        &self,
        at: &Configuration,
        compute_scale: f64,
        network_scale: f64,
    ) -> Option<(StepCost, f64)> {
        let (vms, place) = place(at)?;
        let law = &self.law;
        let by_law = law.cost(
            vms,
            at.workers,
            at.local_batch(),
            compute_scale,
            network_scale,
        )?;
        let key = (place.placement, at.workers, at.batch);
        let (mean, deviation) = (self.found).get(key, || {
            self.residual
                .mean_and_sd_at(&place, &gradient(law, vms, at))
        });
        let ratio = libm::exp(mean);
        let cost = StepCost {
            compute_s: by_law.compute_s * ratio,
            communication_s: by_law.communication_s * ratio,
        };
        Some((cost, deviation))
    }

    pub(super) fn knows(&self, at: &Configuration) -> bool {
        let cost = |(vms, _)| self.law.cost(vms, at.workers, at.local_batch(), 1.0, 1.0);
        place(at).and_then(cost).is_some()
    }

    /// Covariances of the errors of ln(seconds) at known configurations, by rows; `own` is a measured one's own variance.
    pub(super) fn covariances(
        &self,
        all: &[&Configuration],
        own: &dyn Fn(&Configuration) -> f64,
    ) -> Vec<f64> {
        let places: Vec<(Place, [f64; FREE])> = (all.iter())
            .filter_map(|at| {
                let (vms, place) = place(at)?;
                Some((place, gradient(&self.law, vms, at)))
            })
            .collect();
        let key = |place: &Place| (place.placement, place.log_batch.to_bits());
        let own: HashMap<(u64, u64), f64> = (self.measured.iter())
            .filter_map(|at| Some((key(&place(at)?.1), own(at))))
            .collect();
        (self.residual).covariances(&places, |at| own.get(&key(at)).copied().unwrap_or(0.0))
    }

    /// What one more measurement of a measured step differs by.
    pub(super) fn repeat(&self) -> f64 {
        self.residual.repeat()
    }
}

/// How ln(seconds) changes with the coefficients of the law; zeros where they are not free.
fn gradient(law: &PooledLaw, vms: u32, at: &Configuration) -> [f64; FREE] {
    let found = law.gradient(vms, at.workers, at.local_batch());
    found.unwrap_or([0.0; FREE])
}
