//! One law of step time for all placements on a VM type.

use super::Quality;
use super::minimise::levenberg_marquardt;
use super::residual::{again, variation};
use super::steps::{Growth, StepPoint, p_norm};
use crate::configuration::{Configuration, Shape};
use crate::workload::law::pooled::Variation;
use crate::workload::law::{CommunicationLaw, ComputeLaw, Overlap, PooledLaw};
use crate::workload::residual::Place;
use crate::workload::step::StepCost;
use crate::workload::step_pool;
use scavsim_base::stats::Welford;

/// A measured step on so many VMs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledPoint {
    /// N.
    pub vms: u32,
    /// Where it stands among others.
    pub place: Place,
    /// Whether every VM has this many workers.
    pub each: Option<u32>,
    /// The step.
    pub step: StepPoint,
}

impl PooledPoint {
    /// `step_s` measured with `workers` workers on shape `vm`, global batch `batch`; `None` where
    /// the shape is not one of so many workers.
    pub fn of(vm: &str, workers: u32, batch: u32, step_s: f64) -> Option<PooledPoint> {
        let at = Configuration {
            vm: vm.into(),
            workers,
            batch,
        };
        let (vms, place) = step_pool::place(&at)?;
        let shape = Shape::parse(vm).ok()?;
        let layout = shape.layout(workers);
        Some(PooledPoint {
            vms,
            place,
            each: (layout.len() == 1).then(|| layout[0].0),
            step: StepPoint {
                workers,
                local_batch: at.local_batch(),
                step_s,
                exposed_s: None,
            },
        })
    }
}

/// How communication may grow with K; the first is between the others and is taken unless another is clearly better.
const GROWTHS: [Growth; 3] = [Growth::Root, Growth::Linear, Growth::Tree];

/// A fitted law.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledFit {
    /// The law, and how measurements vary around it.
    pub law: PooledLaw,
    /// How its communication grows.
    pub growth: Growth,
    /// Error of the fit on the whole step, without the residual.
    pub quality: Quality,
}

/// Sharpest overlap; see [`p_norm`].
const SHARPEST: f64 = 20.0;
/// Most points that a law is fitted to: more hardly move six parameters.
const MOST: usize = 1200;
/// Most points that a law is fitted to where the law of nearly the same points is known.
const MOST_AGAIN: usize = 480;
/// Points that starts are compared on.
const FIRST: usize = 160;
/// Standard errors by which a growth must beat the first, and the share of its error.
const CLEARLY: f64 = 2.0;
/// See [`CLEARLY`].
const WORTH: f64 = 0.1;

/// τ = ((a + b·x)^g + (c + d·h(K))^g)^(1/g) on several VMs, c₁ for communication on one, by least
/// squares of ln(fitted/measured); a, b, c, d, c₁ ≥ 0 and 1 ≤ g ≤ 20. h is √K unless K or log₂ K
/// foretells the largest third of all worker counts better, by a tenth and two standard errors over them.
/// `None` below twelve points, two local batches or three worker counts on several VMs.
pub fn pooled(points: &[PooledPoint]) -> Option<PooledFit> {
    let mut counts: Vec<u32> = several(points).map(|p| p.step.workers).collect();
    counts.sort_unstable();
    counts.dedup();
    let first = points.first()?.step.local_batch;
    let one_batch = points.iter().all(|p| p.step.local_batch == first);
    if points.len() < 12 || counts.len() < 3 || one_batch {
        return None;
    }
    let growth = match counts.len() {
        // With fewer, the rest would be a line through two counts.
        6.. => grows(points, counts[counts.len() - counts.len() / 3]),
        _ => Growth::Root,
    };
    let law = fitted(&thinned(points, MOST), growth)?;
    finished(points, growth, law, variation)
}

/// The law as by [`pooled`], for points of which `law` was fitted to nearly all: with its growth, searched from its
/// coefficients on.
pub fn refitted(points: &[PooledPoint], law: &PooledLaw) -> Option<PooledFit> {
    let (growth, base, slope) = match law.communication {
        CommunicationLaw::Root { base_s, per_root_s } => (Growth::Root, base_s, per_root_s),
        CommunicationLaw::Linear {
            base_s,
            per_worker_s,
        } => (Growth::Linear, base_s, per_worker_s),
        CommunicationLaw::Tree {
            base_s,
            per_level_s,
        } => (Growth::Tree, base_s, per_level_s),
        _ => return pooled(points),
    };
    let Overlap::PNorm { exponent } = law.overlap else {
        return pooled(points);
    };
    let ComputeLaw::Affine {
        base_s,
        per_sample_s,
    } = law.compute
    else {
        return pooled(points);
    };
    let coefficients = [base_s, per_sample_s, base, slope, law.one_vm_s];
    let [a, b, c, d, e] = coefficients.map(|c| libm::log(c.max(1e-12)));
    let start = [a, b, c, d, e, angle(exponent)];
    let found = polished(&thinned(points, MOST_AGAIN), growth, start)?;
    finished(points, growth, found, |ratios| again(ratios, &law.residual))
}

/// The fit with its error and the residual.
fn finished(
    points: &[PooledPoint],
    growth: Growth,
    law: PooledLaw,
    varies: impl Fn(&[(Place, f64)]) -> Option<Variation>,
) -> Option<PooledFit> {
    let pairs: Option<Vec<(f64, f64)>> = (points.iter())
        .map(|p| Some((p.step.step_s, seconds(&law, p)?)))
        .collect();
    let pairs = pairs?;
    let ratios = points.iter().zip(&pairs);
    let ratios: Vec<_> = ratios
        .map(|(p, (t, law))| (p.place, libm::log(t / law)))
        .collect();
    let law = PooledLaw {
        residual: varies(&ratios)?,
        ..law
    };
    Some(PooledFit {
        law,
        growth,
        quality: Quality::of(pairs),
    })
}

/// Mean |ln(predicted/measured)| at the largest worker count of every even shape, left out of the
/// fit: of one law for all shapes, of one per shape, and whether the second is better by more than
/// its standard error over shapes. `None` where no shape can be left out so.
pub fn against_per_shape(points: &[PooledPoint]) -> Option<(f64, f64, bool)> {
    let mut shapes: Vec<u32> = several(points).filter_map(|p| p.each).collect();
    shapes.sort_unstable();
    shapes.dedup();
    let largest = |each: u32| {
        let of = several(points).filter(|p| p.each == Some(each));
        of.map(|p| p.vms).max().unwrap_or(0)
    };
    let is_out = |p: &PooledPoint| {
        let shape = p.each.filter(|_| p.vms > 1);
        shape.is_some_and(|each| p.vms == largest(each))
    };
    let (out, kept): (Vec<_>, Vec<_>) = points.iter().copied().partition(is_out);
    let pool = pooled(&kept)?.law;
    let (mut difference, mut of_pool, mut of_shape) =
        (Welford::default(), Welford::default(), Welford::default());
    for each in shapes {
        let own = kept.iter().filter(|p| {
            let single = p.step.workers == 1;
            single || (p.each == Some(each) && p.vms > 1)
        });
        let own: Vec<StepPoint> = own.map(|p| p.step).collect();
        let Some(fit) = p_norm(&own) else { continue };
        let (mut by_pool, mut by_shape) = (Welford::default(), Welford::default());
        for p in out.iter().filter(|p| p.each == Some(each)) {
            let step = &p.step;
            let own = fit.law.cost(step.workers, step.local_batch, 1.0, 1.0);
            let error = |t: f64| libm::log(t / step.step_s).abs();
            by_pool.add(error(seconds(&pool, p)?));
            by_shape.add(error(own?.total_s()));
        }
        of_pool.add(by_pool.mean());
        of_shape.add(by_shape.mean());
        difference.add(by_pool.mean() - by_shape.mean());
    }
    if difference.count() == 0 {
        return None;
    }
    let per_shape = difference.mean() > standard_error(&difference);
    Some((of_pool.mean(), of_shape.mean(), per_shape))
}

fn standard_error(of: &Welford) -> f64 {
    (of.variance() / of.count() as f64).sqrt()
}

fn several(points: &[PooledPoint]) -> impl Iterator<Item = &PooledPoint> {
    points.iter().filter(|p| p.vms > 1)
}

/// Seconds of the step by law.
fn seconds(law: &PooledLaw, p: &PooledPoint) -> Option<f64> {
    law.cost(p.vms, p.step.workers, p.step.local_batch, 1.0, 1.0)
        .map(StepCost::total_s)
}

/// The growth that foretells the worker counts from `least` on.
fn grows(points: &[PooledPoint], least: u32) -> Growth {
    let is_out = |p: &PooledPoint| p.vms > 1 && p.step.workers >= least;
    let (mut out, kept): (Vec<_>, Vec<_>) = points.iter().copied().partition(is_out);
    let kept = thinned(&kept, MOST);
    out.sort_by_key(|p| p.step.workers);
    // Batches and placements of one count err together: they count once.
    let errors = |growth: Growth| -> Option<Vec<f64>> {
        let law = fitted(&kept, growth)?;
        out.chunk_by(|a, b| a.step.workers == b.step.workers)
            .map(|same| {
                let error =
                    |p: &PooledPoint| Some(libm::log(seconds(&law, p)? / p.step.step_s).abs());
                let sum: Option<f64> = same.iter().map(error).sum();
                Some(sum? / same.len() as f64)
            })
            .collect()
    };
    let [first, others @ ..] = GROWTHS;
    let Some(base) = errors(first) else {
        return first;
    };
    let better = others.into_iter().filter_map(|growth| {
        let (mut gain, mut first) = (Welford::default(), Welford::default());
        for (base, own) in base.iter().zip(&errors(growth)?) {
            gain.add(base - own);
            first.add(*base);
        }
        let least = (CLEARLY * standard_error(&gain)).max(WORTH * first.mean());
        let clearly = gain.mean() > least;
        clearly.then_some((gain.mean(), growth))
    });
    better
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(first, |(_, growth)| growth)
}

/// At most `most` of the points, from all over them.
pub(super) fn thinned<T: Copy>(points: &[T], most: usize) -> Vec<T> {
    if points.len() <= most {
        return points.to_vec();
    }
    // Knuth's multiplicative hash: no stride that could meet every time the same batch.
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&i| (i as u32).wrapping_mul(2_654_435_761));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|i| points[i]).collect()
}

/// The law of `growth`, without its residual.
fn fitted(points: &[PooledPoint], growth: Growth) -> Option<PooledLaw> {
    let few = thinned(points, FIRST);
    let found = starts(points)
        .into_iter()
        .filter_map(|start| search(&few, growth, start));
    let (start, _) = found.min_by(|a, b| a.1.total_cmp(&b.1))?;
    polished(points, growth, start)
}

fn polished(points: &[PooledPoint], growth: Growth, start: [f64; 6]) -> Option<PooledLaw> {
    search(points, growth, start).map(|(free, _)| law_of(growth, &free))
}

/// The angle of which g is 1 + 19·sin².
fn angle(exponent: f64) -> f64 {
    libm::asin(((exponent - 1.0) / (SHARPEST - 1.0)).sqrt())
}

fn law_of(growth: Growth, free: &[f64; 6]) -> PooledLaw {
    // Every coefficient is the exponential of a free one, so none leaves its range; g is
    // 1 + 19·sin², which ends on both sides.
    let [base_s, per_sample_s, base, slope, one_vm_s] =
        std::array::from_fn(|i| libm::exp(free[i].min(50.0)));
    let sine = libm::sin(free[5]);
    PooledLaw {
        compute: ComputeLaw::Affine {
            base_s,
            per_sample_s,
        },
        communication: growth.law(base, slope),
        overlap: Overlap::PNorm {
            exponent: 1.0 + (SHARPEST - 1.0) * sine * sine,
        },
        one_vm_s,
        residual: super::residual::UNKNOWN,
    }
}

fn search(points: &[PooledPoint], growth: Growth, start: [f64; 6]) -> Option<([f64; 6], f64)> {
    levenberg_marquardt(start, |free| {
        let law = law_of(growth, free);
        let error =
            |p: &PooledPoint| seconds(&law, p).map_or(f64::NAN, |t| libm::log(t / p.step.step_s));
        points.iter().map(error).collect()
    })
}

/// Free coefficients to start from: little and much overlap, cheap and dear communication.
fn starts(points: &[PooledPoint]) -> Vec<[f64; 6]> {
    let steps = || points.iter().map(|p| p.step.step_s);
    let (shortest, longest) = (
        steps().fold(f64::MAX, f64::min),
        steps().fold(0.0, f64::max),
    );
    let widest = points
        .iter()
        .map(|p| p.step.local_batch)
        .fold(1.0, f64::max);
    let mut starts = Vec::new();
    for exponent in [1.5, 2.5, 5.0] {
        for share in [0.1, 0.6] {
            let jump = share * (shortest + longest) / 2.0;
            let coefficients = [
                shortest / 2.0,
                longest / (2.0 * widest),
                jump,
                jump / 20.0,
                jump / 4.0,
            ];
            let [a, b, c, d, e] = coefficients.map(libm::log);
            starts.push([a, b, c, d, e, angle(exponent)]);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a law says of `vms` VMs with `each` workers.
    fn point(law: &PooledLaw, (vms, each): (u32, u32), local_batch: f64) -> PooledPoint {
        let workers = vms * each;
        let cost = law.cost(vms, workers, local_batch, 1.0, 1.0);
        let placement = u64::from(workers) << 8 | u64::from(vms);
        PooledPoint {
            vms,
            place: Place::new(vms, workers, each, local_batch, placement),
            each: Some(each),
            step: StepPoint {
                workers,
                local_batch,
                step_s: cost.expect("in range").total_s(),
                exposed_s: None,
            },
        }
    }

    fn points(law: &PooledLaw) -> Vec<PooledPoint> {
        let mut points = Vec::new();
        for (vms, each) in [
            (1, 1),
            (1, 2),
            (1, 4),
            (2, 1),
            (2, 4),
            (3, 1),
            (3, 4),
            (4, 1),
            (4, 2),
            (6, 1),
            (6, 4),
            (8, 1),
            (8, 4),
            (12, 2),
            (12, 4),
            (16, 1),
            (16, 2),
            (16, 4),
        ] {
            for local_batch in [4.0, 16.0, 64.0] {
                points.push(point(law, (vms, each), local_batch));
            }
        }
        points
    }

    fn law(growth: Growth) -> PooledLaw {
        PooledLaw {
            compute: ComputeLaw::Affine {
                base_s: 0.07,
                per_sample_s: 0.004,
            },
            communication: growth.law(0.1, 0.03),
            overlap: Overlap::PNorm { exponent: 2.5 },
            one_vm_s: 0.05,
            residual: super::super::residual::UNKNOWN,
        }
    }

    #[test]
    fn the_law_that_made_the_points_is_found_again_with_its_growth() {
        for growth in GROWTHS {
            let fit = pooled(&points(&law(growth))).expect("enough points");
            assert_eq!(fit.growth, growth);
            assert!(fit.quality.mape < 1e-3, "{growth:?} {fit:?}");
            assert!((fit.law.one_vm_s / 0.05 - 1.0).abs() < 0.01, "{fit:?}");
        }
    }

    #[test]
    fn shapes_that_have_nothing_in_common_are_not_pooled() {
        let same = points(&law(Growth::Root));
        let (_, _, per_shape) = against_per_shape(&same).expect("four shapes");
        assert!(!per_shape);
        // Each shape with communication of its own, from a tenth to ten times as dear.
        let apart: Vec<PooledPoint> = [1, 2, 4, 8]
            .into_iter()
            .flat_map(|each| [1, 2, 3, 4, 6, 8].map(|vms| (each, vms)))
            .flat_map(|(each, vms)| [4.0, 16.0, 64.0].map(|x| (each, vms, x)))
            .map(|(each, vms, local_batch)| {
                let own = PooledLaw {
                    communication: Growth::Linear.law(0.1, 0.001 * f64::from(each).powi(4)),
                    ..law(Growth::Linear)
                };
                point(&own, (vms, each), local_batch)
            })
            .collect();
        let (pool, shape, per_shape) = against_per_shape(&apart).expect("four shapes");
        assert!(per_shape && shape < pool, "{pool} {shape}");
    }

    #[test]
    fn too_little_gives_no_law() {
        let all = points(&law(Growth::Root));
        assert_eq!(pooled(&all[..9]), None);
        assert_eq!(pooled(&[]), None);
    }
}
