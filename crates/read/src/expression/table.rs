use std::sync::Arc;

use super::value::Value;

pub type Cell = Value;

/// Named columns of equal length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnTable {
    names: Vec<String>,
    columns: Vec<Vec<Cell>>,
}

impl ColumnTable {
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> ColumnTable {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let columns = names.iter().map(|_| Vec::new()).collect();
        ColumnTable { names, columns }
    }

    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            column.push(cell);
        }
    }

    pub fn height(&self) -> usize {
        self.columns.iter().map(Vec::len).min().unwrap_or(0)
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn column(&self, name: &str) -> Option<&[Cell]> {
        let at = self.names.iter().position(|own| own == name)?;
        Some(&self.columns[at])
    }

    /// A text that several cells share.
    pub fn text(&self, column: usize, text: &str) -> Cell {
        let last = self.columns.get(column).and_then(|cells| cells.last());
        match last {
            Some(Value::Text(known)) if **known == *text => Value::Text(Arc::clone(known)),
            _ => Value::Text(Arc::from(text)),
        }
    }
}
