//! One worker's compute seconds by its local batch.

use serde::{Deserialize, Serialize};

use super::{ANY, at_least};

/// A law of compute time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ComputeLaw {
    /// a + b·x, with x the samples per worker and step.
    Affine {
        /// a: seconds of a step whatever its size.
        base_s: f64,
        /// b: seconds per sample.
        per_sample_s: f64,
    },
}

impl ComputeLaw {
    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// What is wrong with the first that does not.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            ComputeLaw::Affine {
                base_s,
                per_sample_s,
            } => at_least(&[("base_s", base_s, ANY), ("per_sample_s", per_sample_s, 0.0)]),
        }
    }

    /// Seconds for `local_batch` samples.
    pub fn seconds(&self, local_batch: f64) -> f64 {
        match *self {
            ComputeLaw::Affine {
                base_s,
                per_sample_s,
            } => base_s + per_sample_s * local_batch,
        }
    }
}
