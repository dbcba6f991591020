//! Files that people write, read with every mistake at once and at its place ([`input`]), and the language of figures in
//! them ([`expression`]).

pub mod expression;
pub mod input;
pub mod measurements;

/// What users of the crate `scavsim` may rely on, of this floor and those below.
pub mod face {
    pub use crate::input::{Diagnostic, Mistakes};
}
