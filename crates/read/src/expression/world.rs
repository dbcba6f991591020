//! What expressions can name, and the arguments of its functions.

use std::ops::Range;
use std::rc::Rc;

use super::table::ColumnTable;
use super::tree::Definition;
use super::value::Value;

/// What expressions can name.
pub trait World {
    /// The parameters of a function; those that may be absent end in `?`.
    fn parameters(&self, function: &str) -> Option<&'static [&'static str]>;
    /// All functions.
    fn functions(&self) -> Vec<&str>;
    /// A function's value.
    ///
    /// # Errors
    /// Why it has none.
    fn call(&self, function: &str, arguments: &Arguments<'_>) -> Result<Value, String>;
    /// Which of several pairs of time and cost is their knee.
    fn knee(&self, points: &[Option<[f64; 2]>]) -> Option<usize>;
    /// A function that a file defines.
    fn defined(&self, name: &str) -> Option<&Definition>;
    /// All tables; aggregates go over the first where none is named.
    fn tables(&self) -> Vec<String>;
    /// The columns of a table, known before its rows are.
    fn columns(&self, table: &str) -> Option<Vec<String>>;
    /// The rows of a table.
    ///
    /// # Errors
    /// Why there are none.
    fn table(&self, name: &str) -> Result<Rc<ColumnTable>, String>;
}

/// Arguments by the names of the parameters.
#[derive(Debug)]
pub struct Arguments<'a> {
    pub(super) values: Vec<(&'a str, Value)>,
}

impl Arguments<'_> {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.values.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value)
    }

    /// A number, if it is there.
    ///
    /// # Errors
    /// A sentence when it is something else.
    pub fn optional_number(&self, name: &str) -> Result<Option<f64>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(*number)),
            Some(other) => Err(format!("`{name}` is a number, not {}", other.shown())),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// A sentence when it is not there, or something else.
    pub fn number(&self, name: &str) -> Result<f64, String> {
        let number = self.optional_number(name)?;
        number.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A whole number of `range`.
    ///
    /// # Errors
    /// A sentence when it is not there, or something else.
    pub fn whole(&self, name: &str, range: Range<u64>) -> Result<u64, String> {
        let number = self.number(name)?;
        let whole = number as u64;
        if whole as f64 == number && range.contains(&whole) {
            Ok(whole)
        } else {
            Err(format!(
                "`{name}` is a whole number from {} to {}, not {number}",
                range.start,
                range.end - 1
            ))
        }
    }

    /// A word, if it is there.
    ///
    /// # Errors
    /// A sentence when it is something else.
    pub fn optional_text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{name}` is a word, not {}", other.shown())),
        }
    }

    /// A word.
    ///
    /// # Errors
    /// A sentence when it is not there, or something else.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// Numbers: a list, or one.
    ///
    /// # Errors
    /// A sentence when it is not there, or something else.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let one = |value: &Value| {
            let number = value.number();
            number.ok_or_else(|| format!("`{name}` holds {}, not a number", value.shown()))
        };
        match self.get(name) {
            None => Err(format!("`{name}` is missing")),
            Some(Value::List(all)) if all.is_empty() => Err(format!("`{name}` is empty")),
            Some(Value::List(all)) => all.iter().map(one).collect(),
            Some(value) => Ok(vec![one(value)?]),
        }
    }
}
