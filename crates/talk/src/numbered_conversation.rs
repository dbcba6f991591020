//! Lines with numbers, and conversations that wait for the next task.
//!
//! Who repeats the numbers of lines cannot be taken to answer what it was not asked, and is asked after each task whether that
//! was all: what it said too much is then heard in the task that it belongs to, not in the next.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::conversation::{Conversation, ConversationError};
use crate::lines::shortened;

/// An answer to a line that was not told.
#[derive(Debug, thiserror::Error)]
pub enum UnexpectedReply {
    /// No number, after answers that had one.
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
}

/// A conversation under way. Its lines have numbers, so that a late answer is not taken for that to another line.
pub struct NumberedConversation {
    with: Box<dyn Conversation>,
    /// Number of the last line that was told.
    number: u64,
    /// Whether every answer had its number.
    is_numbered: bool,
}

/// What a conversation is told between two tasks.
const OVER: &str = "{\"over\":true}\n";

impl NumberedConversation {
    pub fn new(with: Box<dyn Conversation>) -> NumberedConversation {
        NumberedConversation {
            with,
            number: 0,
            is_numbered: true,
        }
    }

    /// Tells it a line, which is an object of JSON, and hears its answer; `understood` reads one, with the number that it
    /// repeats.
    pub fn ask<A, E: From<ConversationError> + From<UnexpectedReply>>(
        &mut self,
        line: &str,
        understood: impl FnOnce(&str) -> Result<(Option<u64>, A), E>,
    ) -> Result<A, E> {
        self.number += 1;
        let rest = line.strip_prefix('{').unwrap_or(line);
        let line = format!("{{\"number\":{},{rest}", self.number);
        let answer = self.with.answer(line)?;
        let (number, understood) = understood(&answer)?;
        match number {
            Some(number) if number == self.number => Ok(understood),
            // Who never began with it may go on without.
            None if !self.is_numbered || self.number == 1 => {
                self.is_numbered = false;
                Ok(understood)
            }
            None => Err(UnexpectedReply::WithoutNumber(shortened(&answer)).into()),
            Some(answered) => Err(UnexpectedReply::OtherLine {
                answered,
                told: self.number,
                answer: shortened(&answer),
            }
            .into()),
        }
    }

    /// After a task: the same conversation, if there can be another one. Who repeats numbers is told that it is over, and
    /// answers, which `understood` reads; `ready` refuses whatever does not say that there was no more to say.
    pub fn over<A, E: From<ConversationError> + From<UnexpectedReply>>(
        mut self,
        understood: impl FnOnce(&str) -> Result<(Option<u64>, A), E>,
        ready: impl FnOnce(A) -> Result<(), E>,
    ) -> Result<Option<NumberedConversation>, E> {
        let goes_on = if self.is_numbered {
            let answer = self.ask(OVER, understood)?;
            ready(answer).map(|()| true)?
        } else {
            self.with.over()?
        };
        Ok(goes_on.then_some(self))
    }
}

impl fmt::Debug for NumberedConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NumberedConversation")
    }
}

/// Conversations between two tasks: as many as there are threads at most.
#[derive(Clone, Default)]
pub struct ConversationPool(Arc<Mutex<Vec<NumberedConversation>>>);

impl ConversationPool {
    /// One that waits, if any does.
    pub fn pop(&self) -> Option<NumberedConversation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Lets one wait.
    pub fn push(&self, talk: NumberedConversation) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(talk);
    }
}

impl fmt::Debug for ConversationPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConversationPool")
    }
}
