use super::Quality;
use super::linear::{Equation, non_negative};
use super::minimise::levenberg_marquardt;
pub use scavsim_data::workload::law::growth::Growth;
use scavsim_data::workload::law::{CommunicationLaw, ComputeLaw, Overlap, StepLaw};
use scavsim_data::workload::step::StepCost;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepPoint {
    pub workers: u32,
    /// Samples per worker, x.
    pub local_batch: f64,
    pub step_s: f64,
    /// The part that waits for communication after compute, if known.
    pub exposed_s: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepFit {
    pub law: StepLaw,
    pub quality: Quality,
}

impl StepFit {
    pub fn judged(law: StepLaw, points: &[StepPoint]) -> Option<StepFit> {
        let pairs: Option<Vec<_>> = points
            .iter()
            .map(|p| Some((p.step_s, step_seconds(&law, p)?)))
            .collect();
        let quality = Quality::from_pairs(pairs?);
        Some(StepFit { law, quality })
    }
}

pub(super) fn step_seconds(law: &StepLaw, p: &StepPoint) -> Option<f64> {
    law.cost(p.workers, p.local_batch, 1.0, 1.0)
        .map(StepCost::total_s)
}

/// Sharpest overlap in the search: the step is then the longer part to within 4 %.
const SHARPEST: f64 = 20.0;

/// t = ((a + b·x)^g + (c + d(K − 2))^g)^(1/g) for K > 1 and a + b·x for K = 1, by least
/// squares of ln(fitted / measured) over all of a, b, c, d ≥ 0 and 1 ≤ g ≤ 20. `None` with fewer than two local batches,
/// fewer than two K > 1 or fewer points than parameters.
pub fn p_norm(points: &[StepPoint]) -> Option<StepFit> {
    let several = || points.iter().filter(|p| p.workers > 1);
    let first = several().next()?;
    if points.len() < 6
        || several().all(|p| p.workers == first.workers)
        || points
            .iter()
            .all(|p| p.local_batch == points[0].local_batch)
    {
        return None;
    }
    // Every coefficient is the exponential of a free one, so none leaves its range; g is
    // 1 + 19·sin², which ends on both sides.
    let with = |free: &[f64], exponent: f64| {
        let coefficient = |i: usize| libm::exp(free[i].min(50.0));
        let [base_s, per_sample_s, jump_s, per_worker_s] = std::array::from_fn(coefficient);
        StepLaw {
            compute: ComputeLaw::Affine {
                base_s,
                per_sample_s,
            },
            communication: CommunicationLaw::StepSlope {
                jump_s,
                per_worker_s,
            },
            overlap: Overlap::PNorm { exponent },
            one_vm_only: false,
        }
    };
    let law = |free: &[f64; 5]| {
        let sine = libm::sin(free[4]);
        with(free, 1.0 + (SHARPEST - 1.0) * sine * sine)
    };
    let starts = p_norm_starts(points);
    let errors = |law: StepLaw| {
        let error =
            |p: &StepPoint| step_seconds(&law, p).map_or(f64::NAN, |t| libm::log(t / p.step_s));
        points.iter().map(error).collect()
    };
    let mut best: Option<([f64; 5], f64)> = None;
    for start in starts {
        if let Some(found) = levenberg_marquardt(start, |free| errors(law(free)))
            && best.is_none_or(|best| found.1 < best.1)
        {
            best = Some(found);
        }
    }
    // At the end of its range g hardly moves and slows the others down: there it is fixed.
    let (found, least) = best?;
    let held = levenberg_marquardt([found[0], found[1], found[2], found[3]], |free| {
        errors(with(free, 1.0))
    });
    let fitted = match held {
        Some((free, loss)) if loss < least => with(&free, 1.0),
        _ => law(&found),
    };
    StepFit::judged(fitted, points)
}

fn p_norm_starts(points: &[StepPoint]) -> Vec<[f64; 5]> {
    let shortest = points.iter().map(|p| p.step_s).fold(f64::MAX, f64::min);
    let longest = points.iter().map(|p| p.step_s).fold(0.0, f64::max);
    let widest = points.iter().map(|p| p.local_batch).fold(1.0, f64::max);
    // From a value near zero a logarithm hardly moves: start no lower than this.
    let least = [
        shortest / 100.0,
        longest / (100.0 * widest),
        shortest / 100.0,
        shortest / 1000.0,
    ];
    let free = |coefficients: [f64; 4], exponent: f64| {
        let [a, b, c, d] = std::array::from_fn(|i| libm::log(coefficients[i].max(least[i])));
        let sine = ((exponent - 1.0) / (SHARPEST - 1.0)).sqrt();
        [a, b, c, d, libm::asin(sine)]
    };
    // The valley has several ends: start from little and much overlap, from cheap and expensive communication.
    let mut starts = Vec::new();
    for exponent in [1.3, 2.0, 4.0, 9.0] {
        for share in [0.1, 0.6] {
            let jump = share * (shortest + longest) / 2.0;
            let compute = [shortest / 2.0, longest / (2.0 * widest)];
            starts.push(free([compute[0], compute[1], jump, jump / 20.0], exponent));
        }
    }
    // Without overlap the law is linear, and solved directly.
    let sum = points.iter().map(|p| {
        let several = f64::from(u8::from(p.workers > 1));
        let further = several * (f64::from(p.workers) - 2.0);
        ([1.0, p.local_batch, several, further], p.step_s)
    });
    starts.extend(non_negative(&equations(sum)).map(|c| free(c, 1.01)));
    starts
}

/// t = a + b·x + d·growth(K), no communication with one worker and no negative coefficient.
pub(super) fn additive_non_negative(points: &[StepPoint], growth: Growth) -> Option<StepLaw> {
    let of = |p: &StepPoint| {
        let grown = if p.workers > 1 {
            growth.value_at(p.workers)
        } else {
            0.0
        };
        ([1.0, p.local_batch, grown], p.step_s)
    };
    let [a, b, d] = non_negative(&equations(points.iter().map(of)))?;
    Some(additive_law([a, b], growth.law(0.0, d)))
}

pub(super) fn equations<const N: usize>(
    rows: impl Iterator<Item = ([f64; N], f64)>,
) -> Vec<Equation<N>> {
    rows.map(|(x, y)| Equation::relative(x, y)).collect()
}

pub(super) fn additive_law(
    [base_s, per_sample_s]: [f64; 2],
    communication: CommunicationLaw,
) -> StepLaw {
    StepLaw {
        compute: ComputeLaw::Affine {
            base_s,
            per_sample_s,
        },
        communication,
        overlap: Overlap::Additive,
        one_vm_only: false,
    }
}

/// t = a + b·x, without communication.
pub(super) fn compute_only(coefficients: [f64; 2]) -> StepLaw {
    additive_law(coefficients, Growth::Linear.law(0.0, 0.0))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn points(law: &StepLaw, split: bool) -> Vec<StepPoint> {
        let all = [1_u32, 2, 4, 8, 16].map(|k| [4.0, 16.0, 64.0].map(|x| (k, x)));
        let point = |(workers, local_batch)| {
            let cost = law.cost(workers, local_batch, 1.0, 1.0).expect("in range");
            StepPoint {
                workers,
                local_batch,
                step_s: cost.total_s(),
                exposed_s: split.then_some(cost.communication_s),
            }
        };
        all.into_iter().flatten().map(point).collect()
    }

    #[test]
    fn overlap_is_found_again() {
        let made = StepLaw {
            communication: CommunicationLaw::StepSlope {
                jump_s: 0.2,
                per_worker_s: 0.02,
            },
            overlap: Overlap::PNorm { exponent: 2.5 },
            ..additive_law([0.07, 0.004], Growth::Linear.law(0.0, 0.0))
        };
        let found = p_norm(&points(&made, false)).expect("enough points");
        assert!(found.quality.mape < 1e-5, "{found:?}");
        let Overlap::PNorm { exponent } = found.law.overlap else {
            panic!("another overlap");
        };
        assert!((exponent - 2.5).abs() < 1e-4);
    }
}
