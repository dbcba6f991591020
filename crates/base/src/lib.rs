//! The ground of scavsim: what every floor above stands on, and nothing of machine learning.
//!
//! - [`units`]: simulated time in whole nanoseconds.
//! - [`rng`]: random streams by key, and samplers.
//! - [`stats`]: moments, lines, matrices, distributions, tests.
//! - `text`: tables and pages for the terminal, behind the feature `text`.
//! - [`Declaration`]: what a thing that scenarios name says of itself.
//! - [`Lock`]: one process at a time in a folder.

mod declaration;
mod lock;
pub mod rng;
pub mod stats;
#[cfg(feature = "text")]
pub mod text;
pub mod units;

pub use declaration::{Declaration, Declared};
pub use lock::Lock;

/// What users of the crate `scavsim` may rely on, of this floor and those below.
pub mod face {
    pub use crate::rng::Stream;
}
