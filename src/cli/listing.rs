//! Lists, and the formats in which they are printed.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::exit::{Failure, no_mistakes};
use scavsim_base::text::{Page, Sheet};
use scavsim_read::input::Diagnostics;

/// Form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For spreadsheets and data frames.
    Csv,
    /// For programs; the stable interface.
    Json,
    /// For documents.
    Markdown,
}

pub(super) fn written<R>(
    list: &Sheet<'_, R>,
    format: Format,
    page: &Page,
) -> anyhow::Result<String> {
    Ok(match format {
        Format::Table => {
            let table = list.fit(page);
            if list.rows.is_empty() {
                table.text(page)
            } else {
                table.text(page) + &table.remark("", page)
            }
        }
        Format::Csv => list.csv(true),
        Format::Markdown => list.markdown(),
        Format::Json => {
            let all = json!({ "schema": 1, "items": list.json() });
            serde_json::to_string_pretty(&all)? + "\n"
        }
    })
}

/// A figure: with `digits` digits in tables, with all digits in other formats.
pub(super) fn figure(value: f64, digits: usize, format: Format) -> Value {
    match format {
        Format::Table | Format::Markdown => json!(format!("{value:.digits$}")),
        Format::Csv | Format::Json => json!(value),
    }
}

/// Refuses to list from a broken table.
pub(super) fn sound<T>((value, diagnostics): (T, Diagnostics)) -> Result<T, Failure> {
    no_mistakes(diagnostics)?;
    Ok(value)
}
