//! Syntax errors of the TOML parser.

use std::ops::Range;
use std::sync::Arc;

use ::toml::de::Error;

use super::unclosed;
use crate::input::words::shown;
use crate::input::{Diagnostic, Diagnostics, Source};

/// Parts of a text that cannot be trusted.
#[derive(Debug, Default)]
pub(super) struct UntrustedLines {
    pub(super) lines: Vec<Range<usize>>,
    /// The start of the text after an unclosed list: from here on everything is misplaced.
    pub(super) from: Option<usize>,
}

/// Reports all syntax errors; returns the parts that cannot be trusted.
pub(super) fn report(
    errors: &[Error],
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> UntrustedLines {
    let mut broken = UntrustedLines::default();
    for error in errors {
        let end = source.text.len();
        let span = error.span().unwrap_or(end..end);
        let line = line_around(&source.text, span.start);
        if let Some(open) = unclosed::list_before(&source.text, &span, error.message()) {
            diagnostics.push(not_closed(open, line.start, source));
            broken.lines.push(line.start..end);
            broken.from = Some(line.start);
            break;
        }
        // A second error in one line follows from the first.
        if !broken.lines.contains(&line) {
            diagnostics.push(diagnostic(error.message(), span, source));
            broken.lines.push(line);
        }
    }
    broken
}

fn not_closed(open: usize, goes_on: usize, source: &Arc<Source>) -> Diagnostic {
    let is_at_end =
        source.text[goes_on..].lines().count() <= 1 && !source.text[goes_on..].contains('=');
    let label = if is_at_end {
        "no `]` up to the end".to_owned()
    } else {
        format!("no `]` before line {}", number(&source.text, goes_on))
    };
    let title = "not valid TOML: a list is not closed";
    Diagnostic::at_span(source, open..open + 1, title, label)
        .with_help("what follows was not checked")
}

fn diagnostic(message: &str, span: Range<usize>, source: &Arc<Source>) -> Diagnostic {
    if message == "duplicate key" {
        let key = source.text.get(span.clone()).unwrap_or_default();
        let label = match set_before(&source.text, key, span.start) {
            Some(line) => format!("set before, in line {line}"),
            None => "set before".to_owned(),
        };
        return Diagnostic::at_span(
            source,
            span,
            format!("duplicate key `{}`", shown(key)),
            label,
        )
        .with_help("a key may be set only once; remove or rename one of the two");
    }
    let (title, label) = match message.split_once(", expected ") {
        Some((title, "literal string")) => (title, "expected a text in quotes".to_owned()),
        Some((title, expected)) => (title, format!("expected {expected}")),
        None => (message, String::new()),
    };
    let is_json = span.start == 0 && source.text.starts_with('{');
    let told = Diagnostic::at_span(source, span, format!("not valid TOML: {title}"), label);
    if is_json {
        return told.with_help("this looks like JSON; TOML has a line `key = value` for each");
    }
    told
}

/// The line that sets a key before the place that sets it again, or the start of the table of an earlier header. `None` if it
/// is in the current line, or written differently.
fn set_before(text: &str, key: &str, at: usize) -> Option<usize> {
    let line = line_around(text, at);
    let header = |line: &str| {
        let head = line.split('#').next().unwrap_or_default().trim();
        head.starts_with('[').then(|| head.to_owned())
    };
    let again = header(text.get(line.clone())?);
    let sets_key = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    let above: Vec<&str> = text.get(..line.start)?.lines().collect();
    // Other tables above may have keys of this name.
    let mut own = (0..above.len())
        .rev()
        .take_while(|&at| again.is_some() || header(above[at]).is_none());
    let found = own.find(|&at| match &again {
        Some(again) => header(above[at]).as_ref() == Some(again),
        None => sets_key(above[at]),
    });
    found.map(|at| at + 1)
}

/// The number of the line of a place, from 1.
fn number(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

fn line_around(text: &str, at: usize) -> Range<usize> {
    let (before, after) = text.split_at(text.floor_char_boundary(at));
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    start..before.len() + after.find('\n').unwrap_or(after.len())
}
