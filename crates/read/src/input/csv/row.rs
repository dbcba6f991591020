//! Cells as values.

use std::borrow::Cow;
use std::ops::{Range, RangeBounds};

use csv::StringRecord;

use super::limits::legal;
use super::table::{Table, raw};
use crate::input::name::not_a_name;
use crate::input::words::{listed, shown};
use crate::input::{Diagnostic, Diagnostics};

#[derive(Debug, Clone, Copy)]
pub struct Row<'t> {
    table: &'t Table,
    cells: &'t StringRecord,
}

impl Table {
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }
}

impl<'t> Row<'t> {
    pub fn has(&self, column: &str) -> bool {
        self.table.column(column).is_some()
    }

    pub fn text(&self, column: &str, diagnostics: &mut Diagnostics) -> Option<&'t str> {
        let words = || "a text without control characters".to_owned();
        self.must_be(column, words, diagnostics, Some)
    }

    pub fn name(&self, column: &str, diagnostics: &mut Diagnostics) -> Option<&'t str> {
        let name = self.text(column, diagnostics)?;
        let Some(why) = not_a_name(name) else {
            return Some(name);
        };
        let title = format!("`{column}`: `{}` is no name", shown(name));
        self.report(column, title, why, diagnostics);
        None
    }

    /// The text of a cell; none if it is empty or the table has no such column.
    pub fn optional_text(&self, column: &str) -> Option<&'t str> {
        let index = self.table.column(column)?;
        self.cells.get(index).filter(|cell| !cell.is_empty())
    }

    /// A finite number of `range` in a cell that must not be empty.
    pub fn number(
        &self,
        column: &str,
        range: impl RangeBounds<f64>,
        diagnostics: &mut Diagnostics,
    ) -> Option<f64> {
        let words = || legal("a number", &range);
        self.must_be(column, words, diagnostics, |cell| {
            let number: f64 = self.pointed(cell).parse().ok()?;
            (number.is_finite() && range.contains(&number)).then_some(number)
        })
    }

    /// A finite number of `range` in a cell that may be empty, or whose column may be missing.
    pub fn optional_number(
        &self,
        column: &str,
        range: impl RangeBounds<f64>,
        diagnostics: &mut Diagnostics,
    ) -> Option<f64> {
        self.optional_text(column)?;
        self.number(column, range, diagnostics)
    }

    /// A whole number of `range` in a cell that must not be empty; `20.0` is one.
    pub fn whole_number(
        &self,
        column: &str,
        range: impl RangeBounds<u64>,
        diagnostics: &mut Diagnostics,
    ) -> Option<u64> {
        let words = || legal("a whole number", &range);
        self.must_be(column, words, diagnostics, |cell| {
            let cell = self.pointed(cell);
            let whole = match cell.split_once('.') {
                Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
                _ => &cell,
            };
            let number = whole.parse().ok();
            number.filter(|number| range.contains(number))
        })
    }

    /// The one of `all` whose name is in a cell.
    pub fn known<V: Copy>(
        &self,
        column: &str,
        all: &[V],
        name: impl Fn(V) -> &'static str,
        diagnostics: &mut Diagnostics,
    ) -> Option<V> {
        let word = self.text(column, diagnostics)?;
        let found = all.iter().copied().find(|one| name(*one) == word);
        if found.is_none() {
            let title = format!("unknown {column} `{word}`");
            let help = format!("allowed here: {}", listed(all.iter().copied().map(name)));
            self.refuse(column, title, "", help, diagnostics);
        }
        found
    }

    /// A number with a decimal point, where a comma does not end the cell.
    fn pointed(&self, cell: &'t str) -> Cow<'t, str> {
        match self.table.delimiter {
            b',' => Cow::Borrowed(cell),
            _ => Cow::Owned(cell.replacen(',', ".", 1)),
        }
    }

    /// Reports a mistake in a cell.
    pub fn report(
        &self,
        column: &str,
        title: impl Into<String>,
        label: impl Into<String>,
        diagnostics: &mut Diagnostics,
    ) {
        diagnostics.error_at(&self.table.source, self.span(column), title, label);
    }

    /// Reports a mistake in a cell, with advice.
    pub fn refuse(
        &self,
        column: &str,
        title: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
        diagnostics: &mut Diagnostics,
    ) {
        let wrong = Diagnostic::at_span(&self.table.source, self.span(column), title, label);
        diagnostics.push(wrong.with_help(help));
    }

    /// Reports a mistake in the whole row.
    pub fn report_line(
        &self,
        title: impl Into<String>,
        label: impl Into<String>,
        diagnostics: &mut Diagnostics,
    ) {
        diagnostics.error_at(&self.table.source, self.line_span(), title, label);
    }

    /// Reports the name in this cell, which an earlier row has, too.
    pub fn named_before(&self, column: &str, diagnostics: &mut Diagnostics) {
        let name = self.optional_text(column).unwrap_or_default();
        let title = format!("two rows are called `{name}`");
        self.report(column, title, "named before", diagnostics);
    }

    /// Where a cell is, quotes included; the whole row if there is no such column.
    pub fn span(&self, column: &str) -> Range<usize> {
        let raw = raw(&self.table.source, self.cells, self.table.delimiter);
        self.table
            .column(column)
            .and_then(|index| raw.cells.get(index).cloned())
            .unwrap_or(raw.line)
    }

    pub fn line_span(&self) -> Range<usize> {
        raw(&self.table.source, self.cells, self.table.delimiter).line
    }

    fn must_be<V>(
        &self,
        column: &str,
        legal: impl FnOnce() -> String,
        diagnostics: &mut Diagnostics,
        understand: impl FnOnce(&'t str) -> Option<V>,
    ) -> Option<V> {
        let cell = self.optional_text(column);
        let value = cell.and_then(understand);
        // Formatted only after a mistake: tables of prices have thousands of cells.
        if value.is_none() {
            let legal = legal();
            let found = match cell {
                Some(cell) => format!("`{}`", shown(cell)),
                None if self.table.column(column).is_none() => "no such column".to_owned(),
                None => "an empty cell".to_owned(),
            };
            let title = format!("`{column}`: expected {legal}, found {found}");
            self.report(column, title, format!("expected {legal}"), diagnostics);
        }
        value
    }
}
