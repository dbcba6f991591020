//! Scenarios, run in parallel into records: from [`scenario`], what a user writes, by [`experiment`], or from Rust by [`door`].

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
