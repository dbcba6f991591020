//! What there is to say about lists of names.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::check::Check;
use crate::input::{Diagnostic, closest};

impl Check<'_> {
    pub(super) fn unknown(
        &mut self,
        title: String,
        span: Range<usize>,
        word: &str,
        legal: &[&str],
        list: &str,
    ) {
        let label = match closest(word, legal.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "not known".to_owned(),
        };
        let names: Vec<String> = legal.iter().map(|n| format!("`{n}`")).collect();
        self.diagnostics.push(
            Diagnostic::at(self.source, span, title, label).with_help(format!(
                "legal here: {}; see `scavsim {list}`",
                names.join(", ")
            )),
        );
    }

    pub(super) fn not_empty<T>(&mut self, key: &str, list: &Spanned<Vec<T>>, legal: &[&str]) {
        // A list whose entries were all refused only looks empty.
        if list.get_ref().is_empty() && !self.is_reported(&list.span()) {
            let names: Vec<String> = legal.iter().map(|n| format!("`{n}`")).collect();
            self.diagnostics.push(
                Diagnostic::at(
                    self.source,
                    list.span(),
                    format!("`{key}` is an empty list"),
                    "expected at least one entry",
                )
                .with_help(format!("legal here: {}", names.join(", "))),
            );
        }
    }

    /// Whether something inside `span` was reported already.
    pub(super) fn is_reported(&self, span: &Range<usize>) -> bool {
        (self.diagnostics.iter())
            .filter_map(|d| d.place.as_ref())
            .any(|(source, at)| {
                Arc::ptr_eq(source, self.source) && span.start <= at.start && at.end <= span.end
            })
    }

    pub(super) fn no_duplicates<T: PartialEq>(&mut self, key: &str, list: &[Spanned<T>]) {
        for (index, item) in list.iter().enumerate() {
            if list[..index].iter().any(|i| i.get_ref() == item.get_ref()) {
                self.diagnostics.error_at(
                    self.source,
                    item.span(),
                    format!("`{key}` holds {} twice", &self.source.text[item.span()]),
                    "remove one of the two",
                );
            }
        }
    }
}
