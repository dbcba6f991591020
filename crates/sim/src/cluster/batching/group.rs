#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub least: f64,
    pub most: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WorkerGroup {
    /// Cores or FLOPS of each worker at the start: the guess of its throughput X_k.
    pub sizes: Vec<f64>,
    /// Bounds of each worker. Their sums enclose `batch`.
    pub bounds: Vec<Bounds>,
    /// Global batch K·b0, kept by all policies.
    pub batch: f64,
}
