use super::Quality;
use super::minimise::search;
use super::residual::{self, USUAL, again, variation};
use super::steps::{Growth, StepPoint};
use scavsim_base::stats::field::Field;
use scavsim_base::stats::median;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::law::PooledLaw;
use scavsim_data::workload::law::free_pooled::{FREE, FreePooled, PooledForm};
use scavsim_data::workload::law::pooled::Variation;
use scavsim_data::workload::law::prior::Prior;
use scavsim_data::workload::residual::{Place, Ratio, Residual, spread_out};
use scavsim_data::workload::step::StepCost;
use scavsim_data::workload::step_pool;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledPoint {
    pub vms: u32,
    pub place: Place,
    /// Whether every VM has this many workers.
    pub each: Option<u32>,
    pub step: StepPoint,
}

impl PooledPoint {
    /// `None` if the shape does not match `workers` workers.
    pub fn new(vm: &str, workers: u32, batch: u32, step_s: f64) -> Option<PooledPoint> {
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

/// Twice the logarithm of the odds against samples that are slower because of what VMs share.
const SHARED_ODDS: f64 = 6.0;
/// Minimum number of counts of VMs that separate two VMs from more.
const TELL_TWO: usize = 3;
/// A step on more VMs below this share of one on two VMs is a real decrease.
const FALLS: f64 = 0.9;
/// Steps that rise with a greater power of the number of VMs are uncertain on more VMs: what holds them up is not known.
const STEEP: f64 = 0.3;
/// Additional ω of [`Variation`] per unit of that power; it and [`STEEP`] are chosen by the coverage of intervals in
/// `cargo bench --bench studies -- ladders`.
const PER_RISE: f64 = 0.6;
/// Relative gain below which a search ends: the rest moves a step by less than its digits.
const ENOUGH: f64 = 1e-8;
/// Number of rounds in which few points determine their variation.
const ROUNDS: usize = 3;
/// Minimum number of points: a single one cannot separate a law from its level.
const FEWEST: usize = 2;

#[derive(Debug, Clone)]
pub struct PooledFit {
    pub law: PooledLaw,
    pub form: PooledForm,
    pub quality: Quality,
    few: FitSample,
    free: FreePooled,
}

impl PooledFit {
    /// Mean error in % over all numbers of VMs and workers, each held out and predicted from the others.
    pub fn left_out(&self) -> Option<f64> {
        let prior = &Prior::for_form(self.form);
        let FitSample {
            points, variation, ..
        } = &self.few;
        let group = |p: &PooledPoint| (p.vms, p.step.workers);
        let mut groups: Vec<(u32, u32)> = points.iter().map(group).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut sum = 0.0;
        for out in &groups {
            let (asked, kept): (Vec<PooledPoint>, Vec<PooledPoint>) =
                points.iter().partition(|p| group(p) == *out);
            let few = FitSample::from_points(&kept, variation)?;
            let (free, _) = few.search(self.form, prior, self.free)?;
            let law = free.law(self.form, *variation);
            let ratios = few.ratios(&law)?.into_iter();
            let certain = |(place, log_ratio)| Ratio {
                place,
                log_ratio,
                gradient: [0.0; FREE],
            };
            let residual = Residual::new(*variation, ratios.map(certain).collect(), None);
            let mut errors = 0.0;
            for p in &asked {
                let (mean, _) = residual.mean_and_sd_at(&p.place, &[0.0; FREE]);
                errors += (seconds(&law, p)? * libm::exp(mean) / p.step.step_s - 1.0).abs();
            }
            sum += errors / asked.len() as f64;
        }
        Some(100.0 * sum / groups.len() as f64)
    }
}

/// τ = ((a + b·x)^g + C^g)^(1/g) with the communication C of [`PooledLaw`], most likely under the [`Prior`] for any machine
/// and measurements that vary as in [`Variation`]. Samples are slower because of what VMs share if that is much more likely.
/// Fewer than forty points have the usual variation, scaled to them. `None` below two points.
pub fn pooled(points: &[PooledPoint]) -> Option<PooledFit> {
    if points.len() < FEWEST {
        return None;
    }
    let few = FitSample::from_points(points, &USUAL)?;
    let two_vms = tells_two(points);
    let with = |shared: bool| {
        let form = PooledForm {
            growth: Growth::Linear,
            inside: true,
            two_vms,
            shared,
        };
        let prior = Prior::for_form(form);
        let starts = starts(&few, form, &prior).into_iter();
        let found = starts.filter_map(|start| few.search(form, &prior, start));
        let (free, loss) = found.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let odds = if shared { SHARED_ODDS } else { 0.0 };
        Some((form, free, loss + odds))
    };
    let all = [false, true].into_iter().filter_map(with);
    let (form, mut free, _) = all.min_by(|a, b| a.2.total_cmp(&b.2))?;
    let prior = &Prior::for_form(form);
    let law = free.law(form, USUAL);
    if let Some(varies) = variation(&few.ratios(&law)?) {
        // Again, with the fitted variation.
        let few = FitSample::from_points(points, &varies)?;
        let (free, _) = few.search(form, prior, free)?;
        return few.finished(points, (form, free));
    }
    // The variation and the law depend on each other.
    let mut scaled = few;
    for _ in 0..ROUNDS {
        let varies = residual::usual(&scaled.ratios(&free.law(form, USUAL))?)?;
        scaled = FitSample::from_points(points, &varies)?;
        free = scaled.search(form, prior, free)?.0;
    }
    scaled.finished(points, (form, free))
}

/// Whether two VMs are separated from more: if they and two other numbers of VMs were measured, or if they are slower than
/// more VMs with as many workers on each and no fewer samples.
fn tells_two(points: &[PooledPoint]) -> bool {
    let mut numbers: Vec<u32> = points.iter().map(|p| p.vms).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let falls = |two: &PooledPoint, more: &PooledPoint| {
        more.vms > 2
            && more.each == two.each
            && more.step.local_batch >= two.step.local_batch
            && more.step.step_s < FALLS * two.step.step_s
    };
    let of_two: Vec<&PooledPoint> = points.iter().filter(|p| p.vms == 2).collect();
    let any_falls = || {
        of_two
            .iter()
            .any(|two| points.iter().any(|more| falls(two, more)))
    };
    !of_two.is_empty() && (numbers.len() >= TELL_TWO || any_falls())
}

/// Like [`pooled`] if `law` was fitted to nearly all points: keeps its form and starts from its coefficients. `prior` is the
/// one of an older law.
pub fn refitted(points: &[PooledPoint], law: &PooledLaw, prior: &Prior) -> Option<PooledFit> {
    let (Some(form), Some(start)) = (law.form(), FreePooled::from_law(law)) else {
        return pooled(points);
    };
    if points.len() < residual::ENOUGH {
        return pooled(points);
    }
    let few = FitSample::from_points(points, &law.residual)?;
    let any = Prior::for_form(form);
    let (free, _) = few.search(form, if form.inside { &any } else { prior }, start)?;
    few.finished(points, (form, free))
}

/// Points for a fit, and their variation: at most as many as their covariance matrix allows.
#[derive(Debug, Clone)]
struct FitSample {
    points: Vec<PooledPoint>,
    variation: Variation,
    field: Field,
    /// Samples per worker, the median of all.
    usual: f64,
}

impl FitSample {
    fn from_points(points: &[PooledPoint], variation: &Variation) -> Option<FitSample> {
        let points = spread_out(points, |p| p.place.placement);
        let field = variation.field(points.len(), |i| &points[i].place, |_| 0.0)?;
        let mut batches: Vec<f64> = points.iter().map(|p| p.step.local_batch).collect();
        Some(FitSample {
            usual: median(&mut batches)?,
            points,
            variation: *variation,
            field,
        })
    }

    fn log_ratios(&self, law: &PooledLaw) -> Vec<f64> {
        let log_ratio =
            |p: &PooledPoint| seconds(law, p).map_or(f64::NAN, |t| libm::log(p.step.step_s / t));
        self.points.iter().map(log_ratio).collect()
    }

    fn ratios(&self, law: &PooledLaw) -> Option<Vec<(Place, f64)>> {
        let ratios = self.log_ratios(law);
        let all_finite = ratios.iter().all(|r| r.is_finite());
        let places = self.points.iter().map(|p| p.place);
        all_finite.then(|| places.zip(ratios).collect())
    }

    /// The most likely coefficients from `start` on, and minus twice their log-likelihood, up to a constant.
    fn search(
        &self,
        form: PooledForm,
        prior: &Prior,
        start: FreePooled,
    ) -> Option<(FreePooled, f64)> {
        let found = search(start.0, ENOUGH, |free: &[f64; FREE]| {
            let free = FreePooled(*free);
            let law = free.law(form, self.variation);
            let mut residuals = self.field.solved(self.log_ratios(&law));
            residuals.extend(prior.deviations(&free, form, self.usual));
            residuals
        });
        found.map(|(free, loss)| (FreePooled(free), loss))
    }

    fn finished(
        self,
        all: &[PooledPoint],
        (form, free): (PooledForm, FreePooled),
    ) -> Option<PooledFit> {
        let law = free.law(form, self.variation);
        let ratios = self.ratios(&law)?;
        let varies = match again(&ratios, &self.variation) {
            Some(varies) => varies,
            None => residual::widened(&residual::usual(&ratios)?, ratios.len()),
        };
        let growth = varies
            .growth
            .hypot(PER_RISE * (rise(&law, all) - STEEP).max(0.0));
        let pairs: Option<Vec<(f64, f64)>> = (all.iter())
            .map(|p| Some((p.step.step_s, seconds(&law, p)?)))
            .collect();
        let law = PooledLaw {
            residual: Variation { growth, ..varies },
            ..law
        };
        Some(PooledFit {
            law,
            form,
            quality: Quality::from_pairs(pairs?),
            few: self,
            free,
        })
    }
}

/// The power of the number of VMs with which a step rises by law, from the most measured VMs to twice as many; 0 for one VM.
fn rise(law: &PooledLaw, points: &[PooledPoint]) -> f64 {
    let even = points.iter().filter(|p| p.vms > 1 && p.each.is_some());
    let rise = even.max_by_key(|p| (p.vms, p.step.workers)).and_then(|p| {
        let (workers, local_batch) = (2 * p.step.workers, p.step.local_batch);
        let twice = law.cost(2 * p.vms, workers, local_batch, 1.0, 1.0)?;
        Some(libm::log2(twice.total_s() / seconds(law, p)?))
    });
    rise.unwrap_or(0.0)
}

/// Start coefficients: from the prior, with much and little of a step's time in compute.
fn starts(few: &FitSample, form: PooledForm, prior: &Prior) -> Vec<FreePooled> {
    let mut steps: Vec<f64> = few.points.iter().map(|p| p.step.step_s).collect();
    let middle = median(&mut steps).unwrap_or(1.0);
    let shares = [0.9, 0.5, 0.2].into_iter();
    (shares.map(|share| prior.expected(form, few.usual, share * middle))).collect()
}

fn seconds(law: &PooledLaw, p: &PooledPoint) -> Option<f64> {
    law.cost(p.vms, p.step.workers, p.step.local_batch, 1.0, 1.0)
        .map(StepCost::total_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::tests::close;
    use scavsim_data::workload::law::{ComputeLaw, Overlap};

    fn point(law: &PooledLaw, vms: u32, each: u32, local_batch: f64) -> PooledPoint {
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
        let one_to_four = [
            (1, 1),
            (1, 2),
            (1, 4),
            (2, 1),
            (2, 4),
            (3, 1),
            (3, 4),
            (4, 1),
            (4, 2),
        ];
        let more = [
            (6, 1),
            (6, 4),
            (8, 1),
            (8, 4),
            (12, 2),
            (12, 4),
            (16, 1),
            (16, 2),
            (16, 4),
        ];
        let places = one_to_four.into_iter().chain(more);
        let of =
            |(vms, each)| [4.0, 16.0, 64.0].map(|local_batch| point(law, vms, each, local_batch));
        places.flat_map(of).collect()
    }

    fn law(vms_growth: f64) -> PooledLaw {
        PooledLaw {
            compute: ComputeLaw::Affine {
                base_s: 0.07,
                per_sample_s: 0.004,
            },
            communication: Growth::Linear.law(0.1, 0.03),
            overlap: Overlap::PNorm { exponent: 2.5 },
            one_vm_s: 0.0,
            one_vm_pass_s: 0.05,
            one_vm_growth: 0.8,
            per_vm_growth: -0.3,
            vms_growth,
            shared_per_sample_s: 0.0,
            inside: true,
            two_vms: 0.4,
            left_out: 0.0,
            residual: USUAL,
        }
    }

    #[test]
    fn the_law_that_made_the_points_is_found_again_with_its_growth() {
        for vms_growth in [0.3, 0.7, 1.0] {
            // Three times slower than the communication of `law`, most of it hidden: 0.3 is fitted as 0.51.
            let communication = Growth::Linear.law(0.1, 0.1);
            let made = PooledLaw {
                communication,
                ..law(vms_growth)
            };
            let fit = pooled(&points(&made)).expect("enough points");
            // The prior, 0.85 ± 0.25, pulls a little: 0.3 is fitted as 0.37.
            assert!(fit.quality.mape < 0.2, "{vms_growth}: {}", fit.quality.mape);
            assert!((fit.law.vms_growth - vms_growth).abs() < 0.08);
            close(fit.law.one_vm_pass_s, 0.05, 0.05);
            assert!(!fit.form.shared);
        }
    }

    #[test]
    fn what_vms_share_is_found_again() {
        let made = PooledLaw {
            shared_per_sample_s: 0.002,
            ..law(0.5)
        };
        let fit = pooled(&points(&made)).expect("enough points");
        assert!(fit.form.shared && fit.quality.mape < 0.5, "{fit:?}");
        close(fit.law.shared_per_sample_s, 0.002, 0.05);
    }

    #[test]
    fn two_vms_are_told_from_more_where_they_take_longer() {
        let slow = |vms: u32, step_s: f64| {
            let mut p = point(&law(0.5), vms, 4, 16.0);
            p.step.step_s = step_s;
            p
        };
        assert!(tells_two(&[slow(2, 2.5), slow(4, 1.8)]));
        assert!(!tells_two(&[slow(2, 2.5), slow(4, 2.4)]));
        assert!(tells_two(&[slow(1, 1.0), slow(2, 1.5), slow(4, 1.8)]));
        assert!(!tells_two(&[slow(1, 1.0), slow(3, 1.5), slow(4, 1.8)]));
    }

    #[test]
    fn a_step_that_rises_with_vms_is_uncertain_on_more() {
        let growth = |vms_growth: f64, per_worker_s: f64| {
            let mut made = law(vms_growth);
            made.communication = Growth::Linear.law(0.01, per_worker_s);
            pooled(&points(&made))
                .expect("enough points")
                .law
                .residual
                .growth
        };
        assert!(growth(0.3, 0.03) < 0.1 && growth(1.0, 1.0) > 0.2);
    }

    #[test]
    fn too_little_gives_no_law() {
        let all = points(&law(0.5));
        assert!(pooled(&all[..1]).is_none());
        assert!(pooled(&[]).is_none());
    }
}
