//! What serde says, understood well enough to say it better.

use super::renamed;
use crate::input::closest;
use crate::input::words::{listed, shown};

const A_LIST: &str = "a list";

/// A message of serde or of the TOML deserializer, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Complaint {
    /// A key that does not exist here.
    UnknownKey { word: String, legal: Vec<String> },
    /// A text that is none of the possible ones.
    UnknownValue { word: String, legal: Vec<String> },
    /// A required key that is not there.
    Missing { key: String },
    /// A value of the wrong type or size.
    Mismatch { expected: String, found: String },
    /// A list or table with too many or too few parts.
    Count { text: String },
    /// Anything else, in its own words.
    Other { text: String },
}

impl Complaint {
    /// Takes a message apart; what is not recognised is kept as it is.
    pub(super) fn parse(message: &str) -> Self {
        Self::recognised(message).unwrap_or_else(|| Self::Other {
            text: message.to_owned(),
        })
    }

    fn recognised(message: &str) -> Option<Self> {
        if let Some(rest) = message.strip_prefix("unknown field `") {
            let (word, legal) = word_and_legal(rest)?;
            Some(Self::UnknownKey { word, legal })
        } else if let Some(rest) = message.strip_prefix("unknown variant `") {
            let (word, legal) = word_and_legal(rest)?;
            Some(Self::UnknownValue { word, legal })
        } else if let Some(rest) = message.strip_prefix("unexpected keys in table: ") {
            let (words, legal) = rest.rsplit_once(", available keys: ")?;
            Some(Self::UnknownKey {
                word: words.split(", ").next()?.to_owned(),
                legal: legal.split(", ").map(str::to_owned).collect(),
            })
        } else if let Some(rest) = message.strip_prefix("missing field `") {
            let key = rest.strip_suffix('`')?.to_owned();
            Some(Self::Missing { key })
        } else if let Some(rest) = message.strip_prefix("invalid type: ") {
            let (found, expected) = rest.rsplit_once(", expected ")?;
            Some(Self::mismatch(expected_words(expected, false), found))
        } else if let Some(rest) = message.strip_prefix("invalid value: ") {
            let (found, expected) = rest.rsplit_once(", expected ")?;
            Some(Self::mismatch(expected_words(expected, true), found))
        } else if message == "wanted string or table" {
            Some(Self::mismatch(
                "a text or a table".to_owned(),
                "something else",
            ))
        } else if let Some(rest) = message.strip_prefix("invalid length ") {
            let (found, expected) = rest.split_once(", expected ")?;
            let expected = expected_words(expected, false);
            Some(Self::Count {
                text: format!("expected {expected}, found {found}"),
            })
        } else if message.starts_with("wanted exactly 1 element") {
            Some(Self::Count {
                text: "expected a table with exactly one key".to_owned(),
            })
        } else {
            None
        }
    }

    fn mismatch(expected: String, found: &str) -> Self {
        Self::Mismatch {
            expected,
            found: found_words(found),
        }
    }

    /// Whether a list was found where something else belongs.
    pub(super) fn is_about_a_list(&self) -> bool {
        matches!(self, Self::Mismatch { found, .. } if found == A_LIST)
    }

    /// The title, label and help for a person; `key` is the key whose value is at fault.
    pub(super) fn explain(&self, key: Option<&str>) -> (String, String, Option<String>) {
        let of_key = key.map_or(String::new(), |key| format!("`{}`: ", shown(key)));
        match self {
            Self::UnknownKey { word, legal } => {
                let label = did_you_mean(word, legal, "no such key here");
                (
                    format!("unknown key `{}`", shown(word)),
                    label,
                    renamed::help(word, legal).or_else(|| legal_here(legal)),
                )
            }
            Self::UnknownValue { word, legal } => {
                let label = did_you_mean(word, legal, "not one of the possible values");
                let title = format!("{of_key}unknown value `{}`", shown(word));
                (title, label, legal_here(legal))
            }
            Self::Missing { key } => {
                let title = format!("missing key `{}`", shown(key));
                (title, format!("`{}` must be set here", shown(key)), None)
            }
            Self::Mismatch { expected, found } => {
                let title = format!("{of_key}expected {expected}, found {found}");
                (title, format!("expected {expected}"), None)
            }
            Self::Count { text } | Self::Other { text } => {
                (format!("{of_key}{text}"), String::new(), None)
            }
        }
    }
}

/// Splits ``x`, expected one of `a`, `b`` into the word and the legal ones.
fn word_and_legal(rest: &str) -> Option<(String, Vec<String>)> {
    if let Some((word, _)) = rest.rsplit_once("`, there are no ") {
        return Some((word.to_owned(), Vec::new()));
    }
    let (word, expected) = rest.rsplit_once("`, expected ")?;
    // Every second piece between backticks is a word: "one of `", "a", "`, `", "b", "`".
    let legal = expected.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((word.to_owned(), legal.collect()))
}

fn did_you_mean(word: &str, legal: &[String], otherwise: &str) -> String {
    match closest(word, legal.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise.to_owned(),
    }
}

fn legal_here(legal: &[String]) -> Option<String> {
    if legal.is_empty() {
        return Some("nothing is legal here".to_owned());
    }
    Some(format!(
        "legal here: {}",
        listed(legal.iter().map(String::as_str))
    ))
}

/// What serde found, for someone who does not know its data model.
fn found_words(found: &str) -> String {
    if let Some(text) = found.strip_prefix("string ") {
        // serde prints the text as a Rust literal; the quotes are kept.
        return format!("the text {}", shown(text));
    }
    let between_ticks = found.split('`').nth(1).map(shown);
    match (found.split(' ').next(), between_ticks) {
        (Some("integer" | "floating"), Some(number)) => format!("the number {number}"),
        (Some("boolean"), Some(value)) => format!("`{value}`"),
        (Some("sequence"), _) => A_LIST.to_owned(),
        (Some("map"), _) => "a table".to_owned(),
        _ => shown(found),
    }
}

/// What serde expected, likewise; `right_type` says that only the size was wrong.
fn expected_words(expected: &str, right_type: bool) -> String {
    let words = match expected {
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" | "string" => "a text",
        "a character" => "a text of one letter",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "a table",
        "unit" => "nothing",
        _ if expected.starts_with("struct ") => "a table",
        _ if expected.starts_with("a nonzero ") => "a whole number other than 0",
        _ => {
            if let Some(count) = expected
                .strip_prefix("a tuple of size ")
                .or_else(|| expected.strip_prefix("an array of length "))
            {
                return format!("a list of {count}");
            }
            return match whole_number_limits(expected) {
                Some((low, high)) if right_type => {
                    format!("a whole number between {low} and {high}")
                }
                Some(_) => "a whole number".to_owned(),
                None => expected.to_owned(),
            };
        }
    };
    words.to_owned()
}

fn whole_number_limits(name: &str) -> Option<(i128, u128)> {
    let limits = match name {
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "usize" => (0, u64::MAX.into()),
        "u128" => (0, u128::MAX),
        "i8" => (i8::MIN.into(), i8::MAX.unsigned_abs().into()),
        "i16" => (i16::MIN.into(), i16::MAX.unsigned_abs().into()),
        "i32" => (i32::MIN.into(), i32::MAX.unsigned_abs().into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.unsigned_abs().into()),
        "i128" => (i128::MIN, i128::MAX.unsigned_abs()),
        _ => return None,
    };
    Some(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(message: &str) -> String {
        Complaint::parse(message).explain(Some("k")).0
    }

    #[test]
    fn messages_are_put_in_plain_words() {
        for (message, expected) in [
            ("unknown field `a`, there are no fields", "unknown key `a`"),
            ("unknown field `a`, expected `b` or `c`", "unknown key `a`"),
            (
                "unexpected keys in table: a, b, available keys: c",
                "unknown key `a`",
            ),
            (
                "unknown variant `a`, expected `b`",
                "`k`: unknown value `a`",
            ),
            (
                "invalid type: string \"x, expected y\", expected u32",
                "`k`: expected a whole number, found the text \"x, expected y\"",
            ),
            (
                "invalid value: integer `-5`, expected u8",
                "`k`: expected a whole number between 0 and 255, found the number -5",
            ),
            (
                "invalid type: floating point `1.5`, expected usize",
                "`k`: expected a whole number, found the number 1.5",
            ),
            (
                "invalid type: boolean `true`, expected f64",
                "`k`: expected a number, found `true`",
            ),
            (
                "invalid type: map, expected a sequence",
                "`k`: expected a list, found a table",
            ),
            (
                "invalid length 1, expected an array of length 2",
                "`k`: expected a list of 2, found 1",
            ),
            ("missing field `a`", "missing key `a`"),
            ("no such day", "`k`: no such day"),
        ] {
            assert_eq!(title(message), expected);
        }
    }

    #[test]
    fn legal_words_are_taken_out_of_the_message() {
        let complaint = Complaint::parse("unknown field `x`, expected one of `a`, `b`, `c`");
        let (_, label, help) = complaint.explain(None);
        assert_eq!(label, "no such key here");
        assert_eq!(help.as_deref(), Some("legal here: `a`, `b`, `c`"));
    }
}
