//! Sums of many steps in one draw, and points on the way to a sum that is known.
//!
//! Between changes the steps are independent and identically distributed, so the time of n steps
//! has mean nμ, variance nσ² and skewness γ₁/√n exactly, whatever the distribution of one. One
//! normal draw is bent to these three (Wilson and Hilferty's cube, the Pearson III family). Where
//! n is so small or one step so skewed that three moments do not describe the sum, the steps are
//! drawn singly.

use super::slowest::Moments;
use super::stepping::Stepping;
use crate::rng::Stream;

/// Below this many steps they are drawn singly.
const FEWEST_STEPS: u64 = 8;
/// The same with stragglers, whose few long steps make the sum fall into clumps.
const FEWEST_STEPS_WITH_STRAGGLERS: u64 = 64;
/// Above this skewness of the sum they are drawn singly.
const LARGEST_SKEWNESS: f64 = 0.5;

/// Compute seconds of the first `mark` and of all `steps` steps, without communication. One step
/// has the moments `one`, and `draw` draws it.
///
/// The total does not depend on `mark`: the mark is a point on a path to the same end, so a run
/// cut short and the whole run share their luck.
pub(crate) fn sums(
    stepping: &Stepping,
    one: Moments,
    (steps, mark): (u64, u64),
    mut draw: impl FnMut(&mut Stream) -> f64,
    stream: &mut Stream,
) -> (f64, f64) {
    let n = steps as f64;
    let mean_s = stepping.worker_s * one.mean;
    let deviation_s = stepping.worker_s * one.deviation;
    if deviation_s == 0.0 {
        return (mark as f64 * mean_s, n * mean_s);
    }
    let skewness = one.skewness / n.sqrt();
    let fewest = match stepping.time.straggler {
        None => FEWEST_STEPS,
        Some(_) => FEWEST_STEPS_WITH_STRAGGLERS,
    };
    if steps < fewest || skewness.abs() > LARGEST_SKEWNESS {
        let (mut before, mut total) = (0.0, 0.0);
        for done in 1..=steps {
            total += draw(stream);
            if done == mark {
                before = total;
            }
        }
        return (before, total);
    }
    let total = n * mean_s + deviation_s * n.sqrt() * skewed(stream.normal(), skewness);
    if mark == 0 || mark == steps {
        return (if mark == 0 { 0.0 } else { total }, total);
    }
    // A point on the way to a known end: the bridge of a random walk.
    let m = mark as f64;
    let bridge = deviation_s * (m * (1.0 - m / n)).sqrt() * stream.normal();
    ((m / n * total + bridge).clamp(0.0, total), total)
}

/// Bends a standard normal `z` to mean 0, variance 1 and the given skewness g:
/// (2/g)·((1 + g z/6 − g²/36)³ − 1), which tends to z as g vanishes.
pub(crate) fn skewed(z: f64, g: f64) -> f64 {
    if g.abs() < 1e-9 {
        return z;
    }
    let e = g * z / 6.0 - g * g / 36.0;
    2.0 / g * e * (3.0 + 3.0 * e + e * e)
}

/// How many of the steps between two points (count, seconds) are in time, and the seconds of those:
/// points on a random walk to a known end, halved until one step is left.
pub(crate) fn bridge(
    mut low: (u64, f64),
    mut high: (u64, f64),
    deviation_s: f64,
    in_time: impl Fn(u64, f64) -> bool,
    stream: &mut Stream,
) -> (u64, f64) {
    while high.0 - low.0 > 1 {
        let middle = low.0 + (high.0 - low.0) / 2;
        let (first, second) = ((middle - low.0) as f64, (high.0 - middle) as f64);
        let share = first / (first + second);
        let spread = deviation_s * (share * second).sqrt() * stream.normal();
        let at = (low.1 + share * (high.1 - low.1) + spread)
            .max(low.1)
            .min(high.1);
        match in_time(middle, at) {
            true => low = (middle, at),
            false => high = (middle, at),
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};
    use crate::stats::Welford;

    #[test]
    fn the_bent_normal_has_the_asked_moments() {
        let mut stream = Streams::new(3).stream(0, Purpose::Trial(0));
        let mut seen = Welford::default();
        let values: Vec<f64> = (0..400_000).map(|_| skewed(stream.normal(), 0.5)).collect();
        values.iter().for_each(|&v| seen.add(v));
        let third = values.iter().map(|v| v.powi(3)).sum::<f64>() / values.len() as f64;
        // 5 standard errors: 1/√n, √2/√n·½ and about √25/√n with a fixed seed.
        assert!(seen.mean().abs() < 0.008, "{}", seen.mean());
        assert!((seen.standard_deviation() - 1.0).abs() < 0.008);
        assert!((third - 0.5).abs() < 0.04, "{third}");
        assert_eq!(skewed(1.3, 0.0), 1.3);
    }
}
