//! Communication learned across applications on one VM type, by the parameters whose gradients they exchange.

use super::minimise::levenberg_marquardt;
use scavsim_base::stats::Welford;

const PER: f64 = 1e6;
/// Maximum number of points of a fit: more hardly change four coefficients.
const MOST: usize = 400;
/// Sharpest overlap; see [`steps::p_norm`](super::steps::p_norm).
const SHARPEST: f64 = 20.0;

/// A measured step, and the compute time of one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    pub parameters: f64,
    /// Seconds of compute of one worker with an equal local batch.
    pub compute_s: f64,
    pub vms: u32,
    pub workers: u32,
    pub step_s: f64,
}

/// τ = (C^g + (P·(base_s + per_root_s·√K))^g)^(1/g), g = exponent, for K workers on several VMs that each compute C seconds
/// and exchange the gradients of P million parameters; P·one_vm_s in place of the sum on one VM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearnedCommunication {
    pub base_s: f64,
    pub per_root_s: f64,
    /// `None` if there was no step of several workers on one VM.
    pub one_vm_s: Option<f64>,
    pub exponent: f64,
    /// Standard deviation of ln(measured/fitted) over the fitted points.
    pub deviation: f64,
}

impl LearnedCommunication {
    /// Fits steps of any applications, least squares of ln(fitted/measured); c, d, c₁ ≥ 0 and 1 ≤ g ≤ 20. Steps of one worker
    /// are ignored. `None` below eight points or three worker counts on several VMs.
    pub fn fit(points: &[Exchange]) -> Option<LearnedCommunication> {
        let mut points: Vec<Exchange> = points.iter().copied().filter(|p| p.workers > 1).collect();
        let several = || points.iter().filter(|p| p.vms > 1);
        let mut counts: Vec<u32> = several().map(|p| p.workers).collect();
        counts.sort_unstable();
        counts.dedup();
        if several().count() < 8 || counts.len() < 3 {
            return None;
        }
        let on_one_vm = points.len() > several().count();
        let communicated: f64 = several()
            .map(|p| PER * (p.step_s - p.compute_s).max(0.01 * p.step_s) / p.parameters)
            .sum();
        let mean_s = communicated / several().count() as f64;
        points = thinned(&points, MOST);
        let errors = |free: &[f64; 4]| {
            let model = LearnedCommunication::from_free(free, on_one_vm, 0.0);
            let error = |p: &Exchange| model.log_error(p).unwrap_or(f64::NAN);
            points.iter().map(error).collect()
        };
        let starts = [1.5_f64, 2.5, 5.0].map(|exponent| {
            let [c, d, one] = [mean_s, mean_s / 20.0, mean_s / 4.0].map(libm::log);
            let angle = libm::asin(((exponent - 1.0) / (SHARPEST - 1.0)).sqrt());
            [c, d, one, angle]
        });
        let found = (starts.into_iter()).filter_map(|start| levenberg_marquardt(start, errors));
        let (free, _) = found.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let model = LearnedCommunication::from_free(&free, on_one_vm, 0.0);
        let mut squares = Welford::default();
        for point in &points {
            let error = model.log_error(point)?;
            squares.add(error * error);
        }
        Some(LearnedCommunication {
            deviation: squares.mean().sqrt(),
            ..model
        })
    }

    fn from_free(free: &[f64; 4], on_one_vm: bool, deviation: f64) -> LearnedCommunication {
        // Every coefficient is the exponential of a free one, so none leaves its range; g is
        // 1 + 19·sin², which ends on both sides.
        let [base_s, per_root_s, one_vm_s] = std::array::from_fn(|i| libm::exp(free[i].min(50.0)));
        let sine = libm::sin(free[3]);
        LearnedCommunication {
            base_s,
            per_root_s,
            one_vm_s: on_one_vm.then_some(one_vm_s),
            exponent: 1.0 + (SHARPEST - 1.0) * sine * sine,
            deviation,
        }
    }

    fn log_error(&self, p: &Exchange) -> Option<f64> {
        let fitted = self.step_s(p.parameters, p.compute_s, p.vms, p.workers)?;
        Some(libm::log(fitted / p.step_s))
    }

    /// `None` for workers on one VM if there were no such points, and if one worker computes for no time.
    pub fn step_s(&self, parameters: f64, compute_s: f64, vms: u32, workers: u32) -> Option<f64> {
        if compute_s.is_nan() || compute_s <= 0.0 {
            return None;
        }
        if workers == 1 {
            return Some(compute_s);
        }
        let per_million = match vms {
            1 => self.one_vm_s?,
            _ => self.base_s + self.per_root_s * f64::from(workers).sqrt(),
        };
        let share = parameters / PER * per_million / compute_s;
        let g = self.exponent;
        Some(compute_s * libm::pow(1.0 + libm::pow(share, g), 1.0 / g))
    }
}

fn thinned<T: Copy>(points: &[T], most: usize) -> Vec<T> {
    if points.len() <= most {
        return points.to_vec();
    }
    // Knuth's multiplicative hash: a fixed stride might always hit one batch.
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&i| (i as u32).wrapping_mul(2_654_435_761));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|i| points[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUTH: LearnedCommunication = LearnedCommunication {
        base_s: 0.006,
        per_root_s: 0.002,
        one_vm_s: Some(0.001),
        exponent: 2.5,
        deviation: 0.0,
    };

    fn points(parameters: f64, compute_s: f64) -> impl Iterator<Item = Exchange> {
        let places = [
            (1, 1),
            (1, 2),
            (1, 4),
            (2, 2),
            (2, 8),
            (4, 4),
            (8, 32),
            (16, 16),
        ];
        places.into_iter().map(move |(vms, workers)| {
            let step_s = TRUTH.step_s(parameters, compute_s, vms, workers);
            Exchange {
                parameters,
                compute_s,
                vms,
                workers,
                step_s: step_s.expect("a step"),
            }
        })
    }

    /// Two applications that differ in size and compute predict a third one exactly.
    #[test]
    fn an_application_that_was_never_seen_is_told_by_its_parameters() {
        let seen: Vec<Exchange> = points(1e7, 0.1).chain(points(2e8, 0.9)).collect();
        let learned = LearnedCommunication::fit(&seen).expect("enough");
        for p in points(6e7, 0.3) {
            let said = learned.step_s(p.parameters, p.compute_s, p.vms, p.workers);
            scavsim_base::tests::close(said.expect("a step"), p.step_s, 1e-4);
        }
        assert!(learned.deviation < 1e-5, "{learned:?}");
    }

    #[test]
    fn what_was_not_seen_is_not_said() {
        let all = points(1e7, 0.1).chain(points(2e8, 0.9));
        let several: Vec<Exchange> = all.filter(|p| p.vms > 1).collect();
        let learned = LearnedCommunication::fit(&several).expect("enough");
        assert_eq!(learned.step_s(1e7, 0.1, 1, 4), None);
        assert_eq!(learned.step_s(1e7, 0.1, 1, 1), Some(0.1));
        assert_eq!(learned.step_s(1e7, -0.1, 2, 4), None);
        assert_eq!(LearnedCommunication::fit(&several[..5]), None);
    }
}
