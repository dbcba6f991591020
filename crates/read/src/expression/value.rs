use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number; true is 1, false 0.
    Number(f64),
    Text(Arc<str>),
    List(Vec<Value>),
    Empty,
}

impl Value {
    pub fn truth(holds: bool) -> Value {
        Value::Number(f64::from(u8::from(holds)))
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn size(&self) -> usize {
        match self {
            Value::List(all) => all.len(),
            _ => 1,
        }
    }

    pub fn shown(&self) -> String {
        match self {
            Value::Number(number) => format!("`{number}`"),
            Value::Text(text) => format!("`{text}`"),
            Value::List(all) => format!("a list of {}", all.len()),
            Value::Empty => "an empty cell".to_owned(),
        }
    }
}
