//! The shape of a layer's computation.

use crate::ReplicaSharing;

#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub micro_batch: f64,
    pub sequence: f64,
    pub tensor: u32,
    pub sharing: ReplicaSharing,
    /// Seconds of an all-reduce among them of a layer's output.
    pub all_reduce_s: f64,
}

impl Shape {
    /// Tokens of a micro-batch on a replica.
    pub(super) fn tokens(&self) -> f64 {
        self.micro_batch * self.sequence / f64::from(self.sharing.context)
    }

    pub(super) fn share(&self) -> f64 {
        1.0 / f64::from(self.tensor)
    }
}
