use std::collections::HashMap;
use std::sync::Arc;

/// The fastest plan on so many GPUs or fewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastestOn {
    pub gpus: u32,
    pub step_s: f64,
    pub data: u32,
    pub at: usize,
}

/// For each offer and batch: the fastest plans, on ever more GPUs.
pub type Fastest = HashMap<(u32, u32), Arc<[FastestOn]>>;
