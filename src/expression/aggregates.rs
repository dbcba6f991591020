//! What an aggregate makes of the values of its rows.

use std::ops::Range;

use super::evaluate::Scope;
use super::tree::{Call, Expression};
use super::value::Value;
use crate::input::Diagnostic;
use crate::search::Objective;
use crate::search::{Point, objective};

/// Functions of rows.
pub const AGGREGATES: &[&str] = &[
    "mean", "sum", "min", "max", "median", "std", "count", "share", "quantile", "knee", "the",
    "list",
];

/// The value of an aggregate.
pub(super) fn aggregate(
    scope: &mut Scope<'_>,
    call: &Call,
    span: &Range<usize>,
) -> Result<Value, Diagnostic> {
    let name = &*call.name.text;
    let all: Vec<&Expression> = call.arguments.iter().map(|a| &a.value).collect();
    // What is one number for all rows stands before what they are asked for.
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
            "knee" => "`knee` takes what to tell, time and cost".to_owned(),
            "quantile" => "`quantile` takes a share and a column".to_owned(),
            name => format!("`{name}` takes one column or list"),
        };
        return Err(scope.wrong(span, title));
    }
    let share = match fixed {
        Some(share) => Some(scope.number(share)?),
        None => None,
    };
    let gathered = scope.gather(call, parts)?;
    let none = |scope: &Scope<'_>| {
        let (place, help) = match &gathered.nobody {
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
        return Ok(Value::Number(gathered.rows.len() as f64));
    }
    if name == "knee" {
        return knee(&gathered.rows).ok_or_else(|| none(scope));
    }
    let values: Vec<Value> = (gathered.rows.iter().flatten().cloned())
        .flat_map(|value| match value {
            Value::List(inner) => inner,
            other => vec![other],
        })
        .filter(|value| *value != Value::Empty)
        .collect();
    match name {
        "list" => return Ok(Value::List(values)),
        "count" => return Ok(Value::Number(values.len() as f64)),
        "the" => {
            return match &values[..] {
                [one] => Ok(one.clone()),
                [] => Err(none(scope)),
                [first, rest @ ..] if rest.iter().all(|value| value == first) => Ok(first.clone()),
                _ => Err(scope.wrong(
                    span,
                    format!("{} values are selected, not one", values.len()),
                )),
            };
        }
        _ => {}
    }
    if values.is_empty() && name != "sum" {
        return Err(none(scope));
    }
    let mut numbers = Vec::with_capacity(values.len());
    for value in &values {
        match value.number() {
            Some(number) => numbers.push(number),
            None => {
                let title = format!("`{name}` needs numbers, found {}", value.shown());
                return Err(scope.wrong(span, title));
            }
        }
    }
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    Ok(Value::Number(match name {
        "sum" => sum,
        "mean" | "share" => sum / count,
        "min" => numbers.iter().copied().fold(f64::INFINITY, f64::min),
        "max" => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "std" => {
            let mean = sum / count;
            let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
            match count > 1.0 {
                true => (squares / (count - 1.0)).sqrt(),
                false => 0.0,
            }
        }
        _ => {
            let share = share.unwrap_or(0.5);
            if !(0.0..=1.0).contains(&share) {
                return Err(scope.wrong(span, "a quantile is of a share from 0 to 1"));
            }
            between(&mut numbers, share)
        }
    }))
}

/// The quantile between the two values next to it.
fn between(numbers: &mut [f64], share: f64) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let at = share * (numbers.len() - 1) as f64;
    let (below, above) = (numbers[at.floor() as usize], numbers[at.ceil() as usize]);
    match below == above {
        true => below,
        false => below + (above - below) * at.fract(),
    }
}

/// What belongs to the knee of times and costs, by the rule of the search.
fn knee(rows: &[Vec<Value>]) -> Option<Value> {
    let points: Vec<Option<Point>> = (rows.iter())
        .map(|row| {
            let (time_s, cost_usd) = (row[1].number()?, row[2].number()?);
            Some(Point { time_s, cost_usd })
        })
        .collect();
    let best = objective::choose(Objective::Knee, |_, _| true, &points, &mut Vec::new())?;
    Some(rows.get(best)?[0].clone())
}
