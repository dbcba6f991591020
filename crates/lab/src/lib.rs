//! Scenarios, run in parallel into records.
//!
//! - [`scenario`]: what a user writes, checked.
//! - [`experiment`]: scenario → cases → parallel run → records; the oracle and the accounting.
//! - [`door`]: a scenario from Rust.

pub mod door;
pub mod experiment;
pub mod scenario;

/// What users of the crate `scavsim` may rely on, of this floor and those below.
pub mod face {
    pub use scavsim_search::face::*;

    pub use crate::door::{Options, RunError, Scenario};
    #[cfg(feature = "arrow")]
    pub use crate::experiment::RecordBatches;
    pub use crate::experiment::{Finished, OwnedRecord, Record, RunEnding, Status};
}
