use crate::testbed::Stop;
use scavsim_talk::conversation::ConversationError;
use scavsim_talk::lines::NotUnderstood;
use scavsim_talk::numbered_conversation::UnexpectedReply;

/// Why a search with somebody who answers lines has failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Breach {
    #[error("{0}")]
    Silence(#[from] ConversationError),
    #[error(transparent)]
    NotUnderstood(#[from] NotUnderstood),
    #[error(transparent)]
    Unasked(#[from] UnexpectedReply),
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
