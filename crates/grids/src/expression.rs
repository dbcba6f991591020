//! Arithmetic on columns, as a specification writes it: `+`, `-`, `*`, `/`, `ceil`, brackets, `if(a < b, then, else)`,
//! `min(…)` and `max(…)` over numbers and names; a name with other characters than letters, digits and `_` stands in braces:
//! `{training time} / 3600`. A rule of [`scavsim_read::expression`], computed on [`Line`]s, whose form tells whether it is
//! linear in the time.

use std::ops::Range;
use std::sync::Arc;

use scavsim_read::expression::tree::{
    Call, Condition, Expression as Part, Node, Operator, Relation,
};
use scavsim_read::expression::{CEIL, ParseMistake, parse_rule};
use scavsim_read::input::{Diagnostic, Diagnostics, Source, Spanned};

/// A longer rule is none.
const LONGEST: usize = 1_000;
pub const MOST_NAMES: usize = 16;

/// A number that may depend on the time t: `at + per·t`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Line {
    pub at: f64,
    /// What each second adds.
    pub per: f64,
    /// Whether it depends on t in another way; then the other two say nothing.
    pub is_bent: bool,
}

impl Line {
    pub const TIME: Line = Line {
        at: 0.0,
        per: 1.0,
        is_bent: false,
    };

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

/// The one of two lines that a comparison of them takes, where that is the same at every time.
fn of_two(a: Line, b: Line, is_first: fn(f64, f64) -> bool) -> Line {
    let is_number = !(a.at.is_nan() || b.at.is_nan());
    let taken = if is_first(a.at, b.at) { a } else { b };
    Line {
        at: if is_number { taken.at } else { f64::NAN },
        per: taken.per,
        is_bent: a.is_bent || b.is_bent || a.per != b.per,
    }
}

fn least(a: Line, b: Line) -> Line {
    of_two(a, b, |a, b| a <= b)
}

fn most(a: Line, b: Line) -> Line {
    of_two(a, b, |a, b| a >= b)
}

#[derive(Debug, Clone)]
enum Arithmetic {
    Number(Line),
    /// The value at this place.
    Name(usize),
    Negative(Box<Arithmetic>),
    Ceiling(Box<Arithmetic>),
    /// From left to right.
    Chain(Box<Arithmetic>, Vec<(Operation, Arithmetic)>),
    Either(Box<ConditionalValue>),
}

/// One of two values, as a comparison of two others says.
#[derive(Debug, Clone)]
struct ConditionalValue {
    compared: [Arithmetic; 2],
    relation: Relation,
    then: Arithmetic,
    otherwise: Arithmetic,
}

impl ConditionalValue {
    fn value(&self, values: &[Line]) -> Line {
        let [a, b] = self.compared.each_ref().map(|part| part.value(values));
        // No number compares with nothing, and what is taken then is none.
        let Some(order) = a.at.partial_cmp(&b.at) else {
            return Line::constant(f64::NAN);
        };
        let holds = match self.relation {
            Relation::Equal => order.is_eq(),
            Relation::Unequal => order.is_ne(),
            Relation::Less => order.is_lt(),
            Relation::AtMost => order.is_le(),
            Relation::More => order.is_gt(),
            Relation::AtLeast => order.is_ge(),
        };
        let taken = if holds { &self.then } else { &self.otherwise };
        let mut line = taken.value(values);
        // Which one it is may change with the time.
        line.is_bent |= a.is_bent || b.is_bent || a.per != b.per;
        line
    }
}

type Operation = fn(Line, Line) -> Line;

impl Arithmetic {
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
            Node::Call(call) => Arithmetic::called(call, &part.span, names)?,
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

    fn called(
        call: &Call,
        span: &Range<usize>,
        names: &mut Vec<(String, Range<usize>)>,
    ) -> Result<Arithmetic, ParseMistake> {
        let wrong = |span: &Range<usize>, what: &str| Err((span.clone(), what.to_owned()));
        if let Some(named) = call.arguments.iter().find(|part| part.name.is_some()) {
            return wrong(&named.value.span, "`=` compares nothing here: write `==`");
        }
        let mut parts = call.arguments.iter().map(|part| &part.value);
        let apply: Operation = match &*call.name.text {
            CEIL => {
                let [inner] = &call.arguments[..] else {
                    return wrong(span, "`ceil` is of one value");
                };
                return Ok(Arithmetic::Ceiling(Box::new(Self::new(
                    &inner.value,
                    names,
                )?)));
            }
            "if" => {
                let (Some(condition), Some(then), Some(otherwise), None) =
                    (parts.next(), parts.next(), parts.next(), parts.next())
                else {
                    return wrong(
                        span,
                        "`if` is of a comparison and two values: if(a < b, 1, 2)",
                    );
                };
                let Node::Compare(compared) = &condition.node else {
                    return wrong(&condition.span, "a comparison: a < b, with < <= > >= == !=");
                };
                let Condition {
                    left,
                    relation,
                    right,
                } = &**compared;
                let [right] = &right[..] else {
                    return wrong(&condition.span, "a comparison of two values");
                };
                return Ok(Arithmetic::Either(Box::new(ConditionalValue {
                    compared: [Self::new(left, names)?, Self::new(right, names)?],
                    relation: *relation,
                    then: Self::new(then, names)?,
                    otherwise: Self::new(otherwise, names)?,
                })));
            }
            "min" => least,
            "max" => most,
            _ => {
                return wrong(
                    &call.name.span,
                    "no function of rules: ceil, if, min, max are",
                );
            }
        };
        let Some(first) = parts.next() else {
            return wrong(span, "of which values?");
        };
        let first = Box::new(Self::new(first, names)?);
        let rest = parts.map(|part| Ok((apply, Self::new(part, names)?)));
        Ok(Arithmetic::Chain(first, rest.collect::<Result<_, _>>()?))
    }

    fn value(&self, values: &[Line]) -> Line {
        match self {
            Arithmetic::Either(either) => either.value(values),
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
                let help = "arithmetic on names and numbers: + - * / ceil ( ) if(a < b, 1, 2) min max; a name with other characters than letters, digits and _ in braces: {my column}";
                let wrong = Diagnostic::at_span(source, place(&part), title, label);
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

    /// The names in it, each once, with the first place where it stands, in the order of [`eval`](Self::eval).
    pub fn names(&self) -> &[(String, Range<usize>)] {
        &self.names
    }

    pub fn is_name(&self) -> bool {
        let is_in_brackets = self.text.trim_start().starts_with('(');
        matches!(self.rule, Arithmetic::Name(_)) && !is_in_brackets
    }

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

    /// The rule with what each of its names stands for.
    fn evaluated(text: &str, value: impl Fn(&str) -> Line) -> Line {
        let rule = parsed(text).expect("it can be computed");
        let values = rule.names().iter().map(|(name, _)| value(name));
        rule.eval(&values.collect::<Vec<_>>())
    }

    #[test]
    fn arithmetic_goes_from_left_to_right() {
        let a = Line::constant(10.0);
        let names = "max(step, 1) + min({in}, 11) * if(where > 1, for, 0)";
        let comparisons = "if(a == 10, 1, 2) + if(a != 10, 1, 2) + if((a < 10), 10, 20)";
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
            ("min(a, 3, 5) + max(2, a)", 13.0),
            (names, 110.0),
            ("if(a >= 10, a / 2, 1 / 0) * 2", 10.0),
            (comparisons, 23.0),
            ("if(a > 4, if(a <= 8, 1, 2), 3)", 2.0),
            ("ceil(a / 3) * max(1)", 4.0),
            ("{a} / 1e1", 1.0),
        ] {
            assert_eq!(value(text, &[a; 4]), Line::constant(right), "{text}");
        }
    }

    #[test]
    fn a_rule_is_linear_in_the_time_by_its_form() {
        let line = |text: &str| {
            evaluated(text, |name| match name {
                "t" => Line::TIME,
                _ => Line::constant(3.0),
            })
        };
        let linear = line("p * t / 4 + 5 - p");
        assert_eq!((linear.at, linear.per, linear.is_bent), (2.0, 0.75, false));
        assert!(!line("ceil(p / 2) * t").is_bent);
        // What is chosen by something else than the time, and the lesser of two that go up alike, are lines.
        let chosen = line("if(p < 4, t * 2, t * t) + min(t + 1, t + p)");
        assert_eq!((chosen.at, chosen.per, chosen.is_bent), (1.0, 3.0, false));
        assert!(!line("if(t + p > t, 1, 2)").is_bent);
        for bent in [
            "t * t + p",
            "p / t",
            "ceil(t / p)",
            "p * (1 - t) * t",
            "max(t, 60)",
            "if(t < 60, 1, 2)",
            "if(p < 4, t * t, 1)",
        ] {
            assert!(line(bent).is_bent, "{bent}");
        }
    }

    #[test]
    fn names_are_found_where_they_stand() {
        let rule = parsed("b + {a b} * b").expect("it can be computed");
        let names = rule.names().iter();
        let places: Vec<_> = names.map(|(n, r)| (n.as_str(), r.clone())).collect();
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
            ("f(a)", "no function of rules"),
            ("if(a, 1, 2)", "a comparison: a < b"),
            ("if(a < 2, 1)", "a comparison and two values"),
            ("if(a = 2, 1, 2)", "write `==`"),
            ("min()", "of which values?"),
            ("max(a for b in c)", "expected `)` before `for`"),
            ("(a < 2) + 1", "nothing that can stand here"),
            ("a < 2", "should end before `<`"),
            ("1.2.3", "should end before `0.3`"),
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
        fn nothing_typed_makes_it_panic(text in "([-a-c+*/(){}.0-9 ,<>=!]|if\\(|min\\(|max\\(){0,24}|.{0,24}") {
            if let Ok(rule) = parsed(&text) {
                rule.eval(&vec![Line::TIME; rule.names().len()]);
            }
        }

        /// The least and the most of values are those that Rust finds, in any order, and both together are all of them.
        #[test]
        fn least_and_most_are_an_order(a in -1e9..1e9, b in -1e9..1e9, c in -1e9..1e9) {
            let of = |text: &str| evaluated(text, |name| Line::constant(match name {
                "a" => a,
                "b" => b,
                _ => c,
            })).at;
            prop_assert_eq!(of("min(c, b, a)"), a.min(b).min(c));
            prop_assert_eq!(of("max(b, max(c, a))"), a.max(b).max(c));
            prop_assert_eq!(of("if(b <= c, b, c)"), of("min(c, b)"));
            prop_assert_eq!(of("-min(-c, -b)"), of("max(b, c)"));
            prop_assert_eq!(of("if(b == c, 1, 0) + if(b != c, 1, 0)"), 1.0);
            let both = if b > a && b > c { 1.0 } else { 0.0 };
            prop_assert_eq!(of("if(b > a, if(b > c, 1, 0), 0)"), both);
        }

        /// Where a rule says that it is a line, it is one: two times tell any third.
        #[test]
        fn what_is_no_bent_rule_is_a_line(
            p in -5.0..5.0, q in -5.0..5.0, at in 0usize..7, other in 0usize..7, seconds in 1.0..1e4,
        ) {
            let parts = ["t * p + q", "max(p, q)", "if(p < q, t, q)", "min(t, q * t)", "if(t > p, t, q)", "p", "ceil(q) * t"];
            let text = format!("max({}, {} - p)", parts[at], parts[other]);
            let given = |time: Line| evaluated(&text, |name| match name {
                "t" => time,
                "p" => Line::constant(p),
                _ => Line::constant(q),
            });
            let line = given(Line::TIME);
            if !line.is_bent {
                let there = given(Line::constant(seconds)).at;
                prop_assert!((line.at + line.per * seconds - there).abs() <= 1e-9 * (1.0 + there.abs()));
            }
        }
    }
}
