//! How lines of JSON are read and quoted.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Characters of a program's own words that a record repeats.
const REPEATED: usize = 200;

/// A line that is no legal answer.
#[derive(Debug, thiserror::Error)]
#[error("the program's answer is not understood: {line}: {why}")]
pub struct NotUnderstood {
    line: String,
    why: String,
}

impl NotUnderstood {
    pub fn new(line: &str, why: &str) -> NotUnderstood {
        NotUnderstood {
            line: shortened(line),
            why: why.to_owned(),
        }
    }
}

pub fn read<T: DeserializeOwned>(line: &str) -> Result<T, NotUnderstood> {
    serde_json::from_str(line).map_err(|why| {
        // The place in one line says nothing to a reader of a record.
        let why = why.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why);
        NotUnderstood::new(line, &why.replace("usize", "a whole number from 0"))
    })
}

/// Reads the value of a key that is given: a null is not the absence of a key.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A program's own words, no longer than a record can hold.
pub fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
