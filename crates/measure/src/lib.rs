//! Conclusions from measurements of a job: advice, validation, comparisons.
//!
//! - [`advise`]: measurements → which configuration to rent, and which to measure next.
//! - [`validate`]: predictions of held-out measurements of a workload.
//! - [`compare`]: comparisons of strategies.
//! - [`mod@bench`]: comparisons on a fixed suite, and submissions.

pub mod advise;
pub mod bench;
pub mod compare;
pub mod validate;
