//! The slowest of K independent workers, or the Nth to arrive: what a barrier waits for. Moments by quadrature over the
//! logarithm of time, draws by the inverse distribution of the maximum (`draw`).

mod draw;

pub(super) use draw::{binomial, straggling};
pub use draw::{draw, draw_straggled, draw_unequal, draw_unequal_straggled};

pub use super::moments::Moments;
use super::slowest_unequal_worker;
use super::variation::{Family, Straggler, WorkerTime};
use scavsim_base::stats::normal;

/// Nodes per σ of the trapezoid rule. The integrand is smooth and vanishes at both ends, so the
/// rule converges faster than any power; 24 leaves no error above 1e-12 up to K = 4096.
const NODES_PER_SIGMA: f64 = 24.0;
/// Half-width of the integration range in σ around each mode.
const REACH: f64 = 9.0;

pub fn moments(workers: u32, time: WorkerTime) -> Moments {
    if time.is_constant() {
        return Moments::constant(1.0);
    }
    let k = f64::from(workers);
    let all = if time.has_no_spread() {
        two_points(time, |p| libm::pow(1.0 - p, k))
    } else {
        integrate(time, &[0.0], |log_time| {
            let (density, cdf) = one_worker(time, log_time);
            k * libm::pow(cdf, k - 1.0) * density
        })
    };
    all.with_calm(workers, time, |plain| moments(workers, plain))
}

/// Moments of the arrival number `needed` of `workers` workers of equal mean: the order statistic,
/// whose density is N·C(M, N)·F^(N−1)·(1 − F)^(M−N)·f.
pub fn moments_of_nth(needed: u32, workers: u32, time: WorkerTime) -> Moments {
    let needed = needed.clamp(1, workers.max(1));
    if needed >= workers {
        return moments(workers, time);
    }
    if time.is_constant() {
        return Moments::constant(1.0);
    }
    let calm = |all: Moments| {
        all.with_calm(workers, time, |plain| {
            moments_of_nth(needed, workers, plain)
        })
    };
    if time.has_no_spread() {
        return calm(two_points(time, |p| at_most(workers - needed, workers, p)));
    }
    let (n, late) = (f64::from(needed), f64::from(workers - needed));
    let log_count: f64 = (1..=needed)
        .map(|i| libm::log((late + f64::from(i)) / f64::from(i)))
        .sum();
    calm(integrate(time, &[0.0], |log_time| {
        let (density, cdf) = one_worker(time, log_time);
        if cdf <= 0.0 || density <= 0.0 {
            return 0.0;
        }
        let survival = survival(time, log_time);
        if survival <= 0.0 {
            return 0.0;
        }
        let powers = (n - 1.0) * libm::log(cdf) + late * libm::log(survival);
        libm::exp(log_count + libm::log(n) + powers) * density
    }))
}

/// P(at most `most` of `trials` happen), each with probability `p`.
fn at_most(most: u32, trials: u32, p: f64) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    // By logarithms, as the first term may underflow.
    let (happens, not) = (libm::log(p), libm::log1p(-p));
    let mut log_ways = 0.0;
    let mut sum = 0.0;
    for count in 0..=most.min(trials) {
        let rest = f64::from(trials - count);
        sum += libm::exp(log_ways + f64::from(count) * happens + rest * not);
        log_ways += libm::log(rest / f64::from(count + 1));
    }
    sum.min(1.0)
}

/// The relative time that a worker-step stays within with probability `q`.
pub fn quantile(q: f64, time: WorkerTime) -> f64 {
    if time.has_no_spread() {
        let plain = libm::exp(time.log_scale());
        return match time.straggler {
            Some(s) if q > 1.0 - s.probability => plain * s.factor,
            _ => plain,
        };
    }
    let (mut low, mut high) = (-80.0, 80.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if one_worker(time, middle).1 < q {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(high)
}

/// Moments of the slowest of workers whose mean times are `factors`.
pub fn moments_unequal(factors: &[f64], time: WorkerTime) -> Moments {
    if time.is_constant() {
        return Moments::constant(factors.iter().fold(0.0, |a, &b| a.max(b)));
    }
    let (all, known) = match slowest_unequal_worker::moments(factors, time) {
        Some(unequal) => (unequal.all, unequal.plain),
        None => (moments_unequal_by_quadrature(factors, time), None),
    };
    all.with_calm(factors.len() as u32, time, |plain| {
        known.unwrap_or_else(|| moments_unequal(factors, plain))
    })
}

/// Moments of the slowest by a fine quadrature that is a thousand times slower: beyond the table, and for tests.
pub(super) fn moments_unequal_by_quadrature(factors: &[f64], time: WorkerTime) -> Moments {
    // A vanishing step variation still has to be integrated: its atoms sit at every factor.
    let time = WorkerTime {
        sigma: time.sigma.max(1e-4),
        ..time
    };
    let logs: Vec<f64> = factors.iter().map(|f| libm::log(*f)).collect();
    integrate(time, &logs, |log_time| {
        let (mut product, mut hazard) = (1.0, 0.0);
        for shift in &logs {
            let (density, cdf) = one_worker(time, log_time - shift);
            if cdf <= 0.0 {
                return 0.0;
            }
            product *= cdf;
            hazard += density / cdf;
        }
        product * hazard
    })
}

/// Density and distribution of ln(time) of one worker.
pub(super) fn one_worker(time: WorkerTime, log_time: f64) -> (f64, f64) {
    if time.family == Family::Exponential {
        return exponential(time, log_time);
    }
    let z = (log_time - time.log_scale()) / time.sigma;
    let plain = (normal::density(z) / time.sigma, normal::cdf(z));
    match time.straggler {
        None => plain,
        Some(Straggler {
            probability: p,
            factor,
        }) => {
            let z = z - libm::log(factor) / time.sigma;
            (
                (1.0 - p) * plain.0 + p * normal::density(z) / time.sigma,
                (1.0 - p) * plain.1 + p * normal::cdf(z),
            )
        }
    }
}

/// Density and distribution of ln(time) of one worker whose time is exponential.
fn exponential(time: WorkerTime, log_time: f64) -> (f64, f64) {
    let at = |log_time: f64| {
        let x = libm::exp(log_time);
        (x * libm::exp(-x), -libm::expm1(-x))
    };
    let plain = at(log_time - time.log_scale());
    let Some(s) = time.straggler else {
        return plain;
    };
    let slow = at(log_time - time.log_scale() - libm::log(s.factor));
    let mixed = |plain, slow| (1.0 - s.probability) * plain + s.probability * slow;
    (mixed(plain.0, slow.0), mixed(plain.1, slow.1))
}

/// 1 − F of ln(time) of one worker, without cancellation.
fn survival(time: WorkerTime, log_time: f64) -> f64 {
    let at = |log_time: f64| match time.family {
        Family::LogNormal => normal::cdf(-log_time / time.sigma),
        Family::Exponential => libm::exp(-libm::exp(log_time)),
    };
    let y = log_time - time.log_scale();
    match time.straggler {
        None => at(y),
        Some(s) => (1.0 - s.probability) * at(y) + s.probability * at(y - libm::log(s.factor)),
    }
}

/// Nodes y of the trapezoid rule and the lengths that they stand for, over windows around the modes of ln(time)
/// shifted by `shifts`.
pub(super) fn nodes(time: WorkerTime, shifts: &[f64]) -> Vec<(f64, f64)> {
    let centre = time.log_scale();
    let (low, high, width) = match time.family {
        Family::LogNormal => (
            -REACH * time.sigma,
            // The third moment weighs the upper tail with exp(3y): its peak moves up by 3σ².
            (REACH + 4.0 * time.sigma) * time.sigma,
            time.sigma / NODES_PER_SIGMA,
        ),
        // Below, the density of the logarithm falls as exp(y); above, as exp(−exp(y)).
        Family::Exponential => (-36.0, 4.5, 1.0 / NODES_PER_SIGMA),
    };
    let mut windows: Vec<(f64, f64)> = Vec::new();
    for shift in shifts {
        windows.push((centre + shift + low, centre + shift + high));
        if let Some(s) = time.straggler {
            let mode = centre + shift + libm::log(s.factor);
            windows.push((mode + low, mode + high));
        }
    }
    windows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for window in windows {
        match merged.last_mut() {
            Some(last) if window.0 <= last.1 => last.1 = last.1.max(window.1),
            _ => merged.push(window),
        }
    }
    let mut nodes: Vec<(f64, f64)> = Vec::new();
    for (from, to) in merged {
        let count = ((to - from) / width).ceil();
        let step = (to - from) / count;
        for i in 0..=(count as u64) {
            let y = from + i as f64 * step;
            nodes.push((y, step));
        }
    }
    nodes
}

/// Moments of exp(y) under `density(y)`, over the same.
pub(super) fn integrate(time: WorkerTime, shifts: &[f64], density: impl Fn(f64) -> f64) -> Moments {
    let mut nodes = nodes(time, shifts);
    for node in &mut nodes {
        let (y, step) = *node;
        *node = (libm::exp(y), density(y) * step);
    }
    let mass: f64 = nodes.iter().map(|n| n.1).sum();
    let mean = nodes.iter().map(|n| n.0 * n.1).sum::<f64>() / mass;
    let central = |power: i32| {
        nodes
            .iter()
            .map(|n| (n.0 - mean).powi(power) * n.1)
            .sum::<f64>()
            / mass
    };
    let deviation = central(2).sqrt();
    Moments {
        mean,
        deviation,
        skewness: central(3) / (deviation * deviation * deviation),
        calm: None,
    }
}

/// Stragglers without other variation; `none` gives the probability of a plain step from that of one straggler.
fn two_points(time: WorkerTime, none: impl Fn(f64) -> f64) -> Moments {
    let plain = libm::exp(time.log_scale());
    let Some(Straggler {
        probability,
        factor,
    }) = time.straggler
    else {
        return Moments::constant(1.0);
    };
    let none = none(probability);
    let any = 1.0 - none;
    let gap = plain * (factor - 1.0);
    let deviation = gap * (any * none).sqrt();
    Moments {
        mean: plain + gap * any,
        deviation,
        skewness: if deviation > 0.0 {
            (none - any) / (any * none).sqrt()
        } else {
            0.0
        },
        calm: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, drawn, near, straggler, variation};
    use scavsim_base::rng::{Purpose, Stream, Streams, identity};
    use scavsim_base::stats::Welford;

    fn log_normal(sigma: f64) -> WorkerTime {
        crate::tests::log_normal(sigma, None)
    }

    /// E[max] by an independent rule: ∫ (1 − F(x)^K) dx, adaptive in nothing, very fine.
    fn mean_by_survival(workers: u32, time: WorkerTime) -> f64 {
        let step = 1e-4;
        let beyond = |i: u32| {
            let x = (f64::from(i) + 0.5) * step;
            let (_, cdf) = one_worker(time, libm::log(x));
            1.0 - libm::pow(cdf, f64::from(workers))
        };
        (0..400_000).map(beyond).sum::<f64>() * step
    }

    #[test]
    fn the_mean_of_the_slowest_agrees_with_the_survival_integral() {
        for workers in [1, 2, 16, 64, 1024] {
            let time = log_normal(0.3);
            near(
                moments(workers, time).mean,
                mean_by_survival(workers, time),
                1e-6,
            );
        }
    }

    /// Exact means of the maximum of K log-normals with σ = 0.3 and mean 1, as published with the
    /// measurements this engine is compared with.
    #[test]
    fn the_mean_of_the_slowest_agrees_with_the_tabulated_values() {
        for (workers, mean) in [
            (2, 1.167_996),
            (16, 1.646_130),
            (64, 1.949_441),
            (1024, 2.547_639),
        ] {
            near(moments(workers, log_normal(0.3)).mean, mean, 1e-6);
        }
    }

    #[test]
    fn one_worker_has_the_moments_of_a_log_normal() {
        let sigma = 0.4f64;
        let seen = moments(1, log_normal(sigma));
        let w = (sigma * sigma).exp();
        near(seen.mean, 1.0, 1e-12);
        near(seen.deviation, (w - 1.0).sqrt(), 1e-11);
        near(seen.skewness, (w + 2.0) * (w - 1.0).sqrt(), 1e-9);
    }

    /// Draws against quadrature, five standard errors with a fixed seed (error rate below 1e-5).
    fn check_draws(name: &str, expected: Moments, mut draw: impl FnMut(&mut Stream) -> f64) {
        let mut stream = Streams::new(11).stream(0, Purpose::Trial(identity(name)));
        let mut seen = Welford::default();
        (0..200_000).for_each(|_| seen.add(draw(&mut stream)));
        drawn(&seen, expected.mean, 5.0);
        close(seen.standard_deviation(), expected.deviation, 0.05);
    }

    #[test]
    fn draws_agree_with_quadrature() {
        for workers in [1, 2, 4, 5, 16, 64, 1024] {
            let time = log_normal(0.3);
            check_draws(&format!("plain {workers}"), moments(workers, time), |s| {
                draw(workers, time, s)
            });
        }
        for (cv, workers) in [(0.1, 2), (0.1, 16), (0.0, 16)] {
            let time = variation(cv, straggler(0.02, 3.0)).worker_time();
            let name = format!("straggler {cv} {workers}");
            check_draws(&name, moments(workers, time), |s| draw(workers, time, s));
        }
        let factors = [0.9, 1.0, 1.05, 1.2];
        let time = log_normal(0.1);
        check_draws("unequal", moments_unequal(&factors, time), |s| {
            draw_unequal(&factors, time, s)
        });
    }

    #[test]
    fn a_straggler_without_other_variation_is_the_limit_of_a_little_variation() {
        let with = |cv| moments(16, variation(cv, straggler(0.01, 4.0)).worker_time());
        let (exact, limit) = (with(0.0), with(1e-5));
        near(exact.mean, limit.mean, 1e-4);
        near(exact.deviation, limit.deviation, 1e-4);
        near(exact.skewness, limit.skewness, 1e-3);
    }
}
