//! Diagnostics as text for a terminal, in the style of rustc.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::foreign::{quoted, visible};
use super::{Diagnostic, Diagnostics};

/// Maximum number of mistakes in full: no one reads more.
const MOST_SHOWN: usize = 50;

/// Default width in columns of characters.
const USUAL: usize = 100;
/// Columns before a line of help: the gutter of line numbers, `= help: `.
const BEFORE_HELP: usize = 13;
/// Minimum width of help.
const LEAST: usize = 24;

impl Diagnostics {
    /// The whole report: in reading order, without repetitions, the first 50 in full, help on lines of 100 columns.
    pub fn render(&self, color: bool) -> String {
        self.render_within(USUAL, color)
    }

    /// The whole report, with its help on lines of `width` columns of characters.
    pub fn render_within(&self, width: usize, color: bool) -> String {
        self.render_as(&Level::ERROR, width, color)
    }

    /// The whole report as warnings: valid but unusual input.
    pub fn render_warnings(&self, width: usize, color: bool) -> String {
        self.render_as(&Level::WARNING, width, color)
    }

    fn render_as(&self, level: &Level<'static>, width: usize, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let all = self.in_reading_order();
        let mut blocks: Vec<String> = all
            .iter()
            .take(MOST_SHOWN)
            .map(|diagnostic| block(diagnostic, level, width, &renderer))
            .collect();
        if all.len() > MOST_SHOWN {
            blocks.push(format!("and {} more\n", all.len() - MOST_SHOWN));
        }
        blocks.join("\n")
    }
}

/// Wraps lines between words.
fn wrapped(text: &str, width: usize) -> String {
    let (mut all, mut used) = (String::new(), 0);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            all.push('\n');
            used = 0;
        }
        for word in line.split(' ') {
            let length = word.chars().count();
            if used > 0 && used + 1 + length > width {
                all.push('\n');
                used = 0;
            } else if used > 0 {
                all.push(' ');
                used += 1;
            }
            all.push_str(word);
            used += length;
        }
    }
    all
}

fn block(
    diagnostic: &Diagnostic,
    level: &Level<'static>,
    width: usize,
    renderer: &Renderer,
) -> String {
    let mut group = annotate_snippets::Group::with_title(
        level.clone().primary_title(visible(&diagnostic.title)),
    );
    if let Some((source, span)) = &diagnostic.place {
        let line = Line::from_span(&source.text, span);
        let (text, mark) = quoted(line.text, line.mark);
        let mut mark = AnnotationKind::Primary.span(mark);
        if !diagnostic.label.is_empty() {
            mark = mark.label(visible(&diagnostic.label));
        }
        group = group.element(
            Snippet::source(text)
                .line_start(line.number)
                .path(visible(&source.name))
                .annotation(mark),
        );
    }
    if let Some(help) = &diagnostic.help {
        let width = width.saturating_sub(BEFORE_HELP).max(LEAST);
        group = group.element(Level::HELP.message(wrapped(&visible(help), width)));
    }
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

/// The first line of a span, which is all that is shown of it. The renderer only gets this line: it would index the whole
/// text again for every message, and it panics on a mark outside of it.
struct Line<'a> {
    text: &'a str,
    number: usize,
    mark: Range<usize>,
}

impl<'a> Line<'a> {
    fn from_span(text: &'a str, span: &Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.ceil_char_boundary(span.end).max(start);
        let (before, after) = text.split_at(start);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = after
            .find('\n')
            .map_or(text.len(), |newline| start + newline);
        let line = &text[line_start..line_end];
        let line = line.strip_suffix('\r').unwrap_or(line);
        Self {
            text: line,
            number: 1 + before.bytes().filter(|byte| *byte == b'\n').count(),
            mark: (start - line_start).min(line.len())..(end - line_start).min(line.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Source;

    #[test]
    fn placeless_first_then_by_file_and_position_each_once() {
        let a = Source::new("a.toml", "x = 1\ny = 2\n");
        let b = Source::new("b.toml", "z");
        let mut d = Diagnostics::default();
        d.error_at(&b, 0..1, "fourth", "");
        d.error_at(&a, 6..7, "third", "here");
        d.error_at(&a, 0..1, "second", "");
        d.error_at(&a, 6..7, "third", "here");
        d.push(Diagnostic::general("first").with_help("do it"));
        let expected = "\
error: first
 |
 = help: do it

error: second
 --> a.toml:1:1
  |
1 | x = 1
  | ^

error: third
 --> a.toml:2:1
  |
2 | y = 2
  | ^ here

error: fourth
 --> b.toml:1:1
  |
1 | z
  | ^
";
        assert_eq!(d.render(false), expected);
        assert_eq!(d.len(), 5);
        assert!(d.render(true).contains('\u{1b}'));
    }

    #[test]
    fn help_stands_on_lines_that_fit() {
        let source = Source::new("a.toml", "x = 1\n");
        let legal: Vec<String> = (0..40).map(|at| format!("`key_{at}`")).collect();
        let help = format!("allowed here: {}", legal.join(", "));
        let mut d = Diagnostics::default();
        d.push(Diagnostic::at_span(&source, 0..1, "wrong", "").with_help(&help));
        for width in [60, 80, 100] {
            let text = d.render_within(width, false);
            let fits = |line: &str| line.chars().count() <= width;
            assert!(text.lines().all(fits), "{text}");
            let (_, told) = text.split_once("= help: ").expect("there is help");
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words(told), words(&help));
        }
    }

    #[test]
    fn at_most_fifty_are_shown() {
        let source = Source::new("a", "x".repeat(80));
        let mut d = Diagnostics::default();
        (0..62).for_each(|at| d.error_at(&source, at..at + 1, format!("no {at}"), ""));
        let shown = d.render(false);
        assert_eq!(shown.matches("error: ").count(), 50);
        assert!(shown.ends_with("\nand 12 more\n"), "{shown}");
    }

    #[test]
    fn no_span_can_break_it() {
        for text in ["", "\n", "ä\r\nö\r\n", "ä", "a\tb\u{7}\u{1b}[0m\rc\n\n"] {
            let source = Source::new("a", text);
            for start in 0..12 {
                for end in 0..12 {
                    let mut d = Diagnostics::default();
                    d.error_at(&source, start..end, "title\nof two", "label\nof two");
                    assert!(
                        d.render(false).contains("--> a:"),
                        "{text:?} {start}..{end}"
                    );
                }
            }
            let mut d = Diagnostics::default();
            d.error_at(&source, usize::MAX - 1..usize::MAX, "far", "away");
            assert!(d.render(false).contains("far"));
        }
    }
}
