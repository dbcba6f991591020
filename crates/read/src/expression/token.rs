//! The tokens of an expression.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'t> {
    Number(f64),
    /// A name, which may contain hyphens and dots.
    Name(&'t str),
    /// A text between single quotes.
    Quoted(&'t str),
    Symbol(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Letters, digits and underscores, with hyphens and dots between them.
    Hyphenated,
    /// Letters, digits and underscores, or anything in braces; [`CEIL`] is an operator.
    Braced,
}

/// The operator that rounds up, in rules of columns.
pub const CEIL: &str = "ceil";

/// Symbols, which no name contains; longer ones first.
const SYMBOLS: &[&str] = &[
    "..", "!=", "<=", ">=", "==", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", "=", "<", ">",
];

/// Tokens with their places, or the place that begins none.
pub fn tokens(
    text: &str,
    spelling: Spelling,
) -> Result<Vec<(Token<'_>, Range<usize>)>, Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let (token, length) = next_token(rest, first, spelling).ok_or(at..at + first.len_utf8())?;
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

fn next_token(rest: &str, first: char, spelling: Spelling) -> Option<(Token<'_>, usize)> {
    let is_braced = spelling == Spelling::Braced;
    if first.is_ascii_digit() || (first == '.' && is_braced) {
        let length = number(rest.as_bytes(), is_braced);
        return Some((Token::Number(rest[..length].parse().ok()?), length));
    }
    if first == '{' && is_braced {
        let end = rest.find('}').filter(|end| *end > 1)?;
        return Some((Token::Name(&rest[1..end]), end + 1));
    }
    if first.is_alphabetic() || first == '_' {
        let length = name(rest, spelling);
        let token = match &rest[..length] {
            CEIL if is_braced => Token::Symbol(CEIL),
            name => Token::Name(name),
        };
        return Some((token, length));
    }
    if first == '\'' {
        let end = rest[1..].find('\'')?;
        return Some((Token::Quoted(&rest[1..=end]), end + 2));
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol))?;
    Some((Token::Symbol(symbol), symbol.len()))
}

/// Length in bytes of digits, a point with digits (or without, if it may be bare) and an exponent.
fn number(bytes: &[u8], is_bare: bool) -> usize {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if bytes.get(end) == Some(&b'.') && (is_digit(end + 1) || is_bare) {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if is_digit(end + 1 + sign) {
            end = digits(end + 1 + sign);
        }
    }
    end
}

/// Length in bytes of a name; hyphens and dots only between others.
fn name(text: &str, spelling: Spelling) -> usize {
    let mut end = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let goes_on = match c {
            '-' | '.' if spelling == Spelling::Hyphenated => {
                (rest.peek()).is_some_and(|(_, next)| next.is_alphanumeric())
            }
            c => c.is_alphanumeric() || c == '_',
        };
        if !goes_on {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}
