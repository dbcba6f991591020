use super::no_value::NoValue;
use std::fmt;

use super::file_inputs::FileInputs;
use scavsim_read::expression::{Arguments, Value};

#[derive(Debug)]
pub struct Function {
    /// Name of the function, with the unit of its value.
    pub name: &'static str,
    pub parameters: &'static [&'static str],
    pub what: &'static str,
    /// Whether it returns published or measured data, and computes nothing.
    pub is_data: bool,
    pub(super) of: FunctionBody,
}

pub(super) enum FunctionBody {
    Number(fn(&FileInputs, &Arguments<'_>) -> Result<f64, NoValue>),
    Numbers(fn(&FileInputs, &Arguments<'_>) -> Result<Vec<f64>, NoValue>),
}

impl fmt::Debug for FunctionBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function")
    }
}

impl Function {
    pub fn value(&self, given: &FileInputs, arguments: &Arguments<'_>) -> Result<Value, NoValue> {
        match self.of {
            FunctionBody::Number(of) => of(given, arguments).map(Value::Number),
            FunctionBody::Numbers(of) => {
                let numbers = of(given, arguments)?.into_iter();
                Ok(Value::List(numbers.map(Value::Number).collect()))
            }
        }
    }
}

/// An entry of a list of functions.
macro_rules! function {
    ($of:ident [$($parameter:literal),*] $what:literal) => {
        $crate::functions::function::Function {
            name: stringify!($of),
            parameters: &[$($parameter),*],
            what: $what,
            is_data: false,
            of: $crate::functions::function::FunctionBody::Number($of),
        }
    };
    (data $($rest:tt)+) => {
        $crate::functions::function::Function {
            is_data: true,
            ..$crate::functions::function::function!($($rest)+)
        }
    };
    (list $of:ident [$($parameter:literal),*] $what:literal) => {
        $crate::functions::function::Function {
            name: stringify!($of),
            parameters: &[$($parameter),*],
            what: $what,
            is_data: false,
            of: $crate::functions::function::FunctionBody::Numbers($of),
        }
    };
}
pub(super) use function;
