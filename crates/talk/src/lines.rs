//! Reading and quoting of lines of JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Maximum characters of a program's own words in a record.
const REPEATED: usize = 200;

/// The value of a present key; null is a value.
#[derive(Debug)]
pub struct Given<T>(pub Option<T>);

impl<T> Default for Given<T> {
    fn default() -> Self {
        Given(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(|value| Given(Some(value)))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotUnderstood(pub String);

/// The parsed line, or why it is invalid.
pub(crate) fn read<T: DeserializeOwned>(line: &str) -> Result<T, NotUnderstood> {
    serde_json::from_str(line).map_err(|why| {
        // The position in one line is of no use to readers of a record.
        let why = why.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why);
        NotUnderstood(why.replace("usize", "a whole number from 0"))
    })
}

/// A program's own words, cut to fit into a record.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
