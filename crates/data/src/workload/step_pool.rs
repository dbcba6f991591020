use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::law::PooledLaw;
use super::law::free_pooled::FREE;
use super::law::prior::Prior;
use super::residual::{Place, Ratio, Residual};
use super::step::StepCost;
use crate::configuration::{Configuration, Shape};
use scavsim_base::rng;
use scavsim_base::stats::normal;

/// A pooled law with the measurements around it.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    law: PooledLaw,
    residual: Residual,
    measured: Vec<Configuration>,
    /// VMs of each measured placement, and workers on each.
    placed: Vec<(u32, f64)>,
    found: ResidualCache,
}

/// Answers of the residual by place; each takes a decomposition, and stand-ins, checks and runs ask again. Copies share it.
#[derive(Debug, Clone, Default)]
struct ResidualCache(Arc<RwLock<HashMap<Key, (f64, f64)>>>);

/// Placement, workers and batch.
type Key = (u64, u32, u32);

const MOST_FOUND: usize = 100_000;

/// Standard deviation of ln(seconds) on several VMs where only one was measured: networks differ from an eighth of a step to the
/// double of it.
const UNSEEN_SEVERAL: f64 = 0.6;
/// Likewise on one VM where only several were, which take no less.
const UNSEEN_ONE: f64 = 0.4;

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
    place_in(&shape, at.workers, at.local_batch())
}

fn place_in(shape: &Shape<'_>, workers: u32, local_batch: f64) -> Option<(u32, Place)> {
    let vms = shape.vms(workers)?;
    let fullest = shape.layout(workers).into_iter().map(|run| run.0).max()?;
    let placement = rng::mix(rng::identity(shape.suffix), u64::from(workers));
    let place = Place::new(vms, workers, fullest, local_batch, placement);
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
        let measured: Vec<Configuration> = (points.clone())
            .filter(|(c, _)| vm_type == crate::configuration::vm_type(&c.vm))
            .map(|(c, _)| c.clone())
            .collect();
        let per_vm = |c: &Configuration| {
            let (vms, _) = place(c)?;
            Some((vms, f64::from(c.workers) / f64::from(vms)))
        };
        let prior = law.form().map(Prior::for_form);
        let ratios = points.filter_map(ratio).collect();
        Pool {
            law,
            placed: measured.iter().filter_map(per_vm).collect(),
            measured,
            residual: Residual::new(law.residual, ratios, prior.as_ref()),
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
            let (mean, deviation) = (self.residual).mean_and_sd_at(&place, &gradient(law, vms, at));
            let mean = self.nearer(at, vms).map_or(mean, |nearer| {
                (self.residual).mean_and_sd_at(&nearer, &[0.0; FREE]).0
            });
            (mean, self.believable_sd(vms == 1, deviation))
        });
        let least = self.fewest_on_several(at, vms).and_then(|few| {
            let (cost, _) = self.cost_at(&few, compute_scale, network_scale)?;
            let bound_s = cost.total_s() * libm::exp(-0.5 * deviation * deviation);
            Some(libm::log(bound_s / by_law.total_s()))
        });
        let mean = least.map_or(mean, |least| mean.min(least));
        let ratio = libm::exp(mean);
        let cost = StepCost {
            compute_s: by_law.compute_s * ratio,
            communication_s: by_law.communication_s * ratio,
        };
        Some((cost, deviation))
    }

    /// Where `at` has more VMs than were measured, the most that were, with as many workers on each: what is known of them stays, so
    /// that no step falls as VMs are added beyond them.
    fn nearer(&self, at: &Configuration, vms: u32) -> Option<Place> {
        let each = f64::from(at.workers) / f64::from(vms);
        let most = |least: f64| {
            let as_full = self.placed.iter().filter(|(_, own)| *own >= least - 1e-9);
            as_full.map(|(vms, _)| *vms).max()
        };
        let most = most(each).or_else(|| most(0.0))?;
        if !self.law.inside || most >= vms || !at.workers.is_multiple_of(vms) {
            return None;
        }
        let shape = Shape::parse(&at.vm).ok()?;
        let (_, nearer) = place_in(&shape, at.workers / vms * most, at.local_batch())?;
        Some(nearer)
    }

    /// Where `at` is one VM and none was measured, as many workers on each of the fewest that were: one VM takes no longer.
    fn fewest_on_several(&self, at: &Configuration, vms: u32) -> Option<Configuration> {
        let few = self.placed.iter().map(|(vms, _)| *vms).min()?;
        (self.law.inside && vms == 1 && few > 1).then(|| Configuration {
            vm: Arc::clone(&at.vm),
            workers: at.workers * few,
            batch: at.batch * few,
        })
    }

    /// Where nothing was measured: 90 % intervals are at least as wide as the error of what was left out; and where nothing was
    /// on one VM, or nothing on several, nobody knows the communication there. One VM takes no longer than several, which is
    /// known then.
    fn believable_sd(&self, is_one_vm: bool, sd: f64) -> f64 {
        let left_out = libm::log(1.0 + self.law.left_out) / normal::AT_95;
        let is_seen = |(vms, _): &(u32, f64)| (*vms == 1) == is_one_vm;
        if !self.law.inside || self.placed.iter().any(is_seen) {
            sd.max(left_out)
        } else if is_one_vm {
            UNSEEN_ONE.max(left_out)
        } else {
            sd.max(left_out).max(UNSEEN_SEVERAL)
        }
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
        let mut found =
            (self.residual).covariances(&places, |at| own.get(&key(at)).copied().unwrap_or(0.0));
        let count = places.len();
        let wider = |i: usize| {
            let sd = found[i * count + i].max(1e-12).sqrt();
            if own.contains_key(&key(&places[i].0)) {
                1.0
            } else {
                self.believable_sd(places[i].0.one_vm, sd) / sd
            }
        };
        let wider: Vec<f64> = (0..count).map(wider).collect();
        for (at, covariance) in found.iter_mut().enumerate() {
            *covariance *= wider[at / count] * wider[at % count];
        }
        found
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
