//! Forms of a plan: what of the model it keeps, and what its replicas hold in parts.

use std::sync::Arc;

use crate::parallel::runtime::{Recompute, Shard};
use crate::parallel::{LayerProfile, ReplicaSharing, Runtime};

/// What decides beside the degrees what a plan holds and computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// What the backward pass computes again.
    pub recompute: Recompute,
    /// What replicas hold in parts.
    pub shard: Shard,
    /// Whether GPUs that share a layer also share what lies between its products.
    pub sequence_parallel: bool,
    /// Whether hosts keep activations.
    pub offload: bool,
    pub sharing: ReplicaSharing,
}

impl Form {
    /// The form that a runtime gives its plans.
    pub fn from_runtime(runtime: &Runtime) -> Form {
        Form {
            recompute: runtime.recompute,
            shard: runtime.shard,
            sequence_parallel: runtime.sequence_parallel,
            offload: runtime.offload,
            sharing: ReplicaSharing::NONE,
        }
    }

    /// A runtime that gives its plans this form.
    pub fn under(&self, runtime: &Runtime) -> Runtime {
        Runtime {
            recompute: self.recompute,
            shard: self.shard,
            sequence_parallel: self.sequence_parallel,
            offload: self.offload,
            ..runtime.clone()
        }
    }
}

/// A form with what its plans are made of.
#[derive(Debug, Clone)]
pub struct PreparedForm {
    pub form: Form,
    /// What layers cost in it.
    pub profile: Arc<LayerProfile>,
    /// What the framework adds in it.
    pub runtime: Runtime,
    /// Stages where none are asked for; `None`: any number.
    pub usual_stages: Option<Vec<u32>>,
}
