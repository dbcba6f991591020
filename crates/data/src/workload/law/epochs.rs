//! Passes over the data set to the target by the global batch B.

use serde::{Deserialize, Serialize};

use super::bounds::{ABOVE_ZERO, ANY, OutOfBounds, at_least, laws};
use scavsim_base::Declaration;

laws! {
    pub enum EpochLaw {
        Constant {
            /// e*.
            epochs: f64 => ABOVE_ZERO,
        }: Declaration {
            name: "constant",
            what: "Epochs are the same for every batch: they are stated, or have no trend.",
            formula: "e = `epochs`",
            source: "stated by whoever measured",
            example: "laws.epochs.constant = { epochs = 30 }",
        },
        /// A line in the normalised noise γ/K, only inside of what was measured.
        AffineNoise {
            /// e*.
            base_epochs: f64 => ANY,
            /// θ: epochs per unit of γ/K.
            per_noise: f64 => ANY,
            /// Least γ/K that it was fitted to.
            least_noise: f64 => 0.0,
            /// Greatest γ/K that it was fitted to.
            greatest_noise: f64 => least_noise,
        }: Declaration {
            name: "affine-noise",
            what: "Epochs fall with the batch, as the noise says; only inside the noise that the law was fitted to.",
            formula: "e* + θ·(γ/K), from `least_noise` to `greatest_noise`; e* = `base_epochs`, θ = `per_noise`",
            source: "Scavenger (Tyagi & Sharma 2023)",
            example: "laws.epochs.affine-noise = { base_epochs = -100, per_noise = 400, least_noise = 0.7, greatest_noise = 0.8 }",
        },
        /// By one noise scale: they rise with B.
        NoiseScale {
            /// e*.
            base_epochs: f64 => ABOVE_ZERO,
            /// B_n in samples.
            noise_scale_samples: f64 => ABOVE_ZERO,
        }: Declaration {
            name: "noise-scale",
            what: "Epochs rise with the batch.",
            formula: "e*·(1 + B/B_n); e* = `base_epochs`, B_n = `noise_scale_samples`",
            source: "McCandlish et al. 2018; fitted to MLPerf",
            example: "laws.epochs.noise-scale = { base_epochs = 34.6, noise_scale_samples = 46910 }",
        },
        /// Steps replayed over a measured noise scale, see [`super::goodput`]: from `phi.csv`.
        Goodput {
            /// M₀: the batch whose steps count progress.
            initial_batch: u32 => 1.0,
            /// Progress at the target, in steps at M₀.
            target_progress: f64 => ABOVE_ZERO,
        }: Declaration {
            name: "goodput",
            what: "Steps are replayed over the noise scale measured through training, in `phi.csv`.",
            formula: "a step is worth (B/M₀)·(φ_p + M₀)/(φ_p + B) steps at M₀ = `initial_batch`, φ_p at progress p, until `target_progress`",
            source: "Pollux (Qiao et al., OSDI 2021), after AdaScale",
            example: "laws.epochs.goodput = { initial_batch = 128, target_progress = 39063 }",
        },
    }
}

impl EpochLaw {
    /// `None` outside the law's range, and for [`EpochLaw::Goodput`], which needs the noise scale over training.
    pub fn epochs(&self, batch: f64, noise_normalised: Option<f64>) -> Option<f64> {
        match *self {
            EpochLaw::Constant { epochs } => Some(epochs),
            EpochLaw::AffineNoise {
                base_epochs,
                per_noise,
                least_noise,
                greatest_noise,
            } => {
                let noise = noise_normalised?;
                let inside = (least_noise..=greatest_noise).contains(&noise);
                inside.then_some(base_epochs + per_noise * noise)
            }
            EpochLaw::NoiseScale {
                base_epochs,
                noise_scale_samples,
            } => Some(base_epochs * (1.0 + batch / noise_scale_samples)),
            EpochLaw::Goodput { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_fall_along_the_noise_and_rise_with_the_batch() {
        let affine = EpochLaw::AffineNoise {
            base_epochs: -100.0,
            per_noise: 400.0,
            least_noise: 0.7,
            greatest_noise: 0.8,
        };
        assert_eq!(affine.epochs(1.0, Some(0.75)), Some(200.0));
        assert_eq!(affine.epochs(1.0, Some(0.81)), None);
        assert_eq!(affine.epochs(1.0, None), None);
        let scale = EpochLaw::NoiseScale {
            base_epochs: 34.6,
            noise_scale_samples: 46_910.0,
        };
        assert_eq!(scale.epochs(46_910.0, None), Some(69.2));
        let constant = EpochLaw::Constant { epochs: 2.0 };
        assert_eq!(constant.epochs(1e6, None), Some(2.0));
        assert!(EpochLaw::Constant { epochs: 0.0 }.check().is_err());
    }
}
