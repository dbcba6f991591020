//! Passes over the data set to the target by the global batch B.

use serde::{Deserialize, Serialize};

use super::bounds::{ABOVE_ZERO, ANY, OutOfBounds, at_least};
use scavsim_base::Declaration;

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum EpochLaw {
    Constant {
        /// e*.
        epochs: f64,
    },
    /// A line in the normalised noise γ/K, only inside of what was measured.
    AffineNoise {
        /// e*.
        base_epochs: f64,
        /// θ: epochs per unit of γ/K.
        per_noise: f64,
        /// Least γ/K that it was fitted to.
        least_noise: f64,
        /// Greatest γ/K that it was fitted to.
        greatest_noise: f64,
    },
    /// By one noise scale: they rise with B.
    NoiseScale {
        /// e*.
        base_epochs: f64,
        /// B_n in samples.
        noise_scale_samples: f64,
    },
    /// Steps replayed over a measured noise scale, see [`super::goodput`]: from `phi.csv`.
    Goodput {
        /// M₀: the batch whose steps count progress.
        initial_batch: u32,
        /// Progress at the target, in steps at M₀.
        target_progress: f64,
    },
}

impl EpochLaw {
    pub const DECLARED: &'static [Declaration] = &[
        Declaration {
            name: "constant",
            what: "Epochs are the same for every batch: they are stated, or have no trend.",
            formula: "e = `epochs`",
            source: "stated by whoever measured",
            example: "laws.epochs.constant = { epochs = 30 }",
        },
        Declaration {
            name: "affine-noise",
            what: "Epochs fall with the batch, as the noise says; only inside the noise that the law was fitted to.",
            formula: "e* + θ·(γ/K), from `least_noise` to `greatest_noise`; e* = `base_epochs`, θ = `per_noise`",
            source: "Scavenger (Tyagi & Sharma 2023)",
            example: "laws.epochs.affine-noise = { base_epochs = -100, per_noise = 400, least_noise = 0.7, greatest_noise = 0.8 }",
        },
        Declaration {
            name: "noise-scale",
            what: "Epochs rise with the batch.",
            formula: "e*·(1 + B/B_n); e* = `base_epochs`, B_n = `noise_scale_samples`",
            source: "McCandlish et al. 2018; fitted to MLPerf",
            example: "laws.epochs.noise-scale = { base_epochs = 34.6, noise_scale_samples = 46910 }",
        },
        Declaration {
            name: "goodput",
            what: "Steps are replayed over the noise scale measured through training, in `phi.csv`.",
            formula: "a step is worth (B/M₀)·(φ_p + M₀)/(φ_p + B) steps at M₀ = `initial_batch`, φ_p at progress p, until `target_progress`",
            source: "Pollux (Qiao et al., OSDI 2021), after AdaScale",
            example: "laws.epochs.goodput = { initial_batch = 128, target_progress = 39063 }",
        },
    ];

    pub fn check(&self) -> Result<(), OutOfBounds> {
        match *self {
            EpochLaw::Constant { epochs } => at_least(&[("epochs", epochs, ABOVE_ZERO)]),
            EpochLaw::AffineNoise {
                base_epochs,
                per_noise,
                least_noise,
                greatest_noise,
            } => at_least(&[
                ("base_epochs", base_epochs, ANY),
                ("per_noise", per_noise, ANY),
                ("least_noise", least_noise, 0.0),
                ("greatest_noise", greatest_noise, least_noise),
            ]),
            EpochLaw::NoiseScale {
                base_epochs,
                noise_scale_samples,
            } => at_least(&[
                ("base_epochs", base_epochs, ABOVE_ZERO),
                ("noise_scale_samples", noise_scale_samples, ABOVE_ZERO),
            ]),
            EpochLaw::Goodput {
                initial_batch,
                target_progress,
            } => at_least(&[
                ("initial_batch", f64::from(initial_batch), 1.0),
                ("target_progress", target_progress, ABOVE_ZERO),
            ]),
        }
    }

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
