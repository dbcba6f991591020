//! Makes external texts safe to show: a sentence of a program or the name of a file may contain anything.

use std::borrow::Cow;

use super::name::{FORMULA, is_unseen};

/// Whether a character is invisible, except line breaks and tabs.
pub fn is_hidden(c: char) -> bool {
    is_unseen(c) && !matches!(c, '\n' | '\r' | '\t')
}

/// A text without control sequences for terminals, with all its characters visible; line breaks stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    without(text, |c| c != '\n' && is_unseen(c))
}

/// A text for table cells, terminals and pages: visible, in one line, and with an apostrophe before spreadsheet formulas.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let seen = without(text, is_unseen);
    if seen.trim_start().starts_with(FORMULA) {
        Cow::Owned(format!("'{seen}"))
    } else {
        seen
    }
}

/// A text for a terminal in which only these escapes have an effect.
pub fn printable<'t>(text: &'t str, escapes: &[&str]) -> Cow<'t, str> {
    let is_obeyed = |c| c != '\n' && c != '\t' && is_unseen(c);
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_obeyed) {
        all += &rest[..at];
        rest = &rest[at..];
        let own = escapes.iter().find(|own| rest.starts_with(**own));
        let length = own.map_or(rest.chars().next().map_or(0, char::len_utf8), |own| {
            own.len()
        });
        let (seen, behind) = rest.split_at(length);
        match own {
            Some(own) => all += own,
            None => all.extend(seen.escape_default()),
        }
        rest = behind;
    }
    Cow::Owned(all + rest)
}

/// A line of a file as quoted in a message, and the new position of a place in it: blanks and characters that the renderer
/// replaces itself stay.
pub(super) fn quoted(
    line: &str,
    place: std::ops::Range<usize>,
) -> (Cow<'_, str>, std::ops::Range<usize>) {
    let part = |text| without(text, |c| is_unseen(c) && !c.is_ascii());
    let (begin, end) = (part(&line[..place.start]), part(&line[place.clone()]));
    let mark = begin.len()..begin.len() + end.len();
    (part(line), mark)
}

/// The text with these characters escaped.
fn without(text: &str, is_wrong: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_wrong) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len());
    for c in text.chars() {
        if is_wrong(c) {
            all.extend(c.escape_default())
        } else {
            all.push(c)
        }
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed_and_nothing_is_hidden() {
        assert_eq!(visible("plain, größer\n模型"), "plain, größer\n模型");
        let hostile = "a\u{1b}[31m\u{9b}2J\u{202e}b\u{2028}";
        let shown = "a\\u{1b}[31m\\u{9b}2J\\u{202e}b\\u{2028}";
        assert_eq!(visible(hostile), shown);
        assert_eq!(visible("a\u{e0041}\u{600}"), "a\\u{e0041}\\u{600}");
        assert_eq!(harmless("no idea: 1 + 1 = 2"), "no idea: 1 + 1 = 2");
        for formula in ["=1+1", "+1", "-1", "@SUM(1)", "  =cmd|' /C calc'!A0"] {
            assert_eq!(harmless(formula), format!("'{formula}"));
        }
        let painted = "\u{1b}[1mours\u{1b}[0m, \u{1b}[8mtheirs\r\n";
        let shown = "\u{1b}[1mours\u{1b}[0m, \\u{1b}[8mtheirs\\r\n";
        assert_eq!(printable(painted, &["\u{1b}[0m", "\u{1b}[1m"]), shown);
        assert_eq!(harmless("two\nlines"), "two\\nlines");
        assert_eq!(harmless("\t=1"), "\\t=1");
    }

    #[test]
    fn a_place_moves_with_what_is_before_it() {
        let line = "a\u{9b}bc\u{202e}d";
        let (shown, place) = quoted(line, 3..5);
        assert_eq!(shown, "a\\u{9b}bc\\u{202e}d");
        assert_eq!(&shown[place], "bc");
    }
}
