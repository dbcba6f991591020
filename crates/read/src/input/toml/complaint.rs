//! Mistakes in values, and their messages.

use serde::de::Unexpected;

use super::renamed;
use crate::input::did_you_mean;
use crate::input::words::{listed, shown};

#[derive(Debug)]
pub(super) enum Complaint {
    UnknownKey {
        word: String,
        legal: &'static [&'static str],
    },
    /// A text that is none of the allowed ones.
    UnknownValue {
        word: String,
        legal: &'static [&'static str],
    },
    Missing {
        key: &'static str,
    },
    Mismatch {
        expected: String,
        found: String,
    },
    /// A kind without its required settings; `keys` are the required ones.
    WithoutSettings {
        kind: String,
        keys: Vec<&'static str>,
    },
    /// A kind without its required value.
    WithoutValue {
        kind: String,
        expected: String,
    },
    NeedlessSettings {
        kind: String,
    },
    /// A sentence from the type that was read.
    Sentence(String),
    /// A consequence of an earlier mistake: it is not reported.
    Consequence,
}

impl Complaint {
    pub(super) fn mismatch(expected: impl Into<String>, found: Unexpected<'_>) -> Complaint {
        Complaint::Mismatch {
            expected: expected.into(),
            found: words_for(found),
        }
    }

    /// The title, label and help of a message; `key` is the key of the wrong value.
    pub(super) fn message_parts(&self, key: Option<&str>) -> (String, String, Option<String>) {
        let of_key = key.map_or(String::new(), |key| format!("`{}`: ", shown(key)));
        match self {
            Complaint::UnknownKey { word, legal } => (
                format!("unknown key `{}`", shown(word)),
                did_you_mean(word, legal.iter().copied(), "no such key here"),
                Some(renamed::help(word, legal).unwrap_or_else(|| legal_here(legal))),
            ),
            Complaint::UnknownValue { word, legal } => (
                format!("{of_key}unknown value `{}`", shown(word)),
                did_you_mean(
                    word,
                    legal.iter().copied(),
                    "not one of the possible values",
                ),
                Some(legal_here(legal)),
            ),
            Complaint::Missing { key } => (
                format!("missing key `{key}`"),
                format!("`{key}` must be set here"),
                None,
            ),
            Complaint::Mismatch { expected, found } => (
                format!("{of_key}expected {expected}, found {found}"),
                format!("expected {expected}"),
                None,
            ),
            Complaint::WithoutSettings { kind, keys } => {
                let keys: Vec<String> = keys.iter().map(|key| format!("{key} = ...")).collect();
                let settings = match &keys[..] {
                    [] => "{}".to_owned(),
                    keys => format!("{{ {} }}", keys.join(", ")),
                };
                (
                    format!("{of_key}`{kind}` needs its settings"),
                    format!("write `{{ {kind} = {settings} }}`"),
                    None,
                )
            }
            Complaint::WithoutValue { kind, expected } => (
                format!("{of_key}`{kind}` needs {expected}"),
                format!("write `{{ {kind} = ... }}`"),
                None,
            ),
            Complaint::NeedlessSettings { kind } => (
                format!("`{kind}` has no settings"),
                format!("write `\"{kind}\"` alone"),
                None,
            ),
            Complaint::Sentence(text) => (format!("{of_key}{text}"), String::new(), None),
            Complaint::Consequence => (String::new(), String::new(), None),
        }
    }
}

fn legal_here(legal: &[&str]) -> String {
    if legal.is_empty() {
        "nothing is allowed here".to_owned()
    } else {
        format!("allowed here: {}", listed(legal.iter().copied()))
    }
}

/// The type of the found value, in words that do not need Rust.
fn words_for(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(flag) => format!("`{flag}`"),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number:?}"),
        Unexpected::Str(text) => format!("the text {}", shown(&format!("{text:?}"))),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => shown(&other.to_string()),
    }
}
