//! What the TOML parser itself did not understand.

use std::ops::Range;
use std::sync::Arc;

use ::toml::de::Error;

use crate::input::words::shown;
use crate::input::{Diagnostic, Diagnostics, Source};

/// Reports all syntax errors; returns the lines they are on, where whatever was read
/// is not to be trusted.
pub(super) fn report(
    errors: &[Error],
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Vec<Range<usize>> {
    let mut broken: Vec<Range<usize>> = Vec::new();
    for error in errors {
        let end = source.text.len();
        let span = error.span().unwrap_or(end..end);
        let line = line_around(&source.text, span.start);
        // The parser stumbles on: a second error in one line follows from the first.
        if !broken.contains(&line) {
            diagnostics.push(diagnostic(error.message(), span, source));
            broken.push(line);
        }
    }
    broken
}

fn diagnostic(message: &str, span: Range<usize>, source: &Arc<Source>) -> Diagnostic {
    if message == "duplicate key" {
        let key = shown(source.text.get(span.clone()).unwrap_or_default());
        return Diagnostic::at(source, span, format!("duplicate key `{key}`"), "set before")
            .with_help("a key may be set only once; remove or rename one of the two");
    }
    let (title, label) = match message.split_once(", expected ") {
        Some((title, "literal string")) => (title, "expected a text in quotes".to_owned()),
        Some((title, expected)) => (title, format!("expected {expected}")),
        None => (message, String::new()),
    };
    Diagnostic::at(source, span, format!("not valid TOML: {title}"), label)
}

fn line_around(text: &str, at: usize) -> Range<usize> {
    let (before, after) = text.split_at(text.floor_char_boundary(at));
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    start..before.len() + after.find('\n').unwrap_or(after.len())
}
