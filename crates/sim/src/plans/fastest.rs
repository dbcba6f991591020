use std::collections::HashMap;
use std::sync::Arc;

/// The fastest plan on so many GPUs or fewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastestOn {
    pub gpus: u32,
    pub step_s: f64,
    /// Data-parallel replicas of the plan.
    pub data: u32,
    /// Number of the plan.
    pub at: usize,
}

/// For each offer and batch: the fastest plans, on ever more GPUs.
pub type Fastest = HashMap<(u32, u32), Arc<[FastestOn]>>;
