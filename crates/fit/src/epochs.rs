use super::Quality;
use super::linear::{Equation, least_squares};
use scavsim_data::workload::law::EpochLaw;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochFit {
    pub law: EpochLaw,
    pub quality: Quality,
}

pub fn constant(epochs: &[f64]) -> Option<EpochFit> {
    let mean = epochs.iter().sum::<f64>() / epochs.len() as f64;
    let law = EpochLaw::Constant { epochs: mean };
    let quality = Quality::from_pairs(epochs.iter().map(|&e| (e, mean)));
    (!epochs.is_empty()).then_some(EpochFit { law, quality })
}

/// Mean error in % of a law of epochs, each pair (B, epochs) held out in turn; `None` if the others give no law.
pub fn left_out(
    pairs: &[(f64, f64)],
    fit: impl Fn(&[(f64, f64)]) -> Option<EpochFit>,
) -> Option<f64> {
    let mut sum = 0.0;
    for (out, &(batch, epochs)) in pairs.iter().enumerate() {
        let seen: Vec<(f64, f64)> = (pairs.iter().enumerate())
            .filter(|(i, _)| *i != out)
            .map(|(_, pair)| *pair)
            .collect();
        let foretold = fit(&seen)?.law.epochs(batch, None)?;
        sum += (foretold / epochs - 1.0).abs();
    }
    (!pairs.is_empty()).then(|| 100.0 * sum / pairs.len() as f64)
}

/// e*·(1 + B/B_n) over pairs (B, epochs), by relative least squares: e = e* + s·B, B_n = e*/s.
/// B_n is below zero where epochs fall with the batch. `None` with fewer than two batches.
pub fn noise_scale(pairs: &[(f64, f64)]) -> Option<EpochFit> {
    let equations = pairs.iter();
    let [base_epochs, slope] =
        least_squares(equations.map(|&(b, e)| Equation::relative([1.0, b], e)))?;
    let law = EpochLaw::NoiseScale {
        base_epochs,
        noise_scale_samples: base_epochs / slope,
    };
    let fitted = |&(b, e): &(f64, f64)| (e, base_epochs + slope * b);
    let quality = Quality::from_pairs(pairs.iter().map(fitted));
    Some(EpochFit { law, quality })
}

/// e* + θ·(γ/K) over pairs (γ/K, epochs), by relative least squares.
pub fn affine_noise(pairs: &[(f64, f64)]) -> Option<EpochFit> {
    let equations = pairs.iter();
    let [base_epochs, per_noise] =
        least_squares(equations.map(|&(g, e)| Equation::relative([1.0, g], e)))?;
    let noises = || pairs.iter().map(|p| p.0);
    let law = EpochLaw::AffineNoise {
        base_epochs,
        per_noise,
        least_noise: noises().fold(f64::INFINITY, f64::min),
        greatest_noise: noises().fold(0.0, f64::max),
    };
    let fitted = |&(g, e): &(f64, f64)| (e, base_epochs + per_noise * g);
    let quality = Quality::from_pairs(pairs.iter().map(fitted));
    Some(EpochFit { law, quality })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::tests::near;

    #[test]
    fn what_is_left_out_tells_a_line_from_a_mean() {
        let line = |pairs: &[(f64, f64)]| left_out(pairs, noise_scale);
        let of_mean = |seen: &[(f64, f64)]| constant(&seen.iter().map(|p| p.1).collect::<Vec<_>>());
        let mean = |pairs: &[(f64, f64)]| left_out(pairs, of_mean);
        let rising = [100.0, 200.0, 800.0].map(|b| (b, 30.0 * (1.0 + b / 400.0)));
        assert!(line(&rising) < Some(1e-9) && mean(&rising) > Some(10.0));
        let level = [(100.0, 30.0), (200.0, 31.0), (400.0, 30.0), (800.0, 31.0)];
        assert!(mean(&level) < line(&level));
        assert_eq!(line(&rising[..1]), None);
        assert_eq!(constant(&[]), None);
    }

    #[test]
    fn exact_points_give_back_their_law() {
        let rising = [100.0, 200.0, 800.0].map(|b| (b, 30.0 * (1.0 + b / 400.0)));
        let fit = noise_scale(&rising).expect("three batches");
        let expected = EpochLaw::NoiseScale {
            base_epochs: 30.0,
            noise_scale_samples: 400.0,
        };
        for batch in [1.0, 5000.0] {
            let [found, expected] = [fit.law, expected].map(|law| law.epochs(batch, None));
            near(found.expect("a law"), expected.expect("a law"), 1e-9);
        }
        assert!(fit.quality.mape < 1e-9);
        assert_eq!(noise_scale(&rising[..1]), None);

        let along = [0.7, 0.75, 0.8].map(|g| (g, -100.0 + 400.0 * g));
        let fit = affine_noise(&along).expect("three noises");
        assert!(fit.quality.mape < 1e-9);
        let epochs = fit.law.epochs(1.0, Some(0.72)).expect("inside");
        near(epochs, 188.0, 1e-9);
    }
}
