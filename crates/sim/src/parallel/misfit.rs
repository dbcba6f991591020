//! Why a plan cannot be.

use std::sync::Arc;

use super::Scope;

/// Why a plan cannot be run: a hole in the space of plans, with its reason. Stages are counted from 0, said from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// A stage needs more memory than its GPUs have.
    #[error("stage {} needs {needed_gib:.1} GiB per {gpu}, which has {available_gib:.1}", stage + 1)]
    Memory {
        /// The stage.
        stage: u32,
        /// GPU that has too little.
        gpu: Arc<str>,
        /// Bytes that it needs at its peak / 2³⁰.
        needed_gib: f64,
        /// Bytes that the GPU has / 2³⁰.
        available_gib: f64,
    },
    /// A layer was not profiled on a GPU at a micro-batch and tensor degree.
    #[error(
        "no profile of {model} on {gpu} at micro-batch {micro_batch} and tensor degree {tensor}; profiled: {profiled}"
    )]
    NoProfile {
        /// The model.
        model: Arc<str>,
        /// The GPU.
        gpu: Arc<str>,
        /// Sequences per micro-batch.
        micro_batch: u32,
        /// GPUs that share a layer.
        tensor: u32,
        /// What was profiled there, in words.
        profiled: String,
    },
    /// What a layer weighs is not known at a tensor degree.
    #[error("the memory of {model} is not known at tensor degree {tensor}")]
    MemoryUnknown {
        /// The model.
        model: Arc<str>,
        /// GPUs that share a layer.
        tensor: u32,
    },
    /// The memory of a GPU is not known.
    #[error("the memory of a GPU of {node} is not known: give it in GiB")]
    GpuMemoryUnknown {
        /// The kind of node.
        node: Arc<str>,
    },
    /// The bandwidth of a link is not known.
    #[error("no link {scope} from {from} to {to}")]
    NoLink {
        /// Between which places.
        scope: Scope,
        /// The GPU that sends.
        from: Arc<str>,
        /// The GPU that receives.
        to: Arc<str>,
    },
    /// The stages are not all layers of the model in order.
    #[error("stages must cover layers 0 to {last} in order: stage {} has layers {first_found} to {last_found}, expected it to {expected}", stage + 1)]
    Layers {
        /// The stage.
        stage: u32,
        /// First layer of the stage.
        first_found: u32,
        /// Last layer of the stage.
        last_found: u32,
        /// The last layer of the model.
        last: u32,
        /// What is expected of the stage.
        expected: String,
    },
    /// Numbers of the plan that do not go together.
    #[error("{0}")]
    Shape(String),
}
