//! What measurements say beyond a pooled law: a Gaussian process over ln(measured/law), and how sure the law itself is.
//!
//! With u the coefficients of the law, J how ln(law) changes with them, and K the covariance of measurements, u is normal around
//! the fitted ones with the precision H = P + Jᵀ·K⁻¹·J, where P is what was expected before. At a place whose measurements
//! have the covariances k with it, ln(measured/law) has the mean kᵀ·K⁻¹·r and the variance
//! k₀ − kᵀ·K⁻¹·k + gᵀ·H⁻¹·g, g = J₀ − Jᵀ·K⁻¹·k (universal kriging).

use std::collections::BTreeMap;

use super::law::free_pooled::FREE;
use super::law::prior::Prior;
use crate::workload::law::pooled::Variation;
use scavsim_base::stats::field::{Field, dot, symmetric};

/// Reach of what one measurement has for itself, in the logarithm of the local batch: that of a
/// usual step from batch to batch, so that a measured point is met without a jump or a spike.
const REPEAT_REACH: f64 = 0.35;
/// Reach of what a local batch has for itself: hardly further than that batch.
const OWN_BATCH_REACH: f64 = 0.05;
/// How much more a local batch has for itself that is no power of two.
const OFF_POWER: f64 = 3.0;
/// Reach of what a shape has for itself, in the logarithm of workers per VM.
const SHAPE_REACH: f64 = 1.0;
/// Points that a prediction is made from; further ones change it by less than its digits.
const NEIGHBOURS: usize = 96;
/// Most points that tell how sure a law is, and what predictions have in common.
const MOST: usize = 240;
/// Most of them of one placement.
const MOST_OF_ONE: usize = 4;
/// A distance that no logarithm of two batches reaches.
const OWN_FIRST: f64 = 100.0;
/// What a logarithm of two batches adds to their distance when neighbours are chosen.
const BATCHES_APART: f64 = 2.0;
/// Keeps a covariance of equal points solvable.
const JITTER: f64 = 1e-9;

/// Where a step was measured, as the covariance sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub one_vm: bool,
    pub log_vms: f64,
    /// ln(K/N).
    pub log_workers: f64,
    /// ln m.
    pub log_fullest: f64,
    pub log_batch: f64,
    pub is_power: bool,
    pub placement: u64,
}

impl Place {
    /// `workers` workers on `vms` VMs, at most `fullest` on one, with `local_batch` samples each.
    pub fn new(vms: u32, workers: u32, fullest: u32, local_batch: f64, placement: u64) -> Place {
        let (n, k) = (f64::from(vms), f64::from(workers));
        let exponent = libm::log2(local_batch);
        Place {
            one_vm: vms == 1,
            log_vms: libm::log(n),
            log_workers: libm::log(k / n),
            log_fullest: libm::log(f64::from(fullest)),
            log_batch: libm::log(local_batch),
            is_power: (exponent - exponent.round()).abs() < 1e-9,
            placement,
        }
    }
}

impl Variation {
    /// The exponent of what two places share; `None` where they share nothing.
    fn apart(&self, a: &Place, b: &Place) -> Option<f64> {
        if a.one_vm != b.one_vm {
            return None;
        }
        let square = |x: f64| x * x;
        let vms = square((a.log_vms - b.log_vms) / self.vms_reach);
        let workers = square((a.log_workers - b.log_workers) / self.workers_reach);
        let fullest = square((a.log_fullest - b.log_fullest) / self.workers_reach);
        let batch = (a.log_batch - b.log_batch).abs() / self.batch_reach;
        Some(0.5 * (vms + workers + fullest) + batch)
    }

    fn own_batch(&self, at: &Place) -> f64 {
        if at.is_power {
            self.batch
        } else {
            OFF_POWER * self.batch
        }
    }

    pub fn covariance(&self, a: &Place, b: &Place) -> f64 {
        let batch = (a.log_batch - b.log_batch).abs();
        let mut sum = 0.0;
        if self.batch > 0.0 {
            sum += self.own_batch(a) * self.own_batch(b) * libm::exp(-batch / OWN_BATCH_REACH);
        }
        let Some(apart) = self.apart(a, b) else {
            return sum;
        };
        sum += self.shared * self.shared * libm::exp(-apart);
        if self.shape > 0.0 {
            let (workers, fullest) = (
                (a.log_workers - b.log_workers) / SHAPE_REACH,
                (a.log_fullest - b.log_fullest) / SHAPE_REACH,
            );
            let apart = 0.5 * (workers * workers + fullest * fullest);
            sum += self.shape * self.shape * libm::exp(-apart);
        }
        sum += self.growth * self.growth * a.log_vms.min(b.log_vms);
        if a.placement == b.placement {
            sum += self.placement * self.placement * libm::exp(-batch / self.placement_reach);
            sum += self.repeat * self.repeat * libm::exp(-batch / REPEAT_REACH);
        }
        sum
    }

    fn variance(&self, at: &Place) -> f64 {
        self.covariance(at, at)
    }

    /// The field of measurements at `places`, each with a variance of its own besides.
    pub fn field<'p>(
        &self,
        count: usize,
        at: impl Fn(usize) -> &'p Place,
        own: impl Fn(usize) -> f64,
    ) -> Option<Field> {
        Field::new(count, |i, j| {
            let covariance = self.covariance(at(i), at(j));
            if i == j {
                covariance * (1.0 + JITTER) + own(i)
            } else {
                covariance
            }
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub place: Place,
    pub log_ratio: f64,
    /// How ln(law) changes there with its coefficients; zeros where they are certain.
    pub gradient: [f64; FREE],
}

/// Measured ratios to a law, and what they say of other places.
#[derive(Debug, Clone)]
pub struct Residual {
    variation: Variation,
    points: Vec<Ratio>,
    /// The triangle of H, with which the law's coefficients are known.
    law: Option<Field>,
}

impl Residual {
    /// Around a law of which `prior` was expected, or that is certain.
    pub fn new(variation: Variation, points: Vec<Ratio>, prior: Option<&Prior>) -> Self {
        let law = prior.and_then(|prior| known(&variation, &points, prior));
        Residual {
            variation,
            points,
            law,
        }
    }

    /// Mean and standard deviation of ln(measured/law) at `place`, from the nearest points; the law changes by `gradient`
    /// there.
    pub fn mean_and_sd_at(&self, place: &Place, gradient: &[f64; FREE]) -> (f64, f64) {
        let v = &self.variation;
        // The placement's own points come first. Of another, one batch tells nearly what all tell:
        // the nearest, of as many placements as there is room for.
        let mut near: Vec<(f64, usize)> = (self.points.iter().enumerate())
            .filter_map(|(index, Ratio { place: p, .. })| {
                let batch = (p.log_batch - place.log_batch).abs();
                let apart = v.apart(place, p)?;
                Some(if p.placement == place.placement {
                    (batch - OWN_FIRST, index)
                } else {
                    (apart + BATCHES_APART * batch, index)
                })
            })
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(NEIGHBOURS);
        let near: Vec<&Ratio> = near.iter().map(|&(_, i)| &self.points[i]).collect();
        let variance = v.variance(place);
        let Some(field) = v.field(near.len(), |i| &near[i].place, |_| 0.0) else {
            let left = variance + self.law_variance(gradient);
            return (0.0, left.sqrt());
        };
        let to = field.solved(near.iter().map(|p| v.covariance(place, &p.place)).collect());
        let values = field.solved(near.iter().map(|p| p.log_ratio).collect());
        let left = (variance - dot(&to, &to)).max(0.0);
        let own = unexplained(&field, &near, gradient, &to);
        (
            dot(&to, &values),
            (left + self.law_variance(&own)).max(0.0).sqrt(),
        )
    }

    /// gᵀ·H⁻¹·g.
    fn law_variance(&self, gradient: &[f64; FREE]) -> f64 {
        let Some(law) = &self.law else { return 0.0 };
        let solved = law.solved(gradient.to_vec());
        dot(&solved, &solved)
    }

    /// Covariances of the errors at `places` (each with the law's gradient), by rows; `own` is a measured point's own
    /// variance.
    pub fn covariances(
        &self,
        places: &[(Place, [f64; FREE])],
        own: impl Fn(&Place) -> f64,
    ) -> Vec<f64> {
        let v = &self.variation;
        let points = spread_out(&self.points, |p| p.place.placement);
        let field = v.field(
            points.len(),
            |i| &points[i].place,
            |i| own(&points[i].place),
        );
        let rows: Vec<(Vec<f64>, Vec<f64>)> = (places.iter())
            .map(|(place, gradient)| {
                let Some(field) = &field else {
                    return (Vec::new(), self.by_law(gradient));
                };
                let to = points.iter().map(|p| v.covariance(place, &p.place));
                let to = field.solved(to.collect());
                let left = unexplained(field, &points, gradient, &to);
                (to, self.by_law(&left))
            })
            .collect();
        symmetric(places.len(), |i, j| {
            let prior = v.covariance(&places[i].0, &places[j].0);
            prior - dot(&rows[i].0, &rows[j].0) + dot(&rows[i].1, &rows[j].1)
        })
    }

    fn by_law(&self, gradient: &[f64; FREE]) -> Vec<f64> {
        let law = self.law.as_ref();
        law.map_or(Vec::new(), |law| law.solved(gradient.to_vec()))
    }

    /// What one more measurement of a measured place would differ by.
    pub fn repeat(&self) -> f64 {
        self.variation.repeat
    }
}

/// g = J₀ − Jᵀ·K⁻¹·k, of which `to` is L⁻¹·k.
fn unexplained<'r>(
    field: &Field,
    near: &[impl std::borrow::Borrow<Ratio> + 'r],
    gradient: &[f64; FREE],
    to: &[f64],
) -> [f64; FREE] {
    std::array::from_fn(|i| {
        let column = near.iter().map(|p| p.borrow().gradient[i]).collect();
        gradient[i] - dot(&field.solved(column), to)
    })
}

/// H, from points of all over.
fn known(v: &Variation, points: &[Ratio], prior: &Prior) -> Option<Field> {
    let points = spread_out(points, |p| p.place.placement);
    let field = v.field(points.len(), |i| &points[i].place, |_| 0.0)?;
    let columns: [Vec<f64>; FREE] = std::array::from_fn(|i| {
        let column = points.iter().map(|p| p.gradient[i]).collect();
        field.solved(column)
    });
    let expected = prior.precision();
    Field::new(FREE, |i, j| {
        expected[i * FREE + j] + dot(&columns[i], &columns[j])
    })
}

/// At most so many points, few of each placement, from all over.
pub fn spread_out<T: Copy>(points: &[T], placement: impl Fn(&T) -> u64) -> Vec<T> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    // Knuth's multiplicative hash: no stride that could meet every time the same batch.
    order.sort_by_key(|&i| (i as u32).wrapping_mul(2_654_435_761));
    // In rounds of two points of each placement, so that its own part can be told.
    let mut taken: BTreeMap<u64, usize> = BTreeMap::new();
    let mut rounds: Vec<(usize, usize)> = Vec::new();
    for i in order {
        let count = taken.entry(placement(&points[i])).or_default();
        if *count < MOST_OF_ONE || points.len() <= MOST {
            rounds.push((*count / 2, i));
            *count += 1;
        }
    }
    rounds.sort_by_key(|&(round, _)| round);
    rounds.truncate(MOST);
    rounds.into_iter().map(|(_, i)| points[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;

    const VARIATION: Variation = Variation {
        shared: 0.1,
        shape: 0.0,
        growth: 0.0,
        batch: 0.0,
        placement: 0.05,
        repeat: 0.03,
        vms_reach: 0.5,
        workers_reach: 1.0,
        batch_reach: 5.0,
        placement_reach: 1.0,
    };

    const CERTAIN: [f64; FREE] = [0.0; FREE];

    fn residual() -> Residual {
        let mut points = Vec::new();
        for vms in [2_u32, 3, 4, 8] {
            for batch in [8.0, 16.0, 64.0] {
                let place = Place::new(vms, vms, 1, batch, u64::from(vms));
                points.push(Ratio {
                    place,
                    log_ratio: 0.02 * f64::from(vms) - 0.001 * batch,
                    gradient: CERTAIN,
                });
            }
        }
        Residual::new(VARIATION, points, None)
    }

    #[test]
    fn a_measured_point_is_met_and_so_is_its_limit() {
        let at = |batch: f64| residual().mean_and_sd_at(&Place::new(3, 3, 1, batch, 3), &CERTAIN);
        let (mean, deviation) = at(16.0);
        near(mean, 0.044, 1e-6);
        assert!(deviation < 1e-4, "{deviation}");
        near(at(16.0 + 1e-6).0, mean, 1e-5);
    }

    #[test]
    fn far_from_all_points_only_the_law_is_left() {
        let far = Place::new(1000, 64_000, 64, 32.0, 99);
        let (mean, deviation) = residual().mean_and_sd_at(&far, &CERTAIN);
        near(mean, 0.0, 1e-6);
        near(deviation, VARIATION.variance(&far).sqrt(), 1e-6);
        // One VM has nothing to do with several.
        let one = Place::new(1, 1, 1, 16.0, 1);
        assert_eq!(residual().mean_and_sd_at(&one, &CERTAIN).0, 0.0);
    }
}
