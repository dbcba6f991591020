//! Somebody who answers lines of JSON.

use std::error::Error;

/// Why there is no answer, or no conversation, as whoever answers says it.
pub type ConversationError = Box<dyn Error + Send + Sync>;

/// Somebody who searches, or decides, by answering lines of JSON with lines of JSON, as `docs/own-strategy.md` and
/// `docs/own-policy.md` have them: one search or life after the other.
pub trait Conversation: Send {
    /// The answer to a line.
    ///
    /// # Errors
    /// Why there is none: the search or life has failed, and the conversation is over.
    fn answer(&mut self, line: String) -> Result<String, ConversationError>;

    /// A search or life is over: whether there can be another one. Not asked of who repeats the number of each line: that one
    /// is told, and answers.
    ///
    /// # Errors
    /// What was wrong with it after all.
    fn over(&mut self) -> Result<bool, ConversationError> {
        Ok(true)
    }
}
