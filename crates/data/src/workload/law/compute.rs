//! One worker's compute seconds by its local batch.

use serde::{Deserialize, Serialize};

use super::WorkerLaw;
use super::bounds::{ANY, OutOfBounds, at_least};
use scavsim_read::input::checked::Positive;

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
    /// By the size of the worker, which VM types that stand in may have another of.
    Worker {
        /// n: its cores, or its FLOPS in any unit.
        size: Positive,
        /// κ: samples beyond which its throughput falls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        knee: Option<Positive>,
        /// Seconds by size and samples.
        law: WorkerLaw,
    },
}

/// A worker of a law by size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizedWorker {
    /// n.
    pub size: f64,
    /// κ.
    pub knee: Option<f64>,
    /// Seconds by size and samples.
    pub law: WorkerLaw,
}

impl ComputeLaw {
    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// What is wrong with the first that does not.
    pub fn check(&self) -> Result<(), OutOfBounds> {
        match *self {
            ComputeLaw::Affine {
                base_s,
                per_sample_s,
            } => at_least(&[("base_s", base_s, ANY), ("per_sample_s", per_sample_s, 0.0)]),
            // Its numbers are checked as they are read.
            ComputeLaw::Worker { .. } => Ok(()),
        }
    }

    /// Seconds for `local_batch` samples.
    pub fn seconds(&self, local_batch: f64) -> f64 {
        match *self {
            ComputeLaw::Affine {
                base_s,
                per_sample_s,
            } => base_s + per_sample_s * local_batch,
            ComputeLaw::Worker { .. } => {
                (self.sized()).map_or(f64::NAN, |w| w.seconds(local_batch))
            }
        }
    }

    /// The worker, where its size is in the law.
    pub fn sized(&self) -> Option<SizedWorker> {
        match *self {
            ComputeLaw::Worker { size, knee, law } => Some(SizedWorker {
                size: size.get(),
                knee: knee.map(Positive::get),
                law,
            }),
            ComputeLaw::Affine { .. } => None,
        }
    }
}

impl SizedWorker {
    /// Seconds for `local_batch` samples.
    pub fn seconds(&self, local_batch: f64) -> f64 {
        self.law.step_s(local_batch, self.size, self.knee)
    }
}
