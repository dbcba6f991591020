//! A small language of figures: arithmetic, named functions, and aggregates over the rows of tables, which a [`World`]
//! provides. A rule of columns ([`parse_rule`]) is arithmetic, which its reader computes.

mod aggregates;
mod budget;
pub mod check;
pub mod evaluate;
pub mod fault;
mod parse;
mod rows;
mod scope;
mod select;
pub mod table;
mod token;
pub mod tree;
pub mod value;
pub mod world;

pub use aggregates::AGGREGATES;
pub use check::{ExpressionDependencies, check};
pub use evaluate::evaluate;
pub use fault::{Fault, Refusal};
pub use parse::{CEIL, ParseMistake, parse, parse_loops, parse_rule};
pub use table::{Cell, ColumnTable};
pub use tree::{Definition, Text};
pub use value::Value;
pub use world::{Arguments, World};

/// Functions of numbers and lists in every expression, with their parameters.
pub const PLAIN: &[(&str, &[&str])] = &[
    ("abs", &["x"]),
    ("sqrt", &["x"]),
    ("exp", &["x"]),
    ("ln", &["x"]),
    ("round", &["x"]),
    ("if", &["condition", "then", "else"]),
    ("nth", &["list", "number"]),
];
