//! Reads files of users, with every mistake at once and at its place ([`input`]), and the language of figures in them
//! ([`expression`]).

pub mod expression;
pub mod input;
pub mod measurements;

/// The supported API of the crate `scavsim`, from this crate and those below.
pub mod face {
    pub use crate::input::{Diagnostic, Mistakes};
}
