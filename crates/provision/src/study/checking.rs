//! A file that is checked, and how mistakes are told.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// A file that is checked, and what is wrong with it.
pub(super) struct Check<'c> {
    pub(super) source: &'c Arc<Source>,
    /// Where folders are looked for.
    pub(super) base: &'c Path,
    pub(super) d: &'c mut Diagnostics,
}

impl Check<'_> {
    /// Says what is wrong where; without help where that is empty.
    pub(super) fn wrong(&mut self, span: Range<usize>, title: String, label: &str, help: &str) {
        let wrong = Diagnostic::at(self.source, span, title, label);
        self.d.push(if help.is_empty() {
            wrong
        } else {
            wrong.with_help(help)
        });
    }

    /// Says that a key is needed; what it says where it is there.
    pub(super) fn needed<T>(&mut self, key: &str, value: Option<T>, why: &str) -> Option<T> {
        self.needed_at(0..0, key, value, why)
    }

    /// Says that a key is needed in a table; what it says where it is there. What is written and wrong was said when it was
    /// read, and is not missing.
    pub(super) fn needed_at<T>(
        &mut self,
        at: Range<usize>,
        key: &str,
        value: Option<T>,
        why: &str,
    ) -> Option<T> {
        let word = key.rsplit('.').next().unwrap_or(key);
        let is_wrong = !self.d.is_empty() && self.source.text.contains(word);
        if value.is_none() && !is_wrong {
            self.wrong(at, format!("`{key}` is missing"), why, "");
        }
        value
    }
}
