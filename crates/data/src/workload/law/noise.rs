//! The gradient noise scale φ by batch and progress.

use serde::{Deserialize, Serialize, Serializer};

use super::bounds::{ABOVE_ZERO, ANY, OutOfBounds, at_least, laws};
use scavsim_base::Declaration;

laws! {
    pub enum NoiseLaw {
        /// One noise scale for every batch, all through training.
        ConstantScale {
            /// φ in samples.
            noise_scale_samples: f64 => ABOVE_ZERO,
        }: Declaration {
            name: "constant-scale",
            what: "The noise scale is one for every batch, all through training.",
            formula: "φ = `noise_scale_samples`",
            source: "derived from epochs by batch",
            example: "laws.noise.constant-scale = { noise_scale_samples = 12719.7 }",
        },
        /// A power of the batch and of the share of progress made.
        PowerScale {
            /// φ₀: samples at the target, with the initial batch.
            scale_samples: f64 => ABOVE_ZERO,
            /// M₀.
            #[serde(serialize_with = "as_whole")]
            initial_batch: f64 => ABOVE_ZERO,
            /// α.
            batch_exponent: f64 => ANY,
            /// q.
            progress_exponent: f64 => 0.0,
        }: Declaration {
            name: "power-scale",
            what: "The noise scale grows with batch and progress.",
            formula: "φ₀·p^q·(B/M₀)^α, p the share of progress made; φ₀ = `scale_samples`, M₀ = `initial_batch`, α = `batch_exponent`, q = `progress_exponent`",
            source: "fitted to the runs of Pollux",
            example: "laws.noise.power-scale = { scale_samples = 21593.7, initial_batch = 128, batch_exponent = 0.43, progress_exponent = 1.46 }",
        },
    }
}

/// A batch is a whole number, and is written as one.
fn as_whole<S: Serializer>(batch: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *batch as u64 {
        whole if whole as f64 == *batch => serializer.serialize_u64(whole),
        _ => serializer.serialize_f64(*batch),
    }
}

impl NoiseLaw {
    /// φ in samples with global batch `batch`, when `progress` (0 to 1) of the way is done.
    pub fn noise_scale(&self, batch: f64, progress: f64) -> f64 {
        match *self {
            NoiseLaw::ConstantScale {
                noise_scale_samples,
            } => noise_scale_samples,
            NoiseLaw::PowerScale {
                scale_samples,
                initial_batch,
                batch_exponent,
                progress_exponent,
            } => {
                scale_samples
                    * libm::pow(progress, progress_exponent)
                    * libm::pow(batch / initial_batch, batch_exponent)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_law_grows_with_progress_and_batch() {
        let law = NoiseLaw::PowerScale {
            scale_samples: 1000.0,
            initial_batch: 100.0,
            batch_exponent: 0.5,
            progress_exponent: 2.0,
        };
        assert!((law.noise_scale(400.0, 0.5) - 500.0).abs() < 1e-9);
        assert_eq!(law.noise_scale(100.0, 0.0), 0.0);
    }
}
