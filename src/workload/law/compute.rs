//! One worker's compute seconds by its local batch.

use serde::{Deserialize, Serialize};

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
