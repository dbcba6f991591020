//! The text under check, and the mistakes found in it.

use std::collections::HashSet;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use super::axis::Axis;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, Spanned, did_you_mean, listed};

const MOST_NAMES: usize = 12;

fn legal_here(names: &[&str]) -> String {
    format!("allowed here: {}", listed(names.iter().copied()))
}

pub(crate) struct Complaints<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Complaints<'_> {
    /// A mistake at a place, before it is reported: help can be added.
    pub(super) fn mistake_at(
        &self,
        span: Range<usize>,
        title: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::at_span(self.source, span, title, label)
    }

    /// A mistake of the whole file, before it is reported.
    pub(super) fn of_file(&self, title: impl AsRef<str>) -> Diagnostic {
        Diagnostic::general(format!("{}: {}", self.source.name, title.as_ref()))
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports a mistake at a place, without help.
    pub(super) fn error_at(
        &mut self,
        span: Range<usize>,
        title: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.diagnostics.error_at(self.source, span, title, label);
    }

    /// Reports a mistake at a place, with advice.
    pub(super) fn refuse(
        &mut self,
        span: Range<usize>,
        title: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(self.mistake_at(span, title, label).with_help(help));
    }

    pub(super) fn count(&self) -> usize {
        self.diagnostics.len()
    }

    /// Reports a word that is not among the `legal` ones, which `scavsim list` shows.
    pub(super) fn unknown(
        &mut self,
        title: String,
        name: &Spanned<String>,
        legal: &[&str],
        list: &str,
    ) {
        let label = did_you_mean(name.get_ref(), legal.iter().copied(), "not known");
        let help = match legal.len() {
            0..=MOST_NAMES => format!("{}; see `scavsim {list}`", legal_here(legal)),
            _ => format!("`scavsim {list}` shows all"),
        };
        self.refuse(name.span(), title, label, help);
    }

    /// The value for a key's word, which is one of few; `None` if it is absent.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        key: &str,
        asked: &Option<Spanned<String>>,
        all: &[(&str, T)],
    ) -> Option<T> {
        let word = asked.as_ref()?;
        self.known(format!("unknown {key} `{}`", word.get_ref()), word, all)
    }

    /// The value for one of few words; for another word, all are listed under this title.
    pub(super) fn known<T: Copy>(
        &mut self,
        title: String,
        word: &Spanned<String>,
        all: &[(&str, T)],
    ) -> Option<T> {
        let found = all.iter().find(|(name, _)| name == word.get_ref());
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            self.refuse(word.span(), title, "not known", legal_here(&names));
        }
        found.map(|(_, value)| *value)
    }

    /// The value for a name; reports an unknown name.
    pub(super) fn named<T: Copy>(
        &mut self,
        name: &Spanned<String>,
        what: &str,
        all: &[(String, T)],
    ) -> Option<T> {
        let found = all.iter().find(|(known, _)| known == name.get_ref());
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            let title = format!("no {what} was measured for `{}`", name.get_ref());
            self.unknown(title, name, &names, "list delays");
        }
        found.map(|(_, found)| *found)
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
            let title = format!("`{key}` is an empty list");
            let complaint = self.mistake_at(list.span(), title, "expected at least one entry");
            self.push(complaint.with_help(legal_here(some) + more));
        }
    }

    pub(super) fn no_duplicates<T: Eq + Hash>(&mut self, key: &str, list: &[Spanned<T>]) {
        let mut seen = HashSet::with_capacity(list.len());
        for item in list {
            if !seen.insert(item.get_ref()) {
                let title = format!("`{key}` holds {} twice", &self.source.text[item.span()]);
                self.error_at(item.span(), title, "remove one of the two");
            }
        }
    }

    /// Numbers of a key without measurements, each once; `None` if it is absent.
    pub(super) fn numbers(&mut self, key: &str, axis: &Option<Spanned<Axis>>) -> Option<Vec<u32>> {
        let axis = axis.as_ref()?;
        let Some(values) = axis.get_ref().values() else {
            let title = format!("`{key}`: nothing was measured");
            self.error_at(axis.span(), title, "expected numbers, like [4, 8]");
            return None;
        };
        let mut sorted = values.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let title = format!("`{key}` holds {} twice", twice[0]);
            self.error_at(axis.span(), title, "remove one of the two");
        }
        Some(values)
    }

    pub(super) fn own_name(&mut self, name: &Option<Spanned<String>>, usual: &str) -> String {
        let Some(name) = name else {
            return usual.to_owned();
        };
        if let Some(why) = not_a_name(name.get_ref()) {
            self.error_at(name.span(), "`name` is no name", why);
        }
        name.get_ref().clone()
    }

    /// Reports missing keys of a table: each with whether it is missing, and the text.
    pub(super) fn missing<T>(
        &mut self,
        table: &Spanned<T>,
        name: &str,
        label: &str,
        keys: &[(&str, bool, &str)],
    ) {
        for (key, is_missing, help) in keys {
            // A refused value only seems to be missing.
            if *is_missing && !self.is_reported(&self.table_from(table.span().start)) {
                let title = format!("the key `{name}.{key}` is missing");
                self.refuse(table.span(), title, label, *help);
            }
        }
    }

    pub(super) fn exclude_each_other<T>(
        &mut self,
        one: &str,
        other: &str,
        place: &Spanned<T>,
        why: &str,
    ) {
        let title = format!("`{one}` and `{other}` exclude each other");
        self.error_at(place.span(), title, why);
    }

    pub(super) fn is_reported(&self, span: &Range<usize>) -> bool {
        self.diagnostics.are_in(self.source, span)
    }

    /// From `start`, inside a table or its header, to the next table header.
    pub(super) fn table_from(&self, start: usize) -> Range<usize> {
        start..self.source.table_end(start)
    }
}
