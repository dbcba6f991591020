//! The front door: a scenario from Rust, from text to records.
//!
//! - [`scenario`]: read, checked, run.
//! - [`options`]: with strategies, prices and workloads of a program's own.

pub mod options;
pub mod scenario;

pub use options::Options;
pub use scenario::{RunError, Scenario};
