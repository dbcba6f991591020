//! Steps to the target, which are whole: as drawn, and in the mean.

use scavsim_base::rng::UnitLogNormal;
use scavsim_base::stats::normal;

/// Most that a figure of nine digits, as tables have it, is off by, with some room.
const NINE_DIGITS: f64 = 1e-8;

/// Rounds up to one step at least. The relief keeps a whole number that the rounding of its epochs made too high.
pub(super) fn round_up_steps(steps: f64) -> u64 {
    ((steps * (1.0 - NINE_DIGITS)).ceil() as u64).max(1)
}

/// Deviations of a normal variable beyond which nothing is left.
const FAR: f64 = 9.0;
/// Standard deviation of a number from which on rounding it up adds a half, if it is small beside the number.
const SMOOTH: f64 = 4.0;
/// Terms of the sum; what is beyond is smooth enough to be integrated.
const TERMS: f64 = 400.0;

/// Mean number of steps to the target where n steps vary by L, log-normal with mean 1 and coefficient of variation `epoch_cv`, and
/// come in updates of p: p·E⌈⌈n·L⌉/p⌉, of at least one step. Where p is neither whole nor a whole part of a step, half an update
/// stands for what is rounded up.
pub fn expected_steps(steps: f64, epoch_cv: f64, of_update: f64) -> f64 {
    let is_whole = |number: f64| (number - number.round()).abs() < NINE_DIGITS;
    if epoch_cv == 0.0 {
        return of_update * (round_up_steps(steps) as f64 / of_update - NINE_DIGITS).ceil();
    }
    match of_update {
        p if p >= 1.0 && is_whole(p) => p * rounded_up(steps / p, epoch_cv),
        p if p < 1.0 && is_whole(1.0 / p) => rounded_up(steps, epoch_cv),
        p => rounded_up(steps, epoch_cv) + 0.5 * p,
    }
}

/// E⌈n·L⌉, of at least 1: n rounded up without variation, n + ½ with much of it, Σ P(n·L > k) between.
fn rounded_up(steps: f64, epoch_cv: f64) -> f64 {
    let sigma = UnitLogNormal::from_cv(epoch_cv).sigma();
    if sigma == 0.0 {
        return round_up_steps(steps) as f64;
    }
    if steps * sigma > SMOOTH && sigma < 0.5 {
        return steps + 0.5;
    }
    // (ln k − E ln X)/σ of X = n·L.
    let deviations = |k: f64| libm::log(k / steps) / sigma + 0.5 * sigma;
    let certain = (steps * libm::exp(-FAR * sigma)).floor();
    // P(X > k) is 1 up to here.
    let mut mean = certain + 1.0;
    let mut k = certain + 1.0;
    while k <= certain + TERMS {
        mean += normal::cdf(-deviations(k));
        k += 1.0;
    }
    // The rest, by the rule of the middle: E[X; X > a] − a·P(X > a).
    let a = k - 0.5;
    let beyond = steps * normal::cdf(sigma - deviations(a)) - a * normal::cdf(-deviations(a));
    mean + beyond.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;
    use scavsim_base::rng::Stream;
    use scavsim_base::stats::Welford;

    /// Of 200,000 draws each, within four standard errors; and to the digit where nothing varies.
    #[test]
    fn expected_steps_are_the_mean_of_those_that_are_drawn() {
        for (steps, epoch_cv) in [
            (36.2, 0.02),
            (36.2, 0.001),
            (5.3, 0.1),
            (1.2, 0.3),
            (0.4, 0.5),
            (0.01, 0.5),
            (700.0, 2.0),
            (3.0, 3.0),
            (20_000.4, 0.05),
        ] {
            let luck = UnitLogNormal::from_cv(epoch_cv);
            let (mut stream, mut seen) = (Stream::seeded(31), Welford::default());
            // Rounding up is a part of each draw, so its mean is compared by itself: that of the draws is known.
            for _ in 0..200_000 {
                let drawn = steps * luck.sample(&mut stream);
                seen.add(round_up_steps(drawn) as f64 - drawn);
            }
            let error = seen.standard_deviation() / (seen.count() as f64).sqrt();
            let rounded = expected_steps(steps, epoch_cv, 1.0) - steps;
            near(rounded, seen.mean(), 4.0 * error + 1e-9);
        }
        for (steps, of_update, expected) in [
            (36.0, 1.0, 36.0),
            (36.2, 1.0, 37.0),
            (0.1, 1.0, 1.0),
            (36.2, 11.0, 44.0),
            (36.2, 0.125, 37.0),
            (3.2, 0.75, 4.5),
        ] {
            assert_eq!(expected_steps(steps, 0.0, of_update), expected);
        }
        // Rounds of 11 steps, of which there are few.
        near(expected_steps(36.2, 0.5, 11.0), 36.2 + 5.5, 0.2);
    }
}
