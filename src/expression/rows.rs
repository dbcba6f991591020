//! What an aggregate goes over.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::evaluate::Scope;
use super::table::Table;
use super::tree::{Call, Condition, Expression, Node};
use super::value::Value;
use crate::input::Diagnostic;

/// The table that an aggregate reads: the one that it names, or the first where it asks for columns.
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

/// Whether a part asks for a name that is no variable.
fn has_column(part: &Expression, variables: &[&str]) -> bool {
    let inner = |part: &Expression| has_column(part, variables);
    match &part.node {
        Node::Number(_) | Node::Quoted(_) => false,
        Node::Name(name) => !variables.contains(&&**name),
        Node::List(all) => all.iter().any(inner),
        Node::Range(steps) => inner(&steps.from) || inner(&steps.to),
        Node::Negative(part) => inner(part),
        Node::Binary(_, both) => both.iter().any(inner),
        Node::Compare(condition) => inner(&condition.left),
        // The words among the arguments of functions are words; aggregates have their own rows.
        Node::Call(call) => {
            let is_aggregate = super::AGGREGATES.contains(&&*call.name.text);
            let is_word = |part: &Expression| matches!(part.node, Node::Name(_));
            !is_aggregate && (call.arguments.iter()).any(|a| !is_word(&a.value) && inner(&a.value))
        }
    }
}

/// Values of an aggregate's arguments, row by row.
pub(super) struct Gathered {
    /// One list of values per row.
    pub(super) rows: Vec<Vec<Value>>,
    /// The condition that nothing meets, and what stands in its column.
    pub(super) nobody: Option<(Range<usize>, String)>,
}

impl Scope<'_> {
    /// Evaluates `parts` for every row that the clauses of `call` select.
    pub(super) fn gather(
        &mut self,
        call: &Call,
        parts: &[&Expression],
    ) -> Result<Gathered, Diagnostic> {
        let names: Vec<&str> = self.variables.iter().map(|(name, _)| &**name).collect();
        let tables = self.world.tables();
        let table = match table_of(call, &names, tables.first().map(String::as_str)) {
            Some(name) => {
                let span = call
                    .table
                    .as_ref()
                    .map_or(&call.name.span, |word| &word.span);
                let table = self.world.table(name);
                Some(table.map_err(|why| self.wrong(span, why))?)
            }
            None => None,
        };
        let mut gathered = Gathered {
            rows: Vec::new(),
            nobody: None,
        };
        let outer = self.row.clone();
        let known = self.variables.len();
        let done = self.each(call, 0, table.as_ref(), parts, &mut gathered);
        self.row = outer;
        self.variables.truncate(known);
        done.map(|()| gathered)
    }

    fn each(
        &mut self,
        call: &Call,
        depth: usize,
        table: Option<&Rc<Table>>,
        parts: &[&Expression],
        gathered: &mut Gathered,
    ) -> Result<(), Diagnostic> {
        if let Some((name, list)) = call.loops.get(depth) {
            let values = match self.value(list)? {
                Value::List(all) => all,
                one => vec![one],
            };
            for value in values {
                self.variables.push((Arc::clone(&name.text), value));
                self.each(call, depth + 1, table, parts, gathered)?;
                self.variables.pop();
            }
            return Ok(());
        }
        let Some(table) = table else {
            let all: Vec<&Condition> = call.conditions.iter().collect();
            return self.take(&all, parts, gathered);
        };
        let selected = self.selected(table, &call.conditions)?;
        if let Some(condition) = selected.nobody {
            gathered.nobody = Some((condition.left.span.clone(), values_there(table, condition)));
        }
        for row in selected.rows {
            self.row = Some((Rc::clone(table), row));
            self.take(&selected.others, parts, gathered)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        conditions: &[&Condition],
        parts: &[&Expression],
        gathered: &mut Gathered,
    ) -> Result<(), Diagnostic> {
        for condition in conditions {
            let right = self.words(&condition.right)?;
            let left = self.value(&condition.left)?;
            if !super::select::holds(&left, condition.relation, &right) {
                return Ok(());
            }
        }
        let values = parts.iter().map(|part| self.value(part));
        gathered.rows.push(values.collect::<Result<_, _>>()?);
        Ok(())
    }
}

/// Values of a column that a message shows.
const SHOWN: usize = 12;

/// What stands in the column of a condition that no row meets.
fn values_there(table: &Table, condition: &Condition) -> String {
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
    let more = match seen.len() > SHOWN {
        true => ", …",
        false => "",
    };
    seen.truncate(SHOWN);
    format!("`{name}` has {}{more}", seen.join(", "))
}
