//! The scope in which a part of an expression is evaluated.

use std::rc::Rc;
use std::sync::Arc;

use super::budget::Budget;
use super::table::ColumnTable;
use super::value::Value;
use super::world::World;
use crate::input::Source;

pub(super) struct Scope<'a> {
    pub(super) world: &'a dyn World,
    pub(super) source: &'a Arc<Source>,
    pub(super) budget: &'a Budget,
    /// Variables, the innermost last.
    pub(super) variables: Vec<(Arc<str>, Value)>,
    /// The row for names of columns.
    pub(super) row: Option<(Rc<ColumnTable>, usize)>,
    /// Nesting depth of functions.
    pub(super) depth: usize,
}
