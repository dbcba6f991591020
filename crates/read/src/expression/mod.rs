//! A small language of figures: arithmetic, functions by name, and aggregates over the rows of tables.
//!
//! In: a text, and a [`World`] that knows functions and tables. Out: a [`Value`], or a mistake with its place. A rule of
//! columns ([`parse_rule`]) is arithmetic, which its reader computes.
//!
//! - [`tree`]: what is written, as a tree; `token`, `parse`: text → tree.
//! - [`table`]: rows to select from; [`value`]: what an expression comes to.
//! - [`check`](mod@check): names that nothing has, before anything is computed, and the columns that are asked for.
//! - [`world`]: what can be named; [`evaluate`](mod@evaluate): tree → value in a `scope`, within a `budget`, or a [`fault`].
//! - `rows`: what an aggregate goes over; `aggregates`: what it makes of it; `select`: rows that meet conditions.

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

/// Functions of numbers and lists that every expression knows, with their parameters.
pub const PLAIN: &[(&str, &[&str])] = &[
    ("abs", &["x"]),
    ("sqrt", &["x"]),
    ("exp", &["x"]),
    ("ln", &["x"]),
    ("round", &["x"]),
    ("if", &["condition", "then", "else"]),
    ("nth", &["list", "number"]),
];
