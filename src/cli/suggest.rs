//! Words that completions offer where anything may be written: what is wrong is said by the command, with its reasons.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

#[derive(Debug, Clone, Copy)]
pub struct SuggestionParser(fn() -> Vec<&'static str>);

/// A parser that takes any text and offers these words.
pub fn suggested(words: fn() -> Vec<&'static str>) -> SuggestionParser {
    SuggestionParser(words)
}

impl TypedValueParser for SuggestionParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
