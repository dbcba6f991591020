//! The public API: a scenario from Rust, from text to records.

pub mod options;
pub mod scenario;

pub use options::Options;
pub use scenario::{RunError, Scenario};
