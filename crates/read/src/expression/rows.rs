//! The rows of an aggregate.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::fault::Fault;
use super::scope::Scope;
use super::table::ColumnTable;
use super::tree::{Call, Condition, Expression, Node};
use super::value::Value;
use crate::input::Diagnostic;

/// The table that an aggregate reads: the one that it names, or the first if it uses columns.
pub(super) fn table_of<'t>(
    call: &'t Call,
    variables: &[&str],
    first: Option<&'t str>,
) -> Option<&'t str> {
    let named = call.table.as_ref().map(|word| &*word.text);
    let free = || {
        let arguments = call.arguments.iter().map(|argument| &argument.value);
        let is_over_rows = call.loops.is_empty()
            && (!call.conditions.is_empty() || arguments.clone().count() == 0);
        is_over_rows
            || arguments
                .into_iter()
                .any(|part| has_column(part, variables))
    };
    named.or_else(|| first.filter(|_| call.loops.is_empty() && free()))
}

/// Whether a part uses a name that is no variable.
fn has_column(part: &Expression, variables: &[&str]) -> bool {
    let inner = |part: &Expression| has_column(part, variables);
    match &part.node {
        Node::Number(_) | Node::Quoted(_) => false,
        Node::Name(name) => !variables.contains(&&**name),
        Node::List(all) => all.iter().any(inner),
        Node::Range(steps) => inner(&steps.from) || inner(&steps.to),
        Node::Negative(part) => inner(part),
        Node::Chain(chain) => chain.all().any(inner),
        Node::Compare(condition) => inner(&condition.left),
        // Words among the arguments of functions are words; aggregates have their own rows.
        Node::Call(call) => {
            let is_aggregate = super::AGGREGATES.contains(&&*call.name.text);
            let is_word = |part: &Expression| matches!(part.node, Node::Name(_));
            !is_aggregate && (call.arguments.iter()).any(|a| !is_word(&a.value) && inner(&a.value))
        }
    }
}

/// The condition that no row meets, and the values in its column.
pub(super) type UnmetCondition = Option<(Range<usize>, String)>;

/// Receives the values of an aggregate's arguments in a row, or reports a mistake in them.
pub(super) type RowConsumer<'t> = dyn FnMut(&[Value]) -> Result<(), Fault> + 't;

struct Purpose<'p, 't> {
    call: &'p Call,
    parts: &'p [&'p Expression],
    span: &'p Range<usize>,
    take: &'p mut RowConsumer<'t>,
    nobody: UnmetCondition,
}

impl Scope<'_> {
    /// Evaluates `parts` for every row that the clauses of `call` select, and passes on their values: none is stored here.
    pub(super) fn gather(
        &mut self,
        call: &Call,
        span: &Range<usize>,
        parts: &[&Expression],
        take: &mut RowConsumer<'_>,
    ) -> Result<UnmetCondition, Diagnostic> {
        let names: Vec<&str> = self.variables.iter().map(|(name, _)| &**name).collect();
        let tables = self.world.tables();
        let table = match table_of(call, &names, tables.first().map(String::as_str)) {
            Some(name) => {
                let span = call
                    .table
                    .as_ref()
                    .map_or(&call.name.span, |word| &word.span);
                let table = self.world.table(name);
                Some(table.map_err(|why| self.wrong(span, why.to_string()))?)
            }
            None => None,
        };
        let mut purpose = Purpose {
            call,
            parts,
            span,
            take,
            nobody: None,
        };
        let outer = self.row.clone();
        let known = self.variables.len();
        let done = self.each(0, table.as_ref(), &mut purpose);
        self.row = outer;
        self.variables.truncate(known);
        done.map(|()| purpose.nobody)
    }

    fn each(
        &mut self,
        depth: usize,
        table: Option<&Rc<ColumnTable>>,
        purpose: &mut Purpose<'_, '_>,
    ) -> Result<(), Diagnostic> {
        let call = purpose.call;
        if let Some((name, list)) = call.loops.get(depth) {
            let values = match self.value(list)? {
                Value::List(all) => all,
                one => vec![one],
            };
            let count = values.len();
            self.within(&list.span, |budget| budget.keep(count))?;
            for value in values {
                self.variables.push((Arc::clone(&name.text), value));
                self.each(depth + 1, table, purpose)?;
                self.variables.pop();
            }
            // The values that the aggregate stored remain charged.
            self.budget.release(count);
            return Ok(());
        }
        let Some(table) = table else {
            let all: Vec<&Condition> = call.conditions.iter().collect();
            return self.visit_row(&all, purpose);
        };
        let selected = self.selected(table, &call.conditions, purpose.span)?;
        if let Some(condition) = selected.nobody {
            purpose.nobody = Some((condition.left.span.clone(), values_there(table, condition)));
        }
        for row in selected.rows {
            self.row = Some((Rc::clone(table), row));
            self.visit_row(&selected.others, purpose)?;
        }
        Ok(())
    }

    fn visit_row(
        &mut self,
        conditions: &[&Condition],
        purpose: &mut Purpose<'_, '_>,
    ) -> Result<(), Diagnostic> {
        for condition in conditions {
            let right = self.values_or_words(&condition.right)?;
            let left = self.value(&condition.left)?;
            if !super::select::is_satisfied(&left, condition.relation, &right) {
                return Ok(());
            }
        }
        let values = purpose.parts.iter().map(|part| self.value(part));
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        (purpose.take)(&values).map_err(|why| self.wrong(purpose.span, why.to_string()))
    }
}

/// Maximum number of values of a column in a message.
const SHOWN: usize = 12;

/// The values in the column of a condition that no row meets.
fn values_there(table: &ColumnTable, condition: &Condition) -> String {
    let Node::Name(name) = &condition.left.node else {
        return String::new();
    };
    let mut seen: Vec<String> = Vec::new();
    for cell in table.column(name).unwrap_or_default() {
        let shown = cell.shown();
        if !seen.contains(&shown) {
            seen.push(shown);
        }
        if seen.len() > SHOWN {
            break;
        }
    }
    let more = if seen.len() > SHOWN { ", …" } else { "" };
    seen.truncate(SHOWN);
    format!("`{name}` has {}{more}", seen.join(", "))
}
