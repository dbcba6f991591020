//! Strategies in Python: a conversation with an object that has `answer(line)`.

use std::error::Error;

use pyo3::prelude::*;
use scavsim::{Conversation, ConversationStrategy};

/// A recipe of `open`, which begins a conversation.
pub(crate) fn spoken(open: Py<PyAny>) -> ConversationStrategy {
    ConversationStrategy::new(move || {
        Python::attach(|py| match open.call0(py) {
            Ok(session) => Ok(Box::new(Session(session)) as Box<dyn Conversation>),
            Err(error) => Err(error.to_string().into()),
        })
    })
}

struct Session(Py<PyAny>);

impl Conversation for Session {
    fn answer(&mut self, line: String) -> Result<String, Box<dyn Error + Send + Sync>> {
        Python::attach(|py| {
            let answer = self.0.call_method1(py, "answer", (line,));
            answer
                .and_then(|answer| answer.extract::<String>(py))
                .map_err(|error| error.to_string().into())
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // One that does not end holds a thread, and nothing else.
        let _ = Python::try_attach(|py| self.0.call_method0(py, "close").map(|_| ()));
    }
}
