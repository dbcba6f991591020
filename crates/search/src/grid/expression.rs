//! Arithmetic on columns, as a specification writes it.
//!
//! `+`, `-`, `*`, `/`, `ceil` and brackets over numbers and names; a name with other characters than
//! letters, digits and `_` stands in braces: `{training time} / 3600`. It is read as a rule of
//! [`scavsim_read::expression`] and computed on [`Line`]s: that tells whether it is linear in the time by its form, not by
//! trying.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use scavsim_read::expression::tree::{Expression as Part, Node, Operator};
use scavsim_read::expression::{CEIL, ParseMistake, parse_rule};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// A longer rule is none.
const LONGEST: usize = 1_000;
/// Names in one expression.
pub const MOST_NAMES: usize = 16;

/// A number that may depend on the time t: `at + per·t`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Line {
    /// Value at t = 0.
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

fn ceiling(a: Line) -> Line {
    Line {
        at: a.at.ceil(),
        per: 0.0,
        is_bent: a.is_bent || a.per != 0.0,
    }
}

/// What a rule computes from the values of its names.
#[derive(Debug, Clone)]
enum Arithmetic {
    Number(Line),
    /// The value at this place.
    Name(usize),
    Negative(Box<Arithmetic>),
    Ceiling(Box<Arithmetic>),
    /// From left to right.
    Chain(Box<Arithmetic>, Vec<(Operation, Arithmetic)>),
}

/// What two lines come to.
type Operation = fn(Line, Line) -> Line;

impl Arithmetic {
    /// The arithmetic of a part of a rule, whose names are added to those known.
    fn new(
        part: &Part,
        names: &mut Vec<(String, Range<usize>)>,
    ) -> Result<Arithmetic, ParseMistake> {
        let misplaced = || {
            let what = "nothing that can stand here".to_owned();
            (part.span.clone(), what)
        };
        Ok(match &part.node {
            Node::Number(number) => Arithmetic::Number(Line::constant(*number)),
            Node::Name(name) => {
                let known = names.iter().position(|(own, _)| **own == **name);
                Arithmetic::Name(known.unwrap_or_else(|| {
                    names.push((name.to_string(), part.span.clone()));
                    names.len() - 1
                }))
            }
            Node::Negative(inner) => Arithmetic::Negative(Box::new(Self::new(inner, names)?)),
            Node::Call(call) if &*call.name.text == CEIL => {
                let inner = &call.arguments[0].value;
                Arithmetic::Ceiling(Box::new(Self::new(inner, names)?))
            }
            Node::Chain(chain) => {
                let first = Box::new(Self::new(&chain.first, names)?);
                let rest = chain.rest.iter().map(|(operator, part)| {
                    let apply: fn(Line, Line) -> Line = match operator {
                        Operator::Add => sum,
                        Operator::Subtract => difference,
                        Operator::Multiply => product,
                        Operator::Divide => quotient,
                        Operator::Power => return Err(misplaced()),
                    };
                    Ok((apply, Self::new(part, names)?))
                });
                Arithmetic::Chain(first, rest.collect::<Result<_, _>>()?)
            }
            _ => return Err(misplaced()),
        })
    }

    fn value(&self, values: &[Line]) -> Line {
        match self {
            Arithmetic::Number(number) => *number,
            Arithmetic::Name(place) => values[*place],
            Arithmetic::Negative(inner) => difference(Line::default(), inner.value(values)),
            Arithmetic::Ceiling(inner) => ceiling(inner.value(values)),
            Arithmetic::Chain(first, rest) => {
                let first = first.value(values);
                (rest.iter()).fold(first, |left, (apply, part)| apply(left, part.value(values)))
            }
        }
    }
}

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Expression {
    rule: Arithmetic,
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
        let inside = inside(written, source);
        let place = |part: &Range<usize>| match inside {
            Some(start) => start + part.start..start + part.end,
            None => written.span(),
        };
        match Expression::compile(written.get_ref()) {
            Ok(mut expression) => {
                (expression.names.iter_mut()).for_each(|(_, part)| *part = place(part));
                Some(expression)
            }
            Err((part, label)) => {
                let title = format!("`{}` cannot be computed", shown(written.get_ref()));
                let help = "arithmetic on names and numbers: + - * / ceil ( ); a name with other characters than letters, digits and _ in braces: {my column}";
                let wrong = Diagnostic::at(source, place(&part), title, label);
                diagnostics.push(wrong.with_help(help));
                None
            }
        }
    }

    /// The expression in a text; its places are those in the text.
    fn compile(text: &str) -> Result<Expression, ParseMistake> {
        let whole = 0..text.len();
        if text.len() > LONGEST {
            return Err((whole, format!("longer than {LONGEST} characters")));
        }
        let mut names = Vec::new();
        let rule = Arithmetic::new(&parse_rule(text)?, &mut names)?;
        if names.len() > MOST_NAMES {
            return Err((whole, format!("more than {MOST_NAMES} names")));
        }
        Ok(Expression {
            rule,
            names,
            text: text.to_owned(),
        })
    }

    /// The names in it, each once, with the first place where it stands, in the order of
    /// [`eval`](Self::eval).
    pub fn names(&self) -> &[(String, Range<usize>)] {
        &self.names
    }

    /// Whether it is a name and nothing else.
    pub fn is_name(&self) -> bool {
        let is_in_brackets = self.text.trim_start().starts_with('(');
        matches!(self.rule, Arithmetic::Name(_)) && !is_in_brackets
    }

    /// The text of the expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The expression's value for one value per name; no number where there is none, as at a division by zero.
    pub fn eval(&self, values: &[Line]) -> Line {
        self.rule.value(values)
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
            ("a-2", 8.0),
            ("ceil a / 4. + ceil(.3)", 3.5),
            ("- -a - ceil -a", 20.0),
            ("{a} / 1e1", 1.0),
        ] {
            assert_eq!(value(text, &[a]), Line::constant(right), "{text}");
        }
    }

    #[test]
    fn a_rule_is_linear_in_the_time_by_its_form() {
        let line = |text: &str| {
            let rule = parsed(text).expect("it can be computed");
            let value = |(name, _): &(String, _)| match name.as_str() {
                "t" => Line::TIME,
                _ => Line::constant(3.0),
            };
            rule.eval(&rule.names().iter().map(value).collect::<Vec<_>>())
        };
        let linear = line("p * t / 4 + 5 - p");
        assert_eq!((linear.at, linear.per, linear.is_bent), (2.0, 0.75, false));
        assert!(!line("ceil(p / 2) * t").is_bent);
        for bent in ["t * t + p", "p / t", "ceil(t / p)", "p * (1 - t) * t"] {
            assert!(line(bent).is_bent, "{bent}");
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
        assert_eq!(places, [("b", 1..2), ("a b", 5..10)]);
        assert!(!rule.is_name());
        assert!(parsed(" {a b} ").expect("a name").is_name());
        assert!(!parsed("-b").expect("a rule").is_name());
    }

    #[test]
    fn what_cannot_be_computed_is_told() {
        for (text, told) in [
            ("", "ends too early: expected a value"),
            ("a +", "ends too early: expected a value"),
            ("(a", "ends too early: expected `)`"),
            ("a b", "should end before `b`"),
            ("f(a)", "nothing that can stand here"),
            ("a < 2", "should end before `<`"),
            ("1.2.3", "should end before `0.3`"),
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
