use std::sync::Arc;

use crate::Scope;

/// Why a plan cannot be run: an invalid point in the space of plans, with its reason. Stages are counted from 0, printed from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    #[error("stage {} needs {needed_gib:.1} GiB per {gpu}, which has {available_gib:.1}", stage + 1)]
    Memory {
        stage: u32,
        gpu: Arc<str>,
        /// Peak memory of the plan in GiB.
        needed_gib: f64,
        /// Memory of the GPU in GiB.
        available_gib: f64,
    },
    #[error(
        "no profile of {model} on {gpu} at micro-batch {micro_batch} and tensor degree {tensor}; profiled: {profiled}"
    )]
    NoProfile {
        model: Arc<str>,
        gpu: Arc<str>,
        /// Sequences per micro-batch.
        micro_batch: u32,
        /// GPUs that share a layer.
        tensor: u32,
        /// The profiled values, in words.
        profiled: String,
    },
    #[error("the memory of {model} is not known at tensor degree {tensor}")]
    MemoryUnknown { model: Arc<str>, tensor: u32 },
    #[error("the memory of a GPU of {node} is not known: give it in GiB")]
    GpuMemoryUnknown { node: Arc<str> },
    #[error("no link {scope} from {from} to {to}")]
    NoLink {
        scope: Scope,
        from: Arc<str>,
        to: Arc<str>,
    },
    #[error("stages must cover layers 0 to {last} in order: stage {} has layers {first_found} to {last_found}, expected it to {expected}", stage + 1)]
    Layers {
        stage: u32,
        first_found: u32,
        last_found: u32,
        last: u32,
        expected: String,
    },
    /// Numbers of the plan that contradict each other.
    #[error("{0}")]
    Shape(String),
}
