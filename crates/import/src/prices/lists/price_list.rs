//! A recognised price list, and shared functions of its readers.

use std::sync::Arc;

use scavsim_data::cloud::Date;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Facts that a list may lack.
#[derive(Debug, Clone, Default)]
pub struct PriceListOptions {
    pub date: Option<String>,
    /// The providers of the prices; for a list with several, the only ones to read.
    pub clouds: Vec<String>,
    /// The regions of the prices; for a list with several, the only ones to read.
    pub regions: Vec<String>,
}

/// A recognised list, with its options.
pub(super) struct PriceList<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) kind: &'static str,
    pub(super) options: &'a PriceListOptions,
}

impl PriceList<'_> {
    pub(super) fn takes_region(&self, region: &str) -> bool {
        let only = &self.options.regions;
        only.is_empty() || only.iter().any(|own| own == region)
    }

    /// The single value of an option that the list lacks.
    pub(super) fn only_value<'o>(
        &self,
        option: &str,
        given: &'o [String],
        diagnostics: &mut Diagnostics,
    ) -> Option<&'o str> {
        if let [one] = given {
            return Some(one);
        }
        let title = format!(
            "`--{option}`: expected once, as {} does not say it",
            self.kind
        );
        diagnostics.push(Diagnostic::general(title));
        None
    }

    /// The given day, or the one in the list.
    pub(super) fn day(&self, stated: Option<&str>, diagnostics: &mut Diagnostics) -> Option<Date> {
        let given = self.options.date.as_deref();
        let text = given.or(stated.and_then(|text| text.get(..10)));
        let day = text.and_then(Date::parse);
        if day.is_none() {
            let title = match text {
                Some(text) => format!("`{text}` is no day"),
                None => format!("{} does not say its day", self.kind),
            };
            let help = "give the day on which it was fetched, like `--date 2026-11-27`";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
        day
    }
}

/// The first line with text: the header of a table.
pub(super) fn header(text: &str) -> &str {
    (text.lines())
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}

/// Whether the header of a table has all of these columns.
pub(super) fn has_columns(text: &str, columns: &[&str]) -> bool {
    let cells = header(text)
        .split(',')
        .map(|cell| cell.trim().trim_matches('"'));
    let cells: Vec<&str> = cells.collect();
    columns.iter().all(|column| cells.contains(column))
}

pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}
