#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplicaSharing {
    /// Replicas that share each sequence: context parallelism.
    pub context: u32,
    /// Replicas that share the experts of each block: expert parallelism.
    pub expert: u32,
}

impl ReplicaSharing {
    pub const NONE: ReplicaSharing = ReplicaSharing {
        context: 1,
        expert: 1,
    };
}
