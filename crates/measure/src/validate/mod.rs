//! What a workload says of measurements that were left out of it: per way of leaving out, how far off the rest, with laws
//! fitted anew, is from them, and how often its 90 % intervals hold them.

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
