//! Kolmogorov–Smirnov test: two samples, or a sample and a distribution.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KolmogorovSmirnov {
    /// Largest distance between the two empirical distributions, in [0, 1].
    pub distance: f64,
    /// Probability of such a distance or a larger one when both samples have one distribution
    /// (asymptotic, with Stephens' correction for small samples).
    pub p_value: f64,
}

/// Compares two samples; their order does not matter, ties are allowed.
#[doc(hidden)]
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> KolmogorovSmirnov {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (mut i, mut j, mut distance) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        while i < a.len() && a[i] <= x {
            i += 1;
        }
        while j < b.len() && b[j] <= x {
            j += 1;
        }
        distance = distance.max((i as f64 / n - j as f64 / m).abs());
    }
    let root = (n * m / (n + m)).sqrt();
    KolmogorovSmirnov {
        distance,
        p_value: tail((root + 0.12 + 0.11 / root) * distance),
    }
}

/// Compares a sample with the distribution F(x) = P(X ≤ x), `before` being P(X < x); the two differ where
/// a single value has a probability, and `sample` may then hold it many times. Infinite values are allowed.
/// With such values the p-value is too high: the test errs towards finding no difference.
pub fn kolmogorov_smirnov_against(
    sample: &[f64],
    cdf: impl Fn(f64) -> f64,
    before: impl Fn(f64) -> f64,
) -> KolmogorovSmirnov {
    let mut sorted = sample.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let (mut below, mut distance) = (0, 0.0f64);
    for equal in sorted.chunk_by(|a, b| a == b) {
        let x = equal[0];
        distance = distance.max((below as f64 / n - before(x)).abs());
        below += equal.len();
        distance = distance.max((below as f64 / n - cdf(x)).abs());
    }
    let root = n.sqrt();
    KolmogorovSmirnov {
        distance,
        p_value: tail((root + 0.12 + 0.11 / root) * distance),
    }
}

/// Kolmogorov's limiting tail 2 Σ (−1)^(k−1) exp(−2 k² λ²).
fn tail(lambda: f64) -> f64 {
    if lambda < 0.2 {
        return 1.0;
    }
    let term = |k: f64| libm::exp(-2.0 * k * k * lambda * lambda);
    let sum: f64 = (1..=100)
        .map(|k| if k % 2 == 1 { 1.0 } else { -1.0 } * term(f64::from(k)))
        .sum();
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_are_not_told_apart_and_shifted_ones_are() {
        let a: Vec<f64> = (0..500).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|x| x + 100.0).collect();
        assert_eq!(kolmogorov_smirnov(&a, &a).p_value, 1.0);
        let apart = kolmogorov_smirnov(&a, &b);
        assert!((apart.distance - 0.2).abs() < 1e-12 && apart.p_value < 1e-8);
    }

    #[test]
    fn a_sample_is_told_from_another_distribution_than_its_own() {
        let sample: Vec<f64> = (0..500).map(|i| (f64::from(i) + 0.5) / 500.0).collect();
        let own = |x: f64| x.clamp(0.0, 1.0);
        assert!((kolmogorov_smirnov_against(&sample, own, own).distance - 0.001).abs() < 1e-12);
        let other = |x: f64| (x * x).clamp(0.0, 1.0);
        let apart = kolmogorov_smirnov_against(&sample, other, other);
        assert!((apart.distance - 0.25).abs() < 0.002 && apart.p_value < 1e-8);
    }

    #[test]
    fn a_value_with_a_probability_of_its_own_is_no_difference() {
        let mut sample: Vec<f64> = (0..300).map(|i| (f64::from(i) + 0.5) / 500.0).collect();
        sample.extend([f64::INFINITY; 200]);
        let cdf = |x: f64| if x < f64::INFINITY { x.min(0.6) } else { 1.0 };
        let before = |x: f64| x.min(0.6);
        assert!(kolmogorov_smirnov_against(&sample, cdf, before).distance < 0.002);
        let wrong = kolmogorov_smirnov_against(&sample, cdf, cdf);
        assert!((wrong.distance - 0.4).abs() < 1e-12);
    }

    #[test]
    fn critical_value_of_the_textbook() {
        assert!((tail(1.3581) - 0.05).abs() < 1e-4);
        assert!((tail(1.6276) - 0.01).abs() < 1e-4);
    }
}
