//! Words that completions suggest for free text: the command itself reports mistakes, with reasons.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

#[derive(Debug, Clone, Copy)]
pub struct SuggestionParser(fn() -> Vec<&'static str>);

/// A parser that accepts any text and suggests these words.
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
