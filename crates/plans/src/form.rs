use std::sync::Arc;

use scavsim_parallel::runtime::{Recompute, Shard};
use scavsim_parallel::{LayerProfile, ReplicaSharing, Runtime};

/// What decides beside the degrees what a plan holds and computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    pub recompute: Recompute,
    pub shard: Shard,
    pub sequence_parallel: bool,
    pub offload: bool,
    pub compress: u32,
    pub sharing: ReplicaSharing,
}

impl Form {
    pub fn from_runtime(runtime: &Runtime) -> Form {
        Form {
            recompute: runtime.recompute,
            shard: runtime.shard,
            sequence_parallel: runtime.sequence_parallel,
            offload: runtime.offload,
            compress: runtime.compress,
            sharing: ReplicaSharing::NONE,
        }
    }

    pub fn under(&self, runtime: &Runtime) -> Runtime {
        Runtime {
            recompute: self.recompute,
            shard: self.shard,
            sequence_parallel: self.sequence_parallel,
            offload: self.offload,
            compress: self.compress,
            ..runtime.clone()
        }
    }
}

#[derive(Debug, Clone)]
pub struct PreparedForm {
    pub form: Form,
    pub profile: Arc<LayerProfile>,
    pub runtime: Runtime,
    /// Stages where none are asked for; `None`: any number.
    pub usual_stages: Option<Vec<u32>>,
}
