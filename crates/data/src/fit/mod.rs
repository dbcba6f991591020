//! Laws fitted to measurements: points in, a law and its error out. Pure mathematics; no files.
//!
//! - [`best`]: of the laws of step time the one that foretells best.
//! - [`linear`]: linear least squares, and the same with no coefficient below zero.
//! - [`minimise`]: non-linear least squares.
//! - [`quality`]: how well a fit meets what was measured.
//! - [`steps`]: laws of step time.
//! - [`pooled`]: one law for all shapes of a VM type; [`residual`]: how measurements vary around it.
//! - [`communication`]: communication learned across applications, by their parameters.
//! - [`epochs`]: laws of epochs.
//! - [`worker`]: the law of a worker's time by its size.
//!
//! Powers and logarithms are libm's, so that a fit gives the same bits on every machine.

pub mod best;
pub mod communication;
pub mod epochs;
pub mod linear;
pub mod minimise;
pub mod pooled;
pub mod quality;
pub mod residual;
pub mod steps;
pub mod worker;

pub use quality::Quality;
