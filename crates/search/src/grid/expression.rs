//! Arithmetic on columns, as a specification writes it.
//!
//! `+`, `-`, `*`, `/`, `ceil` and brackets over numbers and names; a name with other characters than
//! letters, digits and `_` stands in braces: `{training time} / 3600`. It is computed from left to
//! right, on [`Line`]s: that tells whether a rule is linear in the time by its form, not by trying.

use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use exmex::{BinOp, Express, FlatEx, MakeOperators, Operator, ops_factory};
use toml::Spanned;

use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// A longer rule is none.
const LONGEST: usize = 1_000;
/// Names in one expression.
pub const MOST_NAMES: usize = 16;

/// A number that may depend on the time t: `at + per·t`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Line {
    /// Its value at t = 0.
    pub at: f64,
    /// What each second adds.
    pub per: f64,
    /// Whether it depends on t in another way; then the other two say nothing.
    pub is_bent: bool,
}

impl Line {
    /// The time itself.
    pub const TIME: Line = Line {
        at: 0.0,
        per: 1.0,
        is_bent: false,
    };

    /// A number that does not depend on the time.
    pub const fn constant(at: f64) -> Line {
        Line {
            at,
            per: 0.0,
            is_bent: false,
        }
    }

    fn with(self, other: Line, at: f64, per: f64) -> Line {
        let is_bent = self.is_bent || other.is_bent;
        Line { at, per, is_bent }
    }
}

impl FromStr for Line {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Line, Self::Err> {
        text.parse().map(Line::constant)
    }
}

/// Nothing is commutative here: exmex would then reorder constants, and with them the last bits.
const fn binary(apply: fn(Line, Line) -> Line, prio: i64) -> BinOp<Line> {
    BinOp {
        apply,
        prio,
        is_commutative: false,
    }
}

fn sum(a: Line, b: Line) -> Line {
    a.with(b, a.at + b.at, a.per + b.per)
}

fn difference(a: Line, b: Line) -> Line {
    a.with(b, a.at - b.at, a.per - b.per)
}

fn product(a: Line, b: Line) -> Line {
    let mut line = a.with(b, a.at * b.at, a.at * b.per + a.per * b.at);
    line.is_bent |= a.per != 0.0 && b.per != 0.0;
    line
}

fn quotient(a: Line, b: Line) -> Line {
    let mut line = a.with(b, a.at / b.at, a.per / b.at);
    line.is_bent |= b.per != 0.0;
    line
}

fn negative(a: Line) -> Line {
    difference(Line::default(), a)
}

fn ceiling(a: Line) -> Line {
    Line {
        at: a.at.ceil(),
        per: 0.0,
        is_bent: a.is_bent || a.per != 0.0,
    }
}

use operators::Operators;

/// The macro makes a public type without a word about it.
mod operators {
    use super::*;

    ops_factory!(
        Operators,
        Line,
        Operator::make_bin("+", binary(sum, 0)),
        Operator::make_bin_unary("-", binary(difference, 0), negative),
        Operator::make_bin("*", binary(product, 1)),
        Operator::make_bin("/", binary(quotient, 1)),
        Operator::make_unary(CEIL, ceiling)
    );
}

const CEIL: &str = "ceil";

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Expression {
    /// 20 kB by itself, all inline.
    rule: Box<FlatEx<Line, Operators>>,
    names: Vec<(String, Range<usize>)>,
    text: String,
}

impl Expression {
    /// The expression in a value of a TOML file, or what is wrong with it.
    pub fn parse(
        written: &Spanned<String>,
        source: &Arc<Source>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Expression> {
        let text = written.get_ref();
        let inside = inside(written, source);
        let mut wrong = |part: Range<usize>, label: String| {
            let span = match &inside {
                Some(start) => start + part.start..start + part.end,
                None => written.span(),
            };
            let title = format!("`{}` cannot be computed", shown(text));
            let help = "arithmetic on names and numbers: + - * / ceil ( ); a name with other characters than letters, digits and _ in braces: {my column}";
            diagnostics.push(Diagnostic::at(source, span, title, label).with_help(help));
        };
        if text.len() > LONGEST {
            wrong(0..text.len(), format!("longer than {LONGEST} characters"));
            return None;
        }
        let found = match scan(text) {
            Ok(found) => found,
            Err((part, label)) => {
                wrong(part, label);
                return None;
            }
        };
        let parsed = FlatEx::<Line, Operators>::parse(text);
        let Ok(rule) = parsed else {
            wrong(
                0..text.len(),
                "an operand or a bracket is missing".to_owned(),
            );
            return None;
        };
        // exmex takes values in the order of its names.
        let place = |name: &String| {
            let range = (found.iter().find(|(n, _)| n == name)).map(|(_, range)| range.clone());
            let range = range.zip(inside);
            range.map_or(written.span(), |(r, start)| start + r.start..start + r.end)
        };
        let names: Vec<_> = (rule.var_names().iter())
            .map(|name| (name.clone(), place(name)))
            .collect();
        if names.len() > MOST_NAMES {
            wrong(0..text.len(), format!("more than {MOST_NAMES} names"));
            return None;
        }
        Some(Expression {
            rule: Box::new(rule),
            names,
            text: text.clone(),
        })
    }

    /// The names in it, each once, with a place where it stands, in the order of
    /// [`eval`](Self::eval).
    pub fn names(&self) -> &[(String, Range<usize>)] {
        &self.names
    }

    /// The name that it is, if it is nothing else.
    pub fn as_name(&self) -> Option<&str> {
        let [(name, _)] = &self.names[..] else {
            return None;
        };
        let text = self.text.trim();
        let bare = (text.strip_prefix('{').and_then(|t| t.strip_suffix('}'))).unwrap_or(text);
        (bare == name).then_some(name)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value for one value per name; no number where there is none, as at a division by zero.
    pub fn eval(&self, values: &[Line]) -> Line {
        let value = self.rule.eval(values);
        value.unwrap_or(Line::constant(f64::NAN))
    }
}

/// Where the text itself begins in the source, if it stands there letter by letter.
fn inside(written: &Spanned<String>, source: &Source) -> Option<usize> {
    let start = written.span().start + 1;
    let text = written.get_ref();
    let there = source.text.get(start..start + text.len());
    (there == Some(text.as_str())).then_some(start)
}

/// A person's own words in a one-line message.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let short: String = text.chars().take(MOST).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", short.escape_debug())
}

type Places = Vec<(String, Range<usize>)>;

/// The names in a text and where they are; refuses what exmex reads in its own way.
fn scan(text: &str) -> Result<Places, (Range<usize>, String)> {
    let mut names = Vec::new();
    let mut rest = text;
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let length = match first {
            ' ' | '+' | '-' | '*' | '/' | '(' | ')' => 1,
            '{' => {
                let length = rest.find('}').map_or(0, |end| end + 1);
                if length < 3 {
                    return Err((at..at + 1, "braces hold the name of a column".to_owned()));
                }
                names.push((rest[1..length - 1].to_owned(), at..at + length));
                length
            }
            '0'..='9' | '.' => {
                let length = (rest.find(|c: char| !is_inner(c) && c != '.')).unwrap_or(rest.len());
                let number = &rest[..length];
                let is_plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
                if !is_plain || number.parse::<f64>().is_err() {
                    return Err((at..at + length, "expected a number such as 0.25".to_owned()));
                }
                length
            }
            _ if is_inner(first) => {
                let length = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
                if rest[..length] != *CEIL {
                    names.push((rest[..length].to_owned(), at..at + length));
                }
                length
            }
            other => {
                let end = at + other.len_utf8();
                return Err((at..end, "nothing that can stand here".to_owned()));
            }
        };
        rest = &rest[length..];
    }
    if text.trim().is_empty() {
        return Err((0..text.len(), "nothing is written".to_owned()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Result<Expression, String> {
        let source = Source::new("s", format!("'{text}'"));
        let written = Spanned::new(0..text.len() + 2, text.to_owned());
        let mut diagnostics = Diagnostics::default();
        let expression = Expression::parse(&written, &source, &mut diagnostics);
        expression.ok_or_else(|| diagnostics.render(false))
    }

    fn value(text: &str, values: &[Line]) -> Line {
        parsed(text).expect("it can be computed").eval(values)
    }

    #[test]
    fn arithmetic_goes_from_left_to_right() {
        let a = Line::constant(10.0);
        for (text, right) in [
            ("a - 2 + 3", 11.0),
            ("a / 4 * 2", 5.0),
            ("2 + 3 * a", 32.0),
            ("-a + 1", -9.0),
            ("ceil(a / 3) * -(a - 12)", 8.0),
            ("{a} * .5", 5.0),
        ] {
            assert_eq!(value(text, &[a]), Line::constant(right), "{text}");
        }
    }

    #[test]
    fn a_rule_is_linear_in_the_time_by_its_form() {
        let values = [Line::constant(3.0), Line::TIME];
        let line = value("p * t / 4 + 5 - p", &values);
        assert_eq!((line.at, line.per, line.is_bent), (2.0, 0.75, false));
        assert!(!value("ceil(p / 2) * t", &values).is_bent);
        for bent in ["t * t + p", "p / t", "ceil(t / p)", "p * (1 - t) * t"] {
            assert!(value(bent, &values).is_bent, "{bent}");
        }
    }

    #[test]
    fn names_are_found_where_they_stand() {
        let rule = parsed("b + {a b} * b").expect("it can be computed");
        let places: Vec<_> = rule
            .names()
            .iter()
            .map(|(n, r)| (n.as_str(), r.clone()))
            .collect();
        assert_eq!(places, [("a b", 5..10), ("b", 1..2)]);
        assert_eq!(rule.as_name(), None);
        assert_eq!(parsed(" {a b} ").expect("a name").as_name(), Some("a b"));
        assert_eq!(parsed("-b").expect("a rule").as_name(), None);
    }

    #[test]
    fn what_cannot_be_computed_is_told() {
        for (text, told) in [
            ("", "nothing is written"),
            ("a +", "missing"),
            ("(a", "missing"),
            ("a b", "missing"),
            ("1e-5 * a", "a number such as 0.25"),
            ("1.2.3", "a number such as 0.25"),
            ("max(a, b)", "nothing that can stand here"),
            ("a ^ 2", "nothing that can stand here"),
            ("{a", "braces"),
            ("{}", "braces"),
        ] {
            let message = parsed(text).expect_err("it cannot be computed");
            assert!(message.contains(told), "{text}: {message}");
        }
        assert!(parsed(&"(".repeat(2_000)).is_err());
        let many: Vec<String> = (0..17).map(|n| format!("c{n}")).collect();
        assert!(parsed(&many.join("+")).is_err());
    }

    proptest! {
        /// Whatever a person types is computed or refused, and computed as by hand.
        #[test]
        fn nothing_typed_makes_it_panic(text in "[-a-c+*/(){}.0-9 ]{0,24}|.{0,24}") {
            if let Ok(rule) = parsed(&text) {
                rule.eval(&vec![Line::TIME; rule.names().len()]);
            }
        }
    }
}
