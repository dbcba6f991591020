//! Why a part of an expression has no value.

use std::error::Error;

/// What is wrong with an argument, a row or the size of an expression; the place stands in the message around it.
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
    /// `nth` of something else than a list.
    #[error("the first argument is a list")]
    NoList,
    /// `nth` beyond either end of the list.
    #[error("the list of {length} has no number {number}")]
    BeyondList { length: usize, number: f64 },
    #[error("the figure takes more than {0} steps")]
    Steps(u64),
    #[error("the figure keeps more than {0} values at once")]
    Values(u64),
    #[error("more than {0} parts inside of each other")]
    Depth(u32),
}

/// Why something outside of the language, a function or a table, gives nothing: as its own error says.
pub type Refusal = Box<dyn Error>;
