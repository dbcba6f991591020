//! What there is to say about lists of names.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::check::Check;
use crate::input::{Diagnostic, closest};

/// A longer list is for `scavsim list`.
const MOST_NAMES: usize = 12;

fn legal_here(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    format!("legal here: {}", names.join(", "))
}

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
        let help = match legal.len() {
            0..=MOST_NAMES => format!("{}; see `scavsim {list}`", legal_here(legal)),
            _ => format!("`scavsim {list}` shows all"),
        };
        let complaint = Diagnostic::at(self.source, span, title, label);
        self.diagnostics.push(complaint.with_help(help));
    }

    pub(super) fn not_empty<T>(&mut self, key: &str, list: &Spanned<Vec<T>>, legal: &[&str]) {
        // A list whose entries were all refused only looks empty.
        if list.get_ref().is_empty() && !self.is_reported(&list.span()) {
            let some = &legal[..legal.len().min(MOST_NAMES)];
            let more = if some.len() < legal.len() {
                ", and others"
            } else {
                ""
            };
            self.diagnostics.push(
                Diagnostic::at(
                    self.source,
                    list.span(),
                    format!("`{key}` is an empty list"),
                    "expected at least one entry",
                )
                .with_help(legal_here(some) + more),
            );
        }
    }

    /// Whether something inside `span` was reported already.
    pub(super) fn is_reported(&self, span: &Range<usize>) -> bool {
        let (part, span) = self.source.locate(span);
        (self.diagnostics.iter())
            .filter_map(|d| d.place.as_ref())
            .any(|(source, at)| {
                Arc::ptr_eq(source, &part) && span.start <= at.start && at.end <= span.end
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
