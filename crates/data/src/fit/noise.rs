//! Laws of the noise scale φ = tr Σ / |G|², in samples.

use super::Quality;
use super::linear::{Equation, least_squares};

/// φ(p, B) = φ₀·p^q·(B/M₀)^α, with p the share of the training done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerScale {
    /// φ₀ in samples.
    pub scale_samples: f64,
    /// M₀ in samples.
    pub initial_batch: u32,
    /// α.
    pub batch_exponent: f64,
    /// q.
    pub progress_exponent: f64,
    /// Error on ln φ. Its MAPE says little where ln φ is near zero.
    pub quality: Quality,
}

/// The power law through (p, B, φ), least squares of ln φ. Points without a finite logarithm are left out.
pub fn power_scale(initial_batch: u32, points: &[(f64, f64, f64)]) -> Option<PowerScale> {
    let ratio = |b: f64| libm::log(b / f64::from(initial_batch));
    let rows: Vec<([f64; 3], f64)> = points
        .iter()
        .map(|&(p, b, phi)| ([1.0, libm::log(p), ratio(b)], libm::log(phi)))
        .filter(|(x, y)| y.is_finite() && x.iter().all(|x| x.is_finite()))
        .collect();
    let c = least_squares(rows.iter().map(|&(x, y)| Equation::absolute(x, y)))?;
    let fitted = |&(x, y): &([f64; 3], f64)| (y, c[0] + c[1] * x[1] + c[2] * x[2]);
    Some(PowerScale {
        scale_samples: libm::exp(c[0]),
        initial_batch,
        batch_exponent: c[2],
        progress_exponent: c[1],
        quality: Quality::from_pairs(rows.iter().map(fitted)),
    })
}

/// φ of a normalised noise γ/K = (B + K φ) / (K (B + φ)); `None` outside 1/K < γ/K < 1.
pub fn scale_of_noise(workers: u32, batch: f64, noise_normalised: f64) -> Option<f64> {
    let k = f64::from(workers);
    let inside = noise_normalised * k > 1.0 && noise_normalised < 1.0;
    inside.then(|| batch * (noise_normalised * k - 1.0) / (k * (1.0 - noise_normalised)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_points_give_back_their_law() {
        let points: Vec<_> = [(0.1, 64.0), (0.5, 64.0), (1.0, 512.0), (0.2, 256.0)]
            .map(|(p, b): (f64, f64)| (p, b, 900.0 * p.powf(1.5) * (b / 64.0).powf(0.4)))
            .into();
        let law = power_scale(64, &points).expect("four points");
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        close(law.scale_samples, 900.0);
        close(law.batch_exponent, 0.4);
        close(law.progress_exponent, 1.5);
    }

    #[test]
    fn a_noise_gives_back_its_scale() {
        let (k, b, phi) = (8.0, 512.0, 1300.0);
        let noise = (b + k * phi) / (k * (b + phi));
        let back = scale_of_noise(8, b, noise).expect("inside");
        assert!((back - phi).abs() < 1e-9);
        assert_eq!(scale_of_noise(8, b, 0.125), None);
        assert_eq!(scale_of_noise(1, b, 1.0), None);
    }
}
