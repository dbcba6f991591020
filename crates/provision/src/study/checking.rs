//! A file under check, and the report of its mistakes.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use scavsim_read::input::{Diagnostic, Diagnostics, Source, toml};

pub struct Check<'c> {
    pub source: &'c Arc<Source>,
    /// Folder that relative paths start at.
    pub base: &'c Path,
    pub d: &'c mut Diagnostics,
}

impl Check<'_> {
    /// Reports a mistake, with help unless that is empty.
    pub fn wrong(&mut self, span: Range<usize>, title: String, label: &str, help: &str) {
        let wrong = Diagnostic::at_span(self.source, span, title, label);
        self.d.push(if help.is_empty() {
            wrong
        } else {
            wrong.with_help(help)
        });
    }

    /// Whether a mistake in a table was reported, given its header or all of it.
    pub(super) fn is_told_in(&self, table: &Range<usize>) -> bool {
        let end = match self.source.text.get(table.clone()) {
            Some(header) if header.starts_with('[') => self.source.table_end(table.end),
            _ => table.end,
        };
        self.d.are_in(self.source, &(table.start + 1..end))
    }

    /// The value of a required key, or a complaint.
    pub(super) fn needed<T>(&mut self, key: &str, value: Option<T>, why: &str) -> Option<T> {
        if value.is_none() && !toml::is_written(self.source, key) {
            self.wrong(0..0, format!("`{key}` is missing"), why, "");
        }
        value
    }

    /// The value of a required key of a table, or a complaint.
    pub(super) fn needed_at<T>(
        &mut self,
        at: Range<usize>,
        key: &str,
        value: Option<T>,
        why: &str,
    ) -> Option<T> {
        if value.is_none() && !self.is_told_in(&at) {
            self.wrong(at, format!("`{key}` is missing"), why, "");
        }
        value
    }
}
