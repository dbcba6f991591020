//! Rows that meet conditions.

use std::ops::Range;

use super::scope::Scope;
use super::table::ColumnTable;
use super::tree::{Condition, Node, Relation};
use super::value::Value;
use crate::input::Diagnostic;

/// Whether a value has this relation to one of several.
pub(super) fn is_satisfied(left: &Value, relation: Relation, right: &[Value]) -> bool {
    let equal = |other: &Value| match (left, other) {
        (Value::Number(a), Value::Number(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (Value::Text(a), Value::Text(b)) => a == b,
        _ => false,
    };
    let numbers = |other: &Value| Some((left.number()?, other.number()?));
    let ordered = |compare: fn(&f64, &f64) -> bool| {
        right
            .iter()
            .any(|other| numbers(other).is_some_and(|(a, b)| compare(&a, &b)))
    };
    match relation {
        Relation::Equal => right.iter().any(equal),
        Relation::Unequal => *left != Value::Empty && !right.iter().any(equal),
        Relation::Less => ordered(f64::lt),
        Relation::AtMost => ordered(f64::le),
        Relation::More => ordered(f64::gt),
        Relation::AtLeast => ordered(f64::ge),
    }
}

pub(super) struct SelectedRows<'c> {
    pub(super) rows: Vec<usize>,
    /// Conditions that are not on columns.
    pub(super) others: Vec<&'c Condition>,
    /// The condition that excluded all rows.
    pub(super) nobody: Option<&'c Condition>,
}

impl Scope<'_> {
    pub(super) fn selected<'c>(
        &mut self,
        table: &ColumnTable,
        conditions: &'c [Condition],
        span: &Range<usize>,
    ) -> Result<SelectedRows<'c>, Diagnostic> {
        self.within(span, |budget| budget.step(table.height()))?;
        let mut rows: Vec<usize> = (0..table.height()).collect();
        let (mut others, mut nobody) = (Vec::new(), None);
        for condition in conditions {
            let column = match &condition.left.node {
                Node::Name(name) => table.column(name),
                _ => None,
            };
            let Some(column) = column else {
                others.push(condition);
                continue;
            };
            let right = self.values_or_words(&condition.right)?;
            self.within(span, |budget| budget.step(rows.len()))?;
            rows.retain(|row| is_satisfied(&column[*row], condition.relation, &right));
            if rows.is_empty() && nobody.is_none() {
                nobody = Some(condition);
            }
        }
        Ok(SelectedRows {
            rows,
            others,
            nobody,
        })
    }
}
