//! Unclosed lists: the parser reads the following text as their elements, with an error in each line.

use std::ops::Range;

/// Start of a list that was not closed before an error: the error is about elements of a list, and is where a key is set, or
/// at the end of the text.
pub(super) fn list_before(text: &str, error: &Range<usize>, message: &str) -> Option<usize> {
    if !message.contains("array") {
        return None;
    }
    let at = text.floor_char_boundary(error.start);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let open = last_open(&text[..start])?;
    (sets_key(line) || is_header(line) || text[at..].trim().is_empty()).then_some(open)
}

/// Whether a line begins with a key and `=`.
fn sets_key(line: &str) -> bool {
    let Some((key, _)) = line.split_once('=') else {
        return false;
    };
    let is_part = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
    !key.trim().is_empty() && key.chars().all(is_part)
}

/// Whether a line is the header of a table, and no list of numbers or texts.
fn is_header(line: &str) -> bool {
    let inner = line.trim().trim_matches(['[', ']']);
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    line.starts_with('[')
        && inner.starts_with(char::is_alphabetic)
        && inner.chars().all(is_part)
        && !["true", "false", "inf", "nan"].contains(&inner)
}

/// The last `[` in a text without its `]`, outside of texts and comments.
fn last_open(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let taken = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => length_of_text(rest),
            '[' => {
                open.push(at);
                1
            }
            ']' => {
                open.pop();
                1
            }
            other => other.len_utf8(),
        };
        rest = &rest[taken..];
    }
    open.pop()
}

/// Length in bytes of a text in quotes; to the end of the line if it is not closed.
fn length_of_text(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    if let Some(rest) = text.strip_prefix(triple.as_str()) {
        return rest.find(triple.as_str()).map_or(text.len(), |end| end + 6);
    }
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == '\n' {
            return at;
        }
        if !is_escaped && text[at..].starts_with(quote) {
            return at + 1;
        }
        is_escaped = quote == "\"" && c == '\\' && !is_escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_texts_and_comments_open_nothing() {
        for (text, open) in [
            ("a = [1, 2]\n", None),
            ("a = [1, 2\n", Some(4)),
            ("a = [\"]\\\"]\", 2 # ]\n", Some(4)),
            ("a = ['[', \"\"\"[\n[\"\"\"]\n", None),
            ("a = [[1, 2], [3\n", Some(13)),
            ("a = \"[\nb = 2\n", None),
        ] {
            assert_eq!(last_open(text), open, "{text}");
        }
    }
}
