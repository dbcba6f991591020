use serde::{Deserialize, Serialize};

use super::WorkerLaw;
use super::bounds::{ANY, OutOfBounds, at_least, laws};
use scavsim_base::Declaration;
use scavsim_read::input::checked::Positive;

laws! {
    pub enum ComputeLaw {
        Affine {
            /// a: seconds of a step whatever its size.
            base_s: f64 => ANY,
            /// b: seconds per sample.
            per_sample_s: f64 => 0.0,
        }: Declaration {
            name: "affine",
            what: "A worker's compute has a fixed part and a part for each of its samples.",
            formula: "t = a + b·x, x samples per worker and step; a = `base_s`, b = `per_sample_s`",
            source: "fitted by `import` to measured steps",
            example: "laws.steps.k80.compute.affine = { base_s = 0.01, per_sample_s = 0.003 }",
        },
        /// By samples and the size of the worker.
        Worker {
            /// n: its cores, or its FLOPS in any unit.
            size: Positive,
            /// κ: samples beyond which its throughput falls.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            knee: Option<Positive>,
            law: WorkerLaw,
        }: Declaration {
            name: "worker",
            what: "A worker's compute by its samples and its size, which VM types that stand in may have another of: for workers that are unlike.",
            formula: "t(b) = c + w·u/s_w(n) + (b + (β − 1)·max(0, b − κ))·u/s(n), n = `size`, κ = `knee`; u, w, c, s, s_w and β in `law`",
            source: "OmniLearn and ACSOS 2020, whose printed times it is fitted to",
            example: "laws.steps.k80.compute.worker = { size = 4, law = { sample_s = 0.02, speed = \"linear\" } }",
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizedWorker {
    /// n.
    pub size: f64,
    /// κ.
    pub knee: Option<f64>,
    pub law: WorkerLaw,
}

impl ComputeLaw {
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
    pub fn seconds(&self, local_batch: f64) -> f64 {
        self.law.step_s(local_batch, self.size, self.knee)
    }
}
