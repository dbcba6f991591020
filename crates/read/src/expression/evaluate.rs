//! Evaluates a tree.

use std::ops::Range;
use std::sync::Arc;

use super::aggregates::{AGGREGATES, aggregate};
use super::budget::Budget;
use super::fault::{Fault, Refusal};
use super::scope::Scope;
use super::select::is_satisfied;
use super::tree::{Call, Chain, Expression, Node, Operator, Steps, Text};
use super::value::Value;
use super::world::{Arguments, World};
use crate::input::Diagnostic;

/// Maximum nesting depth of definitions.
const DEEPEST: usize = 50;
/// Maximum number of values in a list.
const MOST: f64 = 1e6;

pub fn evaluate(text: &Text, world: &dyn World) -> Result<Value, Diagnostic> {
    Scope {
        world,
        source: &text.source,
        budget: &Budget::default(),
        variables: Vec::new(),
        row: None,
        depth: 0,
    }
    .value(&text.root)
}

impl Scope<'_> {
    pub(super) fn wrong(&self, span: &Range<usize>, title: impl Into<String>) -> Diagnostic {
        Diagnostic::at_span(self.source, span.clone(), title, "here")
    }

    /// Charges the budget for the part at `span`.
    pub(super) fn within(
        &self,
        span: &Range<usize>,
        take: impl FnOnce(&Budget) -> Result<(), Fault>,
    ) -> Result<(), Diagnostic> {
        take(self.budget).map_err(|why| self.wrong(span, why.to_string()))
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Value> {
        let mut all = self.variables.iter().rev();
        all.find(|(own, _)| **own == *name).map(|(_, value)| value)
    }

    pub(super) fn number(&mut self, part: &Expression) -> Result<f64, Diagnostic> {
        match self.value(part)? {
            Value::Number(number) => Ok(number),
            other => Err(self.wrong(
                &part.span,
                format!("expected a number, found {}", other.shown()),
            )),
        }
    }

    /// The value of a name: a variable or a column.
    fn named(&self, name: &str) -> Option<Value> {
        let column = || {
            let (table, at) = self.row.as_ref()?;
            Some(table.column(name)?[*at].clone())
        };
        self.variable(name).cloned().or_else(column)
    }

    pub(super) fn value(&mut self, part: &Expression) -> Result<Value, Diagnostic> {
        self.within(&part.span, |budget| {
            budget.step(1).and_then(|()| budget.deeper())
        })?;
        let value = self.of_node(part);
        self.budget.higher();
        value
    }

    fn of_node(&mut self, part: &Expression) -> Result<Value, Diagnostic> {
        Ok(match &part.node {
            Node::Number(number) => Value::Number(*number),
            Node::Quoted(text) => Value::Text(Arc::clone(text)),
            Node::Name(name) => match self.named(name) {
                Some(value) => value,
                None => return Err(self.wrong(&part.span, format!("`{name}` is nothing here"))),
            },
            Node::List(all) => Value::List(self.all(all, &part.span)?),
            Node::Range(steps) => Value::List(self.range(steps, &part.span)?),
            Node::Negative(inner) => match self.value(inner)? {
                Value::Number(number) => Value::Number(-number),
                Value::Empty => Value::Empty,
                other => {
                    let title = format!("expected a number, found {}", other.shown());
                    return Err(self.wrong(&inner.span, title));
                }
            },
            Node::Chain(chain) => self.chain(chain)?,
            Node::Compare(condition) => {
                let right = self.values_or_words(&condition.right)?;
                let left = self.value(&condition.left)?;
                Value::truth(is_satisfied(&left, condition.relation, &right))
            }
            Node::Call(call) => self.call(call, &part.span)?,
        })
    }

    /// The values of a list, including those of inner lists.
    fn all(&mut self, all: &[Expression], span: &Range<usize>) -> Result<Vec<Value>, Diagnostic> {
        let kept = self.budget.kept();
        let mut values = Vec::new();
        for one in all {
            let before = values.len();
            match self.value(one)? {
                Value::List(inner) => values.extend(inner),
                other => values.push(other),
            }
            let more = values.len() - before;
            self.within(span, |budget| {
                budget.step(more).and_then(|()| budget.keep(more))
            })?;
            if values.len() as f64 > MOST {
                return Err(self.wrong(span, format!("a list of more than {MOST} values")));
            }
        }
        self.budget.forget_to(kept);
        Ok(values)
    }

    /// Values, where a bare name that is no variable is a word.
    pub(super) fn values_or_words(&mut self, all: &[Expression]) -> Result<Vec<Value>, Diagnostic> {
        let one = |part: &Expression| match &part.node {
            Node::Name(name) => Ok(match self.variable(name) {
                Some(value) => value.clone(),
                None => Value::Text(Arc::clone(name)),
            }),
            _ => self.value(part),
        };
        Ok(flat(all.iter().map(one).collect::<Result<_, _>>()?))
    }

    fn range(&mut self, steps: &Steps, span: &Range<usize>) -> Result<Vec<Value>, Diagnostic> {
        let (from, to) = (self.number(&steps.from)?, self.number(&steps.to)?);
        let step = match &steps.step {
            Some(step) => self.number(step)?,
            None => 1.0,
        };
        let count = (to - from) / step;
        if !(-1e-9..MOST).contains(&count) {
            let title = format!("{from} to {to} in steps of {step} is no range");
            return Err(self.wrong(span, title));
        }
        let count = (count + 1e-9).floor();
        self.within(span, |budget| budget.step(count as usize))?;
        // If the step divides the range, both ends are exact.
        let last = if (count * step + from - to).abs() < 1e-9 * to.abs().max(1.0) {
            to
        } else {
            from + count * step
        };
        let at = |n: u64| match n as f64 {
            0.0 => from,
            n => from + (last - from) * n / count,
        };
        Ok((0..=count as u64).map(|n| Value::Number(at(n))).collect())
    }

    /// Evaluates numbers from left to right; an empty cell makes the result empty.
    fn chain(&mut self, chain: &Chain) -> Result<Value, Diagnostic> {
        let Some(mut left) = self.number_or_empty(&chain.first)? else {
            return Ok(Value::Empty);
        };
        for (operator, part) in &chain.rest {
            let Some(right) = self.number_or_empty(part)? else {
                return Ok(Value::Empty);
            };
            left = match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                Operator::Divide if right == 0.0 => {
                    return Err(self.wrong(&part.span, "division by zero"));
                }
                Operator::Divide => left / right,
                Operator::Power => libm::pow(left, right),
            };
        }
        Ok(Value::Number(left))
    }

    fn number_or_empty(&mut self, part: &Expression) -> Result<Option<f64>, Diagnostic> {
        match self.value(part)? {
            Value::Number(number) => Ok(Some(number)),
            Value::Empty => Ok(None),
            other => {
                let title = format!("expected a number, found {}", other.shown());
                Err(self.wrong(&part.span, title))
            }
        }
    }

    fn call(&mut self, call: &Call, span: &Range<usize>) -> Result<Value, Diagnostic> {
        let name = &*call.name.text;
        if AGGREGATES.contains(&name) {
            return aggregate(self, call, span);
        }
        if name == "if" {
            return match &call.arguments[..] {
                [condition, then, otherwise] => {
                    if self.number(&condition.value)? == 0.0 {
                        self.value(&otherwise.value)
                    } else {
                        self.value(&then.value)
                    }
                }
                _ => Err(self.wrong(span, "`if` takes a condition and two values")),
            };
        }
        let world = self.world;
        if let Some(definition) = world.defined(name) {
            let parameters = definition.parameters.iter().map(String::as_str);
            let values = self.arguments(call, &parameters.collect::<Vec<_>>())?;
            if self.depth >= DEEPEST {
                let title = format!("more than {DEEPEST} functions inside of each other");
                return Err(self.wrong(span, title));
            }
            let kept = self.budget.kept();
            let lists = values.iter().map(|(_, value)| value.size()).sum();
            self.within(span, |budget| budget.keep(lists))?;
            let value = Scope {
                world,
                source: &definition.body.source,
                budget: self.budget,
                variables: (values.into_iter())
                    .map(|(name, value)| (Arc::from(name), value))
                    .collect(),
                row: None,
                depth: self.depth + 1,
            }
            .value(&definition.body.root);
            self.budget.forget_to(kept);
            return value;
        }
        let plain = super::PLAIN.iter().find(|(own, _)| *own == name);
        let parameters = match plain {
            Some((_, parameters)) => Some(*parameters),
            None => world.parameters(name),
        };
        let Some(parameters) = parameters else {
            return Err(self.wrong(&call.name.span, format!("unknown function `{name}`")));
        };
        let values = self.arguments(call, parameters)?;
        let arguments = Arguments { values };
        let value = match plain {
            Some(_) => self::plain(name, &arguments).map_err(Refusal::from),
            None => world.call(name, &arguments),
        };
        match value {
            Ok(Value::Number(number)) if number.is_nan() => {
                Err(self.wrong(span, format!("`{name}` of these is no number")))
            }
            Ok(value) => Ok(value),
            Err(why) => Err(self.wrong(span, format!("`{name}`: {why}"))),
        }
    }

    fn arguments<'p>(
        &mut self,
        call: &Call,
        parameters: &[&'p str],
    ) -> Result<Vec<(&'p str, Value)>, Diagnostic> {
        let mut values = Vec::new();
        for (at, argument) in call.arguments.iter().enumerate() {
            let found = match &argument.name {
                Some(word) => (parameters.iter()).find(|p| p.trim_end_matches('?') == &*word.text),
                None => parameters.get(at),
            };
            let Some(parameter) = found else {
                let span = argument
                    .name
                    .as_ref()
                    .map_or(&argument.value.span, |w| &w.span);
                return Err(self.wrong(span, "one argument too many"));
            };
            let value = match &argument.value.node {
                Node::Name(name) => (self.named(name)).unwrap_or(Value::Text(Arc::clone(name))),
                _ => self.value(&argument.value)?,
            };
            values.push((parameter.trim_end_matches('?'), value));
        }
        Ok(values)
    }
}

fn flat(all: Vec<Value>) -> Vec<Value> {
    let one = |value: Value| match value {
        Value::List(inner) => inner,
        other => vec![other],
    };
    all.into_iter().flat_map(one).collect()
}

fn plain(name: &str, arguments: &Arguments<'_>) -> Result<Value, Fault> {
    if name == "nth" {
        let Some(Value::List(all)) = arguments.get("list") else {
            return Err(Fault::NoList);
        };
        let number = arguments.number("number")?;
        // From the end if negative.
        let at = if number < 0.0 {
            all.len() as f64 + number
        } else {
            number - 1.0
        };
        let found = (at >= 0.0).then(|| all.get(at as usize)).flatten();
        let length = all.len();
        return (found.cloned()).ok_or(Fault::BeyondList { length, number });
    }
    let x = match arguments.get("x") {
        Some(Value::Empty) => return Ok(Value::Empty),
        _ => arguments.number("x")?,
    };
    Ok(Value::Number(match name {
        "abs" => x.abs(),
        "sqrt" => x.sqrt(),
        "exp" => libm::exp(x),
        "ln" => libm::log(x),
        _ => x.round(),
    }))
}
