//! Lists in the forms that they can be printed in.

use serde_json::{Value, json};

use super::{Failure, Format};
use scavsim_base::text::Page;
use scavsim_base::text::text_table::{self, Column};
use scavsim_read::input::Diagnostics;

/// A list: column names, which of them hold text, rows.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) header: Vec<&'static str>,
    pub(super) text_columns: &'static [usize],
    pub(super) rows: Vec<Vec<Value>>,
    /// Columns that a table shows only when it is asked for all: sources, descriptions.
    pub(super) long: &'static [usize],
    /// Columns that leave a table first where there is no room; then those on the right.
    pub(super) first_to_leave: &'static [usize],
    /// The column of a table that is wrapped into the room that the others leave.
    pub(super) wrapped: Option<usize>,
}

/// Columns of characters that a wrapped column has at least.
const LEAST: usize = 24;

impl List {
    /// The list in a form.
    ///
    /// # Errors
    /// When a form cannot be written.
    pub(super) fn written(&self, format: Format, page: &Page) -> anyhow::Result<String> {
        match format {
            Format::Table => Ok(self.table(page)),
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(Vec::new());
                writer.write_record(&self.header)?;
                for row in &self.rows {
                    writer.write_record(cells(row))?;
                }
                Ok(String::from_utf8_lossy(&writer.into_inner()?).into_owned())
            }
            Format::Markdown => {
                let rows: Vec<_> = self.rows.iter().map(|row| cells(row)).collect();
                Ok(text_table::markdown(&self.header, &rows))
            }
            Format::Json => {
                let items: Vec<Value> = (self.rows.iter())
                    .map(|row| {
                        let names = self.header.iter().map(|h| (*h).to_owned());
                        Value::Object(names.zip(row.iter().cloned()).collect())
                    })
                    .collect();
                let all = json!({ "schema": 1, "items": items });
                Ok(serde_json::to_string_pretty(&all)? + "\n")
            }
        }
    }
}

impl List {
    /// For people.
    fn table(&self, page: &Page) -> String {
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| cells(row)).collect();
        let is_shown = |at: &usize| page.is_wide || !self.long.contains(at);
        let shown: Vec<usize> = (0..self.header.len()).filter(is_shown).collect();
        let rank = |at: usize| match self.first_to_leave.iter().position(|first| *first == at) {
            _ if at == 0 || self.wrapped == Some(at) => 0,
            Some(place) => u8::MAX - place as u8,
            None => at as u8,
        };
        let column = |&at: &usize| {
            let own = rows.iter().map(|row| row[at].clone()).collect();
            Column::new(
                self.header[at],
                self.text_columns.contains(&at),
                rank(at),
                own,
            )
        };
        let columns: Vec<Column<'_>> = shown.iter().map(column).collect();
        let wrapped = self
            .wrapped
            .and_then(|wrapped| shown.iter().position(|at| *at == wrapped));
        let table = match wrapped {
            Some(at) => text_table::fit_around(&columns, at, LEAST, page),
            None => text_table::fit(&columns, page),
        };
        let long = self
            .long
            .iter()
            .filter(|_| !page.is_wide)
            .map(|at| self.header[*at]);
        let left_out = table.left_out.iter().map(String::as_str);
        let missing: Vec<&str> = left_out.chain(long).collect();
        match self.rows.is_empty() {
            true => table.text(page),
            false => table.text(page) + &text_table::remark(&missing, None, page),
        }
    }
}

/// A row as texts, without the quotes of JSON.
fn cells(row: &[Value]) -> Vec<String> {
    let plain = |v: &Value| match v {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    row.iter().map(plain).collect()
}

/// Refuses to list from a broken table.
pub(super) fn sound<T>(value: T, diagnostics: Diagnostics) -> Result<T, Failure> {
    if diagnostics.is_empty() {
        Ok(value)
    } else {
        Err(Failure::Wrong(diagnostics))
    }
}
