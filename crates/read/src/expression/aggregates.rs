//! Computes aggregates from the values of their rows.

use std::ops::Range;

use super::budget::Budget;
use super::fault::Fault;
use super::scope::Scope;
use super::tree::{Call, Expression};
use super::value::Value;
use super::world::World;
use crate::input::Diagnostic;

pub const AGGREGATES: &[&str] = &[
    "mean", "sum", "min", "max", "median", "std", "count", "share", "quantile", "knee", "the",
    "list",
];

pub(super) fn aggregate(
    scope: &mut Scope<'_>,
    call: &Call,
    span: &Range<usize>,
) -> Result<Value, Diagnostic> {
    let name = &*call.name.text;
    let all: Vec<&Expression> = call.arguments.iter().map(|a| &a.value).collect();
    // Arguments that are one number for all rows come before the values of rows.
    let (fixed, parts) = match (name, &all[..]) {
        ("quantile", [share, rest @ ..]) => (Some(*share), rest),
        (_, all) => (None, all),
    };
    let wanted = match name {
        "count" => 0..2,
        "knee" => 3..4,
        "min" | "max" | "sum" | "list" => 1..usize::MAX,
        _ => 1..2,
    };
    if !wanted.contains(&parts.len()) {
        let title = match name {
            "knee" => "`knee` takes a value, time and cost".to_owned(),
            "quantile" => "`quantile` takes a share and a column".to_owned(),
            name => format!("`{name}` takes one column or list"),
        };
        return Err(scope.wrong(span, title));
    }
    let share = match fixed {
        Some(share) => Some(scope.number(share)?),
        None => None,
    };
    let budget = scope.budget;
    let before = budget.kept();
    let mut rows = Rows::new();
    let nobody = scope.gather(call, span, parts, &mut |values| {
        rows.add_row(name, values, budget)
    })?;
    budget.forget_to(before);
    let none = |scope: &Scope<'_>| {
        let (place, help) = match &nobody {
            Some((place, help)) => (place, Some(help.clone())),
            None => (span, None),
        };
        let wrong = scope.wrong(place, "no row is selected");
        match help {
            Some(help) if !help.is_empty() => wrong.with_help(help),
            _ => wrong,
        }
    };
    if name == "count" && parts.is_empty() {
        return Ok(Value::Number(rows.rows as f64));
    }
    if name == "knee" {
        return knee(scope.world, &rows.kept).ok_or_else(|| none(scope));
    }
    let count = rows.values as f64;
    match name {
        "list" => return Ok(Value::List(rows.kept)),
        "count" => return Ok(Value::Number(count)),
        "the" => {
            return match rows.kept.pop() {
                None => Err(none(scope)),
                Some(one) if rows.are_equal => Ok(one),
                Some(_) => Err(scope.wrong(span, format!("{count} values are selected, not one"))),
            };
        }
        _ => {}
    }
    if rows.values == 0 && name != "sum" {
        return Err(none(scope));
    }
    match rows.number(name, share.unwrap_or(0.5)) {
        Some(number) => Ok(Value::Number(number)),
        None => Err(scope.wrong(span, "a quantile is of a share from 0 to 1")),
    }
}

/// The state of an aggregate: the values of its rows, if it needs all of them.
struct Rows {
    rows: u64,
    /// Number of values, without empty cells.
    values: u64,
    /// All values, for aggregates that need all; for `the` the first; for `knee` those of each row in order.
    kept: Vec<Value>,
    are_equal: bool,
    sum: f64,
    least: f64,
    most: f64,
}

impl Rows {
    /// The aggregate of the numbers; `None` for a quantile outside 0 to 1.
    fn number(&self, aggregate: &str, share: f64) -> Option<f64> {
        let count = self.values as f64;
        let mut numbers: Vec<f64> = self.kept.iter().filter_map(Value::number).collect();
        match aggregate {
            "sum" => Some(self.sum),
            "mean" | "share" => Some(self.sum / count),
            "min" => Some(self.least),
            "max" => Some(self.most),
            "std" if count > 1.0 => {
                let mean = self.sum / count;
                let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
                Some((squares / (count - 1.0)).sqrt())
            }
            "std" => Some(0.0),
            _ => (0.0..=1.0)
                .contains(&share)
                .then(|| between(&mut numbers, share)),
        }
    }

    fn new() -> Rows {
        Rows {
            rows: 0,
            values: 0,
            kept: Vec::new(),
            are_equal: true,
            sum: std::iter::empty::<f64>().sum(),
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }

    fn add_row(&mut self, name: &str, values: &[Value], budget: &Budget) -> Result<(), Fault> {
        self.rows += 1;
        if name == "knee" {
            self.kept.extend_from_slice(values);
            return budget.keep(values.len());
        }
        for value in values {
            match value {
                Value::List(inner) => {
                    budget.step(inner.len())?;
                    inner
                        .iter()
                        .try_for_each(|one| self.add(name, one, budget))?;
                }
                one => self.add(name, one, budget)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, value: &Value, budget: &Budget) -> Result<(), Fault> {
        if *value == Value::Empty {
            return Ok(());
        }
        self.values += 1;
        let keep = match name {
            "list" | "median" | "quantile" | "std" => true,
            "the" => {
                let first = self.kept.first();
                self.are_equal &= first.is_none_or(|first| first == value);
                first.is_none()
            }
            _ => false,
        };
        if keep {
            budget.keep(1)?;
            self.kept.push(value.clone());
        }
        if matches!(name, "list" | "count" | "the") {
            return Ok(());
        }
        let Some(number) = value.number() else {
            return Err(Fault::NoNumber {
                name: name.to_owned(),
                found: value.shown(),
            });
        };
        self.sum += number;
        self.least = self.least.min(number);
        self.most = self.most.max(number);
        Ok(())
    }
}

/// The quantile between the two values next to it.
fn between(numbers: &mut [f64], share: f64) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let at = share * (numbers.len() - 1) as f64;
    let (below, above) = (numbers[at.floor() as usize], numbers[at.ceil() as usize]);
    if below == above {
        below
    } else {
        below + (above - below) * at.fract()
    }
}

/// The value that belongs to the knee of times and costs; `rows` have three values each.
fn knee(world: &dyn World, rows: &[Value]) -> Option<Value> {
    let points: Vec<Option<[f64; 2]>> = (rows.chunks_exact(3))
        .map(|row| Some([row[1].number()?, row[2].number()?]))
        .collect();
    rows.get(3 * world.knee(&points)?).cloned()
}
