//! `static`: batches in proportion to size, set once: b_k = K·b0·X_k / Σ X_i.

use crate::cluster::batching::{Group, Policy, shares};

/// Batches in proportion to the sizes at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proportional;

impl Policy for Proportional {
    fn start(&self, group: &Group, batches: &mut [f64]) {
        batches.copy_from_slice(&group.sizes);
        shares::scale(group, batches);
    }
}
