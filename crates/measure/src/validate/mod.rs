//! What a workload says of measurements that were left out of it.
//!
//! In: a workload. Out: per way of leaving out, how far off the left-out measurements are from what
//! the rest says of them, and how often its 90 % intervals hold them. Laws are fitted to the rest
//! anew; nothing of what is asked is known to it.
//!
//! - [`split`]: one way of leaving out.
//! - `steps`: worker counts, batches, placements and large clusters left out, and all but a ladder; `folds`: which those are.
//! - `epochs`: batches left out.
//! - [`plans`]: runs of parallel plans.

mod epochs;
pub mod folds;
pub mod plans;
pub mod split;
pub mod steps;

pub use split::{Answer, Depth, UnansweredReason, ValidationSplit};

use scavsim_data::workload::Workload;

/// All splits of the measurements of `workload`; of those that they do not allow, why.
pub fn validate(workload: &Workload, depth: Depth) -> Vec<ValidationSplit> {
    let mut splits = steps::splits(workload, depth);
    splits.extend(epochs::splits(workload));
    splits
}
