//! Lists in the forms that they can be printed in.

use serde_json::{Value, json};

use super::{Failure, Format};
use crate::input::Diagnostics;
use crate::report::text_table;

/// A list: column names, which of them hold text, rows.
pub(super) struct List {
    pub(super) header: Vec<&'static str>,
    pub(super) text_columns: &'static [usize],
    pub(super) rows: Vec<Vec<Value>>,
}

impl List {
    /// The list in a form.
    ///
    /// # Errors
    /// When a form cannot be written.
    pub(super) fn written(&self, format: Format) -> anyhow::Result<String> {
        match format {
            Format::Table => {
                let rows: Vec<_> = self.rows.iter().map(|row| cells(row)).collect();
                Ok(text_table::render(&self.header, self.text_columns, &rows))
            }
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
