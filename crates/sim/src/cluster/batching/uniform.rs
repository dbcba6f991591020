//! Every worker has the same batch, as far as its bounds allow.

use crate::cluster::batching::{BatchPolicy, WorkerGroup, shares};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uniform;

impl BatchPolicy for Uniform {
    fn start(&self, group: &WorkerGroup, batches: &mut [f64]) {
        batches.fill(group.batch / batches.len() as f64);
        shares::scale(group, batches);
    }
}
