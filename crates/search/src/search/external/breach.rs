//! Why a search with somebody who answers lines has failed.

use std::error::Error;
use std::io;

use crate::search::Unusable;
use crate::testbed::Stop;

/// Why there is no answer, or no conversation, as whoever answers says it.
pub type Silence = Box<dyn Error + Send + Sync>;

/// Why a search with somebody who answers lines has failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Breach {
    #[error("{0}")]
    Silence(#[from] Silence),
    #[error("the program's answer is not understood: {line}: {why}")]
    NotUnderstood { line: String, why: String },
    #[error("the program said more than it was asked, without the number of a line: {0}")]
    WithoutNumber(String),
    #[error(
        "the program said more than it was asked: it answers line {answered} where line {told} was told: {answer}"
    )]
    OtherLine {
        answered: u64,
        told: u64,
        answer: String,
    },
    #[error("the program goes on with a search that is over")]
    GoesOn,
    #[error("the program is ready in the middle of a search")]
    ReadyTooSoon,
    #[error("the program asks for a probe of two lengths")]
    TwoLengths,
    #[error("the program predicts {found} configurations of {expected}")]
    OtherCount { found: usize, expected: usize },
    #[error(
        "the program predicts {time_s} s for configuration {at}: seconds are above 0, and null where nothing is known"
    )]
    NoTime { time_s: f64, at: usize },
    #[error("the search took more than {0} s (`max_search_s`)")]
    TooLong(f64),
    #[error("the search asked for more than {0} probes (`max_probes`)")]
    TooManyProbes(u32),
}

impl From<Breach> for Stop {
    fn from(breach: Breach) -> Stop {
        Stop::Failed(breach.to_string())
    }
}

/// Why a program does not start.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoStart {
    #[error(transparent)]
    Unusable(#[from] Unusable),
    #[cfg(unix)]
    #[error("the shell that ends the program with scavsim does not start: {0}")]
    Guard(io::Error),
    #[error("the program does not start: {0}")]
    Program(io::Error),
    #[error("the program does not start: it has no pipes")]
    NoPipes,
}
