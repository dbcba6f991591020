//! Two-sample Kolmogorov–Smirnov test.

/// Outcome of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KolmogorovSmirnov {
    /// Largest distance between the two empirical distributions, in [0, 1].
    pub distance: f64,
    /// Probability of such a distance or a larger one when both samples have one distribution
    /// (asymptotic, with Stephens' correction for small samples).
    pub p_value: f64,
}

/// Compares two samples; their order does not matter, ties are allowed.
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
    fn critical_value_of_the_textbook() {
        assert!((tail(1.3581) - 0.05).abs() < 1e-4);
        assert!((tail(1.6276) - 0.01).abs() < 1e-4);
    }
}
