//! The workers as a policy sees them.

/// Smallest and largest batch of one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// b_min.
    pub least: f64,
    /// b_max.
    pub most: f64,
}

/// Sizes, bounds and global batch of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerGroup {
    /// Cores or FLOPS of each worker at the start: the guess of its throughput X_k.
    pub sizes: Vec<f64>,
    /// Bounds of each worker. Their sums enclose `batch`.
    pub bounds: Vec<Bounds>,
    /// Global batch K·b0, kept by all policies.
    pub batch: f64,
}
