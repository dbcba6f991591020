//! The ground of scavsim: what every floor above stands on, and nothing of machine learning.
//!
//! - [`units`]: simulated time in whole nanoseconds.
//! - [`rng`]: random streams by key, and samplers.
//! - [`stats`]: moments, lines, matrices, distributions, tests.
//! - `text`: tables and pages for the terminal, behind the feature `text`.
//! - [`Declaration`]: what a thing that scenarios name says of itself.
//! - [`output`]: files that the program writes, whole or not at all.

mod declaration;
pub mod output;
mod registry;
pub mod rng;
pub mod stats;
#[doc(hidden)]
pub mod tests;
#[cfg(feature = "text")]
pub mod text;
pub mod units;

pub use declaration::{Declaration, Declared};

/// What users of the crate `scavsim` may rely on, of this floor and those below.
pub mod face {
    pub use crate::rng::Stream;
}
