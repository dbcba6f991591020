use super::fault::{Fault, Refusal};
use std::ops::Range;
use std::rc::Rc;

use super::table::ColumnTable;
use super::tree::Definition;
use super::value::Value;

/// The names that expressions can use.
pub trait World {
    /// The parameters of a function; those that may be absent end in `?`.
    fn parameters(&self, function: &str) -> Option<&'static [&'static str]>;
    fn functions(&self) -> Vec<&str>;
    fn call(&self, function: &str, arguments: &Arguments<'_>) -> Result<Value, Refusal>;
    /// The index of the knee of several pairs of time and cost.
    fn knee(&self, points: &[Option<[f64; 2]>]) -> Option<usize>;
    fn defined(&self, name: &str) -> Option<&Definition>;
    /// All tables; aggregates use the first by default.
    fn tables(&self) -> Vec<String>;
    /// The columns of a table, known before its rows are.
    fn columns(&self, table: &str) -> Option<Vec<String>>;
    fn table(&self, name: &str) -> Result<Rc<ColumnTable>, Refusal>;
}

#[derive(Debug)]
pub struct Arguments<'a> {
    pub(super) values: Vec<(&'a str, Value)>,
}

impl Arguments<'_> {
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.values.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value)
    }

    pub fn optional_number(&self, name: &str) -> Result<Option<f64>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(*number)),
            Some(other) => Err(unlike(name, "a number", other.shown())),
        }
    }

    pub fn number(&self, name: &str) -> Result<f64, Fault> {
        let number = self.optional_number(name)?;
        number.ok_or_else(|| Fault::Missing(name.to_owned()))
    }

    pub fn whole_number(&self, name: &str, range: Range<u64>) -> Result<u64, Fault> {
        let number = self.number(name)?;
        let whole = number as u64;
        if whole as f64 == number && range.contains(&whole) {
            Ok(whole)
        } else {
            let (from, to) = (range.start, range.end - 1);
            let expected = format!("a whole number from {from} to {to}");
            Err(unlike(name, &expected, number.to_string()))
        }
    }

    pub fn optional_text(&self, name: &str) -> Result<Option<&str>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(unlike(name, "a word", other.shown())),
        }
    }

    pub fn text(&self, name: &str) -> Result<&str, Fault> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| Fault::Missing(name.to_owned()))
    }

    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, Fault> {
        let one = |value: &Value| {
            let number = value.number();
            number.ok_or_else(|| Fault::Holds {
                name: name.to_owned(),
                found: value.shown(),
            })
        };
        match self.get(name) {
            None => Err(Fault::Missing(name.to_owned())),
            Some(Value::List(all)) if all.is_empty() => Err(Fault::Empty(name.to_owned())),
            Some(Value::List(all)) => all.iter().map(one).collect(),
            Some(value) => Ok(vec![one(value)?]),
        }
    }
}

fn unlike(name: &str, expected: &str, found: String) -> Fault {
    Fault::Unlike {
        name: name.to_owned(),
        expected: expected.to_owned(),
        found,
    }
}
