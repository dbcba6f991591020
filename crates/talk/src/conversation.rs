//! A partner that answers lines of JSON.

use std::error::Error;

/// Why there is no answer, or no conversation, in the partner's words.
pub type ConversationError = Box<dyn Error + Send + Sync>;

/// A partner that searches, or decides, by answering lines of JSON with lines of JSON, as in `docs/own-strategy.md` and
/// `docs/own-policy.md`: one search or life after another.
pub trait Conversation: Send {
    /// The answer to a line.
    ///
    /// # Errors
    /// Why there is none: the search or life has failed, and the conversation ends.
    fn answer(&mut self, line: String) -> Result<String, ConversationError>;

    /// Ends a search or life; returns whether another one is possible. A partner that repeats the number of each line is
    /// notified by a line instead, and answers it.
    ///
    /// # Errors
    /// Why the search or life failed at its end.
    fn over(&mut self) -> Result<bool, ConversationError> {
        Ok(true)
    }
}
