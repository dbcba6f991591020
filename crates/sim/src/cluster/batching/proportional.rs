//! `static`: batches in proportion to size, set once: b_k = K·b0·X_k / Σ X_i.

use crate::cluster::batching::{BatchPolicy, WorkerGroup, shares};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proportional;

impl BatchPolicy for Proportional {
    fn start(&self, group: &WorkerGroup, batches: &mut [f64]) {
        batches.copy_from_slice(&group.sizes);
        shares::scale(group, batches);
    }
}
