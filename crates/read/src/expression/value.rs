//! What an expression comes to.

use std::sync::Arc;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number; true is 1, false 0.
    Number(f64),
    /// A word.
    Text(Arc<str>),
    /// Several values.
    List(Vec<Value>),
    /// A cell that holds nothing.
    Empty,
}

impl Value {
    /// True or false.
    pub fn truth(holds: bool) -> Value {
        Value::Number(f64::from(u8::from(holds)))
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// How many values it holds.
    pub fn size(&self) -> usize {
        match self {
            Value::List(all) => all.len(),
            _ => 1,
        }
    }

    /// The value as a message shows it.
    pub fn shown(&self) -> String {
        match self {
            Value::Number(number) => format!("`{number}`"),
            Value::Text(text) => format!("`{text}`"),
            Value::List(all) => format!("a list of {}", all.len()),
            Value::Empty => "an empty cell".to_owned(),
        }
    }
}
