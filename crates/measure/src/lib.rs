//! What measurements say of a job: advice, validation, comparisons.
//!
//! - [`advise`]: measurements → which configuration to take, and which to measure next.
//! - [`validate`]: measurements left out of a workload, and what the rest says of them.
//! - [`compare`]: strategies beside each other.
//! - [`mod@bench`]: the same on a suite that does not change, and what strangers hand in.

pub mod advise;
pub mod bench;
pub mod compare;
pub mod validate;
