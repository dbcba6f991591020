//! Laws fitted to measurements: points in, a law and its error out. Pure mathematics; no files.
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
