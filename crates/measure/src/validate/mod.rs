//! Predictions of a workload for held-out measurements. For each way of holding out: the error of the remaining measurements
//! with laws fitted again, and the coverage of the 90 % intervals.

mod epochs;
pub mod folds;
pub mod plans;
pub mod split;
pub mod steps;

pub use split::{Answer, Depth, UnansweredReason, ValidationSplit};

use scavsim_data::workload::Workload;

/// All splits of the measurements of `workload`; for impossible ones, the reason.
pub fn validate(workload: &Workload, depth: Depth) -> Vec<ValidationSplit> {
    let mut splits = steps::splits(workload, depth);
    splits.extend(epochs::splits(workload));
    splits
}
