//! Rows of records by the names of their columns, from any version.

use std::collections::BTreeMap;
use std::sync::Arc;

/// One record.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    columns: Arc<Vec<String>>,
    cells: Vec<String>,
}

impl Row {
    pub fn new(columns: Arc<Vec<String>>, cells: Vec<String>) -> Row {
        Row { columns, cells }
    }

    /// A cell; empty if there is no such column.
    pub fn text(&self, column: &str) -> &str {
        let at = self.columns.iter().position(|name| name == column);
        at.map_or("", |at| &self.cells[at])
    }

    /// A figure, if it exists.
    pub fn figure(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// The row with another cell.
    pub fn with(&self, column: &str, cell: impl ToString) -> Row {
        let mut row = self.clone();
        if let Some(at) = self.columns.iter().position(|name| name == column) {
            row.cells[at] = cell.to_string();
        }
        row
    }

    pub fn is_ok(&self) -> bool {
        self.text("status") == "ok"
    }

    /// All cells with the names of their columns.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str)> {
        self.columns
            .iter()
            .map(String::as_str)
            .zip(self.cells.iter().map(String::as_str))
    }

    /// The group of a row, without its replica, in words.
    pub fn group(&self) -> Vec<String> {
        GROUP.map(|column| self.text(column).to_owned()).into()
    }

    /// The first column, except the named ones, in which another row has another value. A missing column counts as empty; a
    /// missing axis is swept only in the other's scenario.
    pub fn differs(&self, other: &Row, but: &[&str]) -> Option<String> {
        // A file may write 1.0 for 1.
        let same = |own: &str, other: &str| {
            own == other || own.parse::<f64>().is_ok_and(|own| other.parse() == Ok(own))
        };
        let others = other.cells().filter(|(column, _)| !self.has(column));
        let is_common = |column: &str| self.has(column) && other.has(column);
        self.cells()
            .chain(others)
            .filter(|(column, _)| !column.starts_with("axis.") || is_common(column))
            .map(|(column, _)| (column, self.text(column), other.text(column)))
            .find(|(column, own, others)| !but.contains(column) && !same(own, others))
            .map(|(column, own, others)| format!("{column} {own} and {others}"))
    }

    fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
    }
}

/// Columns that identify a group of rows.
pub const GROUP: [&str; 5] = ["workload", "pricing", "objective", "strategy", "setting"];

/// Rows by group.
pub fn groups(rows: &[Row]) -> BTreeMap<Vec<String>, Vec<&Row>> {
    let mut groups: BTreeMap<Vec<String>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.group()).or_default().push(row);
    }
    groups
}

/// The rows of a CSV.
pub fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|why| why.to_string())?;
    let columns = Arc::new(header.iter().map(str::to_owned).collect::<Vec<_>>());
    let rows = reader.records().map(|cells| {
        let cells = cells.map_err(|why| why.to_string())?;
        Ok(Row::new(
            columns.clone(),
            cells.iter().map(str::to_owned).collect(),
        ))
    });
    rows.collect()
}
