//! Lines with numbers, and conversations that wait for the next task.
//!
//! A program that repeats the numbers of lines cannot answer another line by mistake. After each task it is asked whether
//! that was all, so that extra lines count for the task that they belong to.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;

use crate::conversation::{Conversation, ConversationError};
use crate::lines::{NotUnderstood, read, shortened};
use crate::program::MessageTerms;

#[derive(Debug, thiserror::Error)]
pub enum Breach {
    /// No answer, or an invalid one.
    #[error("{0}")]
    Wrong(String),
    /// A failure that the program itself reports: it can continue with another task.
    #[error("{0}")]
    Fails(String),
    /// The message after a task, received during this one.
    #[error("the program is ready in the middle of a {0}")]
    Ready(&'static str),
    #[error("interrupted")]
    Interrupted,
}

/// An answer with at most one of these.
#[derive(Debug)]
pub struct Said<A> {
    /// Number of the line that it answers, as repeated by the program.
    pub number: Option<u64>,
    pub answers: Vec<A>,
    pub fail: Option<String>,
    /// The program received the end of a task, and has no more lines.
    pub is_ready: bool,
}

/// A conversation in progress; numbers detect late answers.
pub struct NumberedConversation {
    with: Box<dyn Conversation>,
    terms: MessageTerms,
    number: u64,
    is_numbered: bool,
}

impl NumberedConversation {
    pub fn is_new(&self) -> bool {
        self.number == 0
    }

    /// Sends an object of JSON and reads the answer; `understood` converts it, or reports why it is invalid.
    pub fn ask<R: DeserializeOwned, A>(
        &mut self,
        object: &str,
        understood: impl FnOnce(R) -> Result<Said<A>, NotUnderstood>,
    ) -> Result<A, Breach> {
        self.number += 1;
        let rest = object.strip_prefix('{').unwrap_or(object);
        let line = format!("{{\"number\":{},{rest}\n", self.number);
        let line = self.with.answer(line).map_err(silent)?;
        let answer = shortened(&line);
        let wrong = |why: NotUnderstood| {
            Breach::Wrong(format!(
                "the program's answer is not understood: {answer}: {why}"
            ))
        };
        let said = read(&line).and_then(understood).map_err(wrong)?;
        let fails = said.fail.map(|why| Err(Breach::Fails(shortened(&why))));
        let ready = said.is_ready.then_some(Err(Breach::Ready(self.terms.task)));
        let all = said.answers.into_iter().map(Ok);
        let mut all = all.chain(fails).chain(ready);
        let (Some(one), None) = (all.next(), all.next()) else {
            let why = format!("expected one of {}", self.terms.answers);
            return Err(wrong(NotUnderstood(why)));
        };
        match said.number {
            Some(number) if number == self.number => one,
            // A program that never used numbers may go on without them.
            None if !self.is_numbered || self.number == 1 => {
                self.is_numbered = false;
                one
            }
            None => Err(Breach::Wrong(format!(
                "the program said more than it was asked, without the number of a line: {answer}"
            ))),
            Some(number) => Err(Breach::Wrong(format!(
                "the program said more than it was asked: it answers line {number} where line {} was sent: {answer}",
                self.number
            ))),
        }
    }
}

fn silent(why: ConversationError) -> Breach {
    Breach::Wrong(why.to_string())
}

impl fmt::Debug for NumberedConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NumberedConversation")
    }
}

/// Idle conversations, at most one per thread, and the failures of tasks.
#[derive(Debug, Clone, Default)]
pub struct ConversationPool(Arc<Mutex<PoolState>>);

#[derive(Debug, Default)]
struct PoolState {
    waiting: Vec<NumberedConversation>,
    failures: BTreeMap<String, u32>,
}

/// Number of equal failures after which a program is given up.
const HOPELESS: u32 = 10;
const COUNTED: usize = 100;

impl ConversationPool {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take_or_open(
        &self,
        terms: MessageTerms,
        open: impl FnOnce() -> Result<Box<dyn Conversation>, ConversationError>,
    ) -> Result<NumberedConversation, Breach> {
        if let Some(waiting) = self.state().waiting.pop() {
            return Ok(waiting);
        }
        Ok(NumberedConversation {
            with: open().map_err(silent)?,
            terms,
            number: 0,
            is_numbered: true,
        })
    }

    /// Returns a conversation after a task, if it can have another one. A program that repeats numbers is notified of the
    /// end, and must have no more lines.
    pub fn put_back<R: DeserializeOwned, A>(
        &self,
        mut talk: NumberedConversation,
        understood: impl FnOnce(R) -> Result<Said<A>, NotUnderstood>,
    ) -> Result<(), Breach> {
        let goes_on = if talk.is_numbered {
            match talk.ask("{\"over\":true}", understood) {
                Err(Breach::Ready(_)) => true,
                Err(wrong @ Breach::Wrong(_)) => return Err(wrong),
                _ => {
                    let why = format!(
                        "the program goes on with a {} that is over",
                        talk.terms.task
                    );
                    return Err(Breach::Wrong(why));
                }
            }
        } else {
            talk.with.over().map_err(silent)?
        };
        if goes_on {
            self.state().waiting.push(talk);
        }
        Ok(())
    }

    pub fn count(&self, failure: &str) {
        let failures = &mut self.state().failures;
        if failures.len() < COUNTED || failures.contains_key(failure) {
            *failures.entry(failure.to_owned()).or_default() += 1;
        }
    }

    /// Why a program is given up: ten tasks failed in this way.
    pub fn hopeless(&self) -> Option<String> {
        let state = self.state();
        let mut often = state
            .failures
            .iter()
            .filter(|(_, count)| **count >= HOPELESS);
        often.next().map(|(why, _)| why.clone())
    }
}
