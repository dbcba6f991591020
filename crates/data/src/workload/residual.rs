//! What measurements say beyond a pooled law: a Gaussian process over ln(measured/law).

use crate::workload::law::pooled::Variation;
use scavsim_base::stats::field::{Field, dot};

/// Reach of what one measurement has for itself, in the logarithm of the local batch: that of a
/// usual step from batch to batch, so that a measured point is met without a jump or a spike.
const REPEAT_REACH: f64 = 0.35;
/// Points that a prediction is made from; further ones change it by less than its digits.
const NEIGHBOURS: usize = 96;
/// A distance that no logarithm of two batches reaches.
const OWN_FIRST: f64 = 100.0;
/// What a logarithm of two batches adds to their distance when neighbours are chosen.
const BATCHES_APART: f64 = 2.0;
/// Keeps a covariance of equal points solvable.
const JITTER: f64 = 1e-9;

/// Where a step was measured, as the covariance sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Whether all workers are on one VM.
    pub one_vm: bool,
    /// ln N.
    pub log_vms: f64,
    /// ln(K/N).
    pub log_workers: f64,
    /// ln m.
    pub log_fullest: f64,
    /// ln x.
    pub log_batch: f64,
    /// Which placement; equal for equal ones.
    pub placement: u64,
}

impl Place {
    /// `workers` workers on `vms` VMs, at most `fullest` on one, with `local_batch` samples each.
    pub fn new(vms: u32, workers: u32, fullest: u32, local_batch: f64, placement: u64) -> Place {
        let (n, k) = (f64::from(vms), f64::from(workers));
        Place {
            one_vm: vms == 1,
            log_vms: libm::log(n),
            log_workers: libm::log(k / n),
            log_fullest: libm::log(f64::from(fullest)),
            log_batch: libm::log(local_batch),
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

    /// Covariance of two measurements.
    pub fn covariance(&self, a: &Place, b: &Place) -> f64 {
        let Some(apart) = self.apart(a, b) else {
            return 0.0;
        };
        let mut sum = self.shared * self.shared * libm::exp(-apart);
        if a.placement == b.placement {
            let batch = (a.log_batch - b.log_batch).abs();
            sum += self.placement * self.placement * libm::exp(-batch / self.placement_reach);
            sum += self.repeat * self.repeat * libm::exp(-batch / REPEAT_REACH);
        }
        sum
    }

    /// Variance of one measurement around the law.
    pub fn variance(&self) -> f64 {
        self.shared * self.shared + self.placement * self.placement + self.repeat * self.repeat
    }
}

/// Measured ratios to a law, and what they say of other places.
#[derive(Debug, Clone)]
pub struct Residual {
    variation: Variation,
    /// Place and ln(measured/law).
    points: Vec<(Place, f64)>,
}

impl Residual {
    /// The residual of `points`: place and ln(measured/law).
    pub fn new(variation: Variation, points: Vec<(Place, f64)>) -> Self {
        Residual { variation, points }
    }

    /// Mean and standard deviation of ln(measured/law) at `place`, from the points nearest to it.
    pub fn at(&self, place: &Place) -> (f64, f64) {
        let v = &self.variation;
        // The placement's own points come first. Of another, one batch tells nearly what all tell:
        // the nearest, of as many placements as there is room for.
        let mut near: Vec<(f64, usize)> = (self.points.iter().enumerate())
            .filter_map(|(index, (p, _))| {
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
        let near: Vec<&(Place, f64)> = near.iter().map(|&(_, i)| &self.points[i]).collect();
        let variance = v.variance();
        let field = Field::new(near.len(), |i, j| {
            let covariance = v.covariance(&near[i].0, &near[j].0);
            if i == j {
                covariance + JITTER * variance
            } else {
                covariance
            }
        });
        let Some(field) = field else {
            return (0.0, variance.sqrt());
        };
        let to = field.solved(near.iter().map(|p| v.covariance(place, &p.0)).collect());
        let values = field.solved(near.iter().map(|p| p.1).collect());
        let left = variance - dot(&to, &to);
        (dot(&to, &values), left.max(0.0).sqrt())
    }

    /// What one more measurement of a measured place would differ by.
    pub fn repeat(&self) -> f64 {
        self.variation.repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIATION: Variation = Variation {
        shared: 0.1,
        placement: 0.05,
        repeat: 0.03,
        vms_reach: 0.5,
        workers_reach: 1.0,
        batch_reach: 5.0,
        placement_reach: 1.0,
    };

    fn residual() -> Residual {
        let mut points = Vec::new();
        for vms in [2_u32, 3, 4, 8] {
            for batch in [8.0, 16.0, 64.0] {
                let place = Place::new(vms, vms, 1, batch, u64::from(vms));
                points.push((place, 0.02 * f64::from(vms) - 0.001 * batch));
            }
        }
        Residual::new(VARIATION, points)
    }

    #[test]
    fn a_measured_point_is_met_and_so_is_its_limit() {
        let at = |batch: f64| residual().at(&Place::new(3, 3, 1, batch, 3));
        let (mean, deviation) = at(16.0);
        assert!(
            (mean - 0.044).abs() < 1e-6 && deviation < 1e-4,
            "{mean} {deviation}"
        );
        assert!((at(16.0 + 1e-6).0 - mean).abs() < 1e-5);
    }

    #[test]
    fn far_from_all_points_only_the_law_is_left() {
        let far = Place::new(1000, 64_000, 64, 32.0, 99);
        let (mean, deviation) = residual().at(&far);
        assert!(mean.abs() < 1e-6);
        assert!((deviation - VARIATION.variance().sqrt()).abs() < 1e-6);
        // One VM has nothing to do with several.
        assert_eq!(residual().at(&Place::new(1, 1, 1, 16.0, 1)).0, 0.0);
    }
}
