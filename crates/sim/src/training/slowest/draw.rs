//! Draws of the slowest of K workers.

use crate::training::variation::{Family, Straggler, WorkerTime};
use scavsim_base::rng::Stream;

/// Up to this many workers all are drawn; above, the largest is drawn at once. Both are exact;
/// the crossing is where they cost the same (bench `paths`).
const DRAW_ALL_UP_TO: u32 = 4;

#[inline]
pub fn draw(workers: u32, time: WorkerTime, stream: &mut Stream) -> f64 {
    match time.straggler {
        None if time.has_no_spread() => 1.0,
        _ if time.family == Family::Exponential => draw_exponential(workers, time, stream),
        None => libm::exp(time.sigma * largest(workers, stream) + time.log_scale()),
        Some(straggler) => {
            let slow = binomial(u64::from(workers), straggler.probability, stream) as u32;
            draw_with_stragglers(workers, time, straggler, slow, stream)
        }
    }
}

/// Draws the slowest given that at least one straggles; without stragglers, unconditionally.
pub fn draw_straggled(workers: u32, time: WorkerTime, stream: &mut Stream) -> f64 {
    let Some(straggler) = time.straggler else {
        return draw(workers, time, stream);
    };
    if time.family == Family::Exponential {
        let mut largest = 0.0f64;
        straggling(
            workers,
            straggler.probability,
            stream,
            |_, straggles, stream| {
                let x = -libm::log(stream.uniform());
                largest = largest.max(if straggles { x * straggler.factor } else { x });
            },
        );
        return largest * libm::exp(time.log_scale());
    }
    let slow = binomial_above_zero(workers, straggler.probability, stream);
    draw_with_stragglers(workers, time, straggler, slow, stream)
}

fn draw_exponential(workers: u32, time: WorkerTime, stream: &mut Stream) -> f64 {
    let one = |stream: &mut Stream| {
        let x = -libm::log(stream.uniform());
        match time.straggler {
            Some(s) if stream.uniform() < s.probability => x * s.factor,
            _ => x,
        }
    };
    let largest = (0..workers).map(|_| one(stream)).fold(0.0, f64::max);
    largest * libm::exp(time.log_scale())
}

fn draw_with_stragglers(
    workers: u32,
    time: WorkerTime,
    straggler: Straggler,
    slow: u32,
    stream: &mut Stream,
) -> f64 {
    let mut log_time = f64::NEG_INFINITY;
    if slow < workers {
        log_time = time.sigma * largest(workers - slow, stream);
    }
    if slow > 0 {
        let straggled = time.sigma * largest(slow, stream) + libm::log(straggler.factor);
        log_time = log_time.max(straggled);
    }
    libm::exp(log_time + time.log_scale())
}

/// Draws the slowest of workers whose mean times are `factors`.
pub fn draw_unequal(factors: &[f64], time: WorkerTime, stream: &mut Stream) -> f64 {
    factors
        .iter()
        .map(|factor| factor * draw(1, time, stream))
        .fold(0.0, f64::max)
}

/// Like [`draw_unequal`], given that at least one straggles; without stragglers, unconditionally.
pub fn draw_unequal_straggled(factors: &[f64], time: WorkerTime, stream: &mut Stream) -> f64 {
    let Some(straggler) = time.straggler else {
        return draw_unequal(factors, time, stream);
    };
    let plain = WorkerTime {
        straggler: None,
        ..time
    };
    let scale = libm::exp(time.log_scale() - plain.log_scale());
    let (workers, mut largest) = (factors.len() as u32, 0.0f64);
    straggling(
        workers,
        straggler.probability,
        stream,
        |worker, straggles, stream| {
            let time = factors[worker as usize] * draw(1, plain, stream);
            largest = largest.max(if straggles {
                time * straggler.factor
            } else {
                time
            });
        },
    );
    largest * scale
}

/// Shows each of `workers` and whether it straggles, each with probability `p`, given that one does at least.
pub(in crate::training) fn straggling(
    workers: u32,
    p: f64,
    stream: &mut Stream,
    mut show: impl FnMut(u32, bool, &mut Stream),
) {
    // The first that straggles is geometrically distributed, cut off behind the last worker.
    let calm = libm::log1p(-p);
    let any = -libm::expm1(f64::from(workers) * calm);
    let first = libm::log1p(-any * stream.uniform()) / calm;
    let first = (first as u32).min(workers.saturating_sub(1));
    for worker in 0..workers {
        let straggles = worker == first || worker > first && stream.uniform() < p;
        show(worker, straggles, stream);
    }
}

#[inline]
fn largest(count: u32, stream: &mut Stream) -> f64 {
    if count > DRAW_ALL_UP_TO {
        return stream.largest_normal(count);
    }
    (0..count)
        .map(|_| stream.normal())
        .fold(f64::NEG_INFINITY, f64::max)
}

/// Largest mean of a binomial that is drawn at once: (1 − p)^n is far from underflow.
const LARGEST_MEAN: f64 = 300.0;

/// Number of successes in `trials`, each with probability `p`: by inversion, in parts where the mean is large.
pub(in crate::training) fn binomial(mut trials: u64, p: f64, stream: &mut Stream) -> u64 {
    if p >= 1.0 {
        return trials;
    }
    let most = ((LARGEST_MEAN / p) as u64).max(1);
    let mut successes = 0;
    while trials > most {
        successes += by_inversion(most, p, stream);
        trials -= most;
    }
    successes + by_inversion(trials, p, stream)
}

fn by_inversion(trials: u64, p: f64, stream: &mut Stream) -> u64 {
    let none = match trials {
        0 => return 0,
        // As small numbers of workers have always been drawn.
        1..=4096 => libm::pow(1.0 - p, trials as f64),
        _ => libm::exp(trials as f64 * libm::log1p(-p)),
    };
    count_up(0, none, stream.uniform(), trials, p)
}

/// Number of successes among `workers`, each with probability `p`, given that there is one at least.
fn binomial_above_zero(workers: u32, p: f64, stream: &mut Stream) -> u32 {
    let trials = u64::from(workers);
    let log_none = f64::from(workers) * libm::log1p(-p);
    if p >= 1.0 || log_none < -LARGEST_MEAN {
        return (binomial(trials, p, stream) as u32).max(1);
    }
    let one = f64::from(workers) * p * libm::exp(log_none - libm::log1p(-p));
    let left = stream.uniform() * -libm::expm1(log_none);
    count_up(1, one, left, trials, p) as u32
}

/// The number of successes, `successes` having probability `term` and those above it and itself `left` more.
fn count_up(mut successes: u64, mut term: f64, mut left: f64, trials: u64, p: f64) -> u64 {
    let mean = trials as f64 * p;
    while left > term && successes < trials {
        if term < 1e-30 && successes as f64 > mean {
            // What is left is rounding.
            break;
        }
        left -= term;
        term *= (trials - successes) as f64 / (successes + 1) as f64 * p / (1.0 - p);
        successes += 1;
    }
    successes
}
