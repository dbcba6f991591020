//! Why a part of an expression has no value.

use std::error::Error;

/// A mistake in an argument, a row or the size of an expression; the message around it has the place.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("`{0}` is missing")]
    Missing(String),
    #[error("`{name}` is {expected}, not {found}")]
    Unlike {
        name: String,
        expected: String,
        found: String,
    },
    #[error("`{name}` holds {found}, not a number")]
    Holds { name: String, found: String },
    #[error("`{0}` is empty")]
    Empty(String),
    #[error("`{name}` needs numbers, found {found}")]
    NoNumber { name: String, found: String },
    /// `nth` of a value that is not a list.
    #[error("the first argument is a list")]
    NoList,
    /// `nth` outside the list.
    #[error("the list of {length} has no number {number}")]
    BeyondList { length: usize, number: f64 },
    #[error("the figure takes more than {0} steps")]
    Steps(u64),
    #[error("the figure keeps more than {0} values at once")]
    Values(u64),
    #[error("more than {0} parts inside of each other")]
    Depth(u32),
}

/// Why a function or table outside of the language has no value: its own error.
pub type Refusal = Box<dyn Error>;
