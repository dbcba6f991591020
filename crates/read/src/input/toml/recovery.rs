//! Going on after serde's first error.

use std::ops::Range;
use std::sync::Arc;

use ::toml::Spanned;
use serde::de::DeserializeOwned;

use super::complaint::Complaint;
use super::placeholder::Placeholders;
use super::strict::Strict;
use super::tree::{self, Hit, Node, Step};
use crate::input::{Diagnostic, Diagnostics, Source};

/// Where the parser places the document as a whole.
const WHOLE_DOCUMENT: Range<usize> = 0..0;

/// A file with more mistakes than this is of another kind altogether.
const MOST_MISTAKES: usize = 200;

/// Every attempt cuts or replaces something; this only bounds the time spent.
const MOST_ATTEMPTS: usize = 5 * MOST_MISTAKES;

/// Values that are read at most, over all attempts; a large document has fewer of them.
const MOST_READ: usize = 20_000_000;

/// So many mistakes of a document are told, however large.
const FEWEST_ATTEMPTS: usize = 10;

/// A document from which every part that serde refuses is reported and cut away.
pub(super) struct Recovery<'a> {
    source: &'a Arc<Source>,
    root: Node<'a>,
    /// Lines with syntax errors: what is wrong there was reported already.
    broken: Vec<Range<usize>>,
    /// What was cut: the place of the table and the key, or of the array and no key.
    cut: Vec<(Range<usize>, Option<String>)>,
    placeholders: Placeholders,
    diagnostics: &'a mut Diagnostics,
    reported: usize,
}

impl<'a> Recovery<'a> {
    pub(super) fn new(
        source: &'a Arc<Source>,
        root: Node<'a>,
        broken: Vec<Range<usize>>,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self {
            source,
            root,
            broken,
            cut: Vec::new(),
            placeholders: Placeholders::default(),
            diagnostics,
            reported: 0,
        }
    }

    /// Deserializes until nothing is refused any more, or nothing can be done about it.
    pub(super) fn run<T: DeserializeOwned>(mut self) -> Option<T> {
        // Every attempt reads the whole document.
        let attempts = (MOST_READ / tree::count(&self.root)).clamp(FEWEST_ATTEMPTS, MOST_ATTEMPTS);
        for _ in 0..attempts {
            let refusal = match T::deserialize(Strict(self.root.clone())) {
                Ok(value) => return (!self.placeholders.any()).then_some(value),
                Err(refusal) => refusal,
            };
            let complaint = Complaint::parse(&refusal.message);
            let span = refusal.span.unwrap_or(WHOLE_DOCUMENT);
            let progress = if let Some(index) = self.placeholders.at(&span) {
                self.replace_placeholder(index, &span, &complaint)
            } else if let Complaint::Missing { key } = &complaint {
                self.missing(key, &span, &complaint)
            } else {
                self.refused(&span, complaint, refusal.tagged)
            };
            if !progress || self.reported >= MOST_MISTAKES {
                break;
            }
        }
        None
    }

    /// Reports a refused key or value and cuts it away.
    fn refused(
        &mut self,
        span: &Range<usize>,
        complaint: Complaint,
        tagged: Option<Range<usize>>,
    ) -> bool {
        let Some(hit) = self.locate(span, &complaint) else {
            self.report(span.clone(), &complaint, None);
            return false;
        };
        let complaint = self.knowing_dates(&hit, complaint);
        // Inside tagged and flattened types serde forgets places and blames the table.
        let (closer, doomed) = match &complaint {
            Complaint::UnknownKey { word, .. } if hit.key() != Some(word) => {
                let key = tree::find_key(&self.root, &hit, word).unwrap_or(hit);
                (key.clone(), key)
            }
            // With its tag unknown, what else is legal in a table is unknown, too.
            Complaint::UnknownValue { word, .. } => {
                let text = tree::find_text(&self.root, &hit, word);
                let table = tagged.and_then(|table| self.locate(&table, &complaint));
                (text.unwrap_or_else(|| hit.clone()), table.unwrap_or(hit))
            }
            _ => (hit.clone(), hit),
        };
        if !self.follows(&closer, span, &complaint) {
            self.report(closer.span.clone(), &complaint, closer.key());
        }
        self.cut(&doomed.path)
    }

    /// What is at a place, as far as it is in the document and not the whole of it.
    fn locate(&self, span: &Range<usize>, complaint: &Complaint) -> Option<Hit> {
        if *span == WHOLE_DOCUMENT {
            return None;
        }
        let mut hit = tree::find(&self.root, span)?;
        // A list of `[[tables]]` has the same place as the first of them.
        let is_list = tree::get(&self.root, &hit.path)?.get_ref().is_array();
        if complaint.is_about_a_list() && !is_list && hit.path.last() == Some(&Step::Index(0)) {
            hit.path.pop();
        }
        Some(hit)
    }

    /// Whether something is only wrong because of what was cut or made up before.
    fn follows(&self, hit: &Hit, span: &Range<usize>, complaint: &Complaint) -> bool {
        let lost_a_part = self.cut.iter().any(|(place, _)| place == span);
        matches!(complaint, Complaint::Count { .. }) && lost_a_part
            || tree::holds(&self.root, hit, |place| {
                self.placeholders.at(place).is_some()
            })
    }

    /// Reports a missing key, unless it is missing because it was cut, and goes on with
    /// a made-up value.
    fn missing(&mut self, key: &str, span: &Range<usize>, complaint: &Complaint) -> bool {
        let path = if *span == WHOLE_DOCUMENT {
            Vec::new()
        } else {
            match tree::find(&self.root, span) {
                Some(hit) => hit.path,
                None => return self.refused(span, complaint.clone(), None),
            }
        };
        let was_cut = |(place, cut): &(Range<usize>, Option<String>)| {
            place == span && cut.as_deref() == Some(key)
        };
        // After a syntax error the parser may have skipped the key.
        if self.broken.is_empty() && !self.cut.iter().any(was_cut) {
            self.report(span.clone(), complaint, None);
        }
        let value = self.placeholders.make();
        tree::insert(&mut self.root, &path, key, value)
    }

    /// Tries another made-up value; if none is accepted, cuts the table it stands in.
    fn replace_placeholder(
        &mut self,
        index: usize,
        span: &Range<usize>,
        complaint: &Complaint,
    ) -> bool {
        let Some(hit) = tree::find(&self.root, span) else {
            return false;
        };
        let next = self.placeholders.retry(index, complaint);
        match (next, tree::get_mut(&mut self.root, &hit.path)) {
            (Some(value), Some(node)) => {
                *node = value;
                true
            }
            _ => match hit.path.split_last() {
                Some((_, table)) => self.cut(table),
                None => false,
            },
        }
    }

    fn cut(&mut self, path: &[Step]) -> bool {
        let Some((last, parent)) = path.split_last() else {
            return false;
        };
        if let Some(parent) = tree::get(&self.root, parent).map(Spanned::span) {
            let key = match last {
                Step::Key(key) => Some(key.clone()),
                Step::Index(_) => None,
            };
            self.cut.push((parent, key));
        }
        tree::remove(&mut self.root, path)
    }

    /// serde sees a date as a kind of table, which nobody who wrote one would.
    fn knowing_dates(&self, hit: &Hit, complaint: Complaint) -> Complaint {
        let is_date =
            tree::get(&self.root, &hit.path).is_some_and(|node| node.get_ref().is_datetime());
        match complaint {
            Complaint::Mismatch { expected, .. } if is_date => Complaint::Mismatch {
                expected,
                found: "a date or time".to_owned(),
            },
            other => other,
        }
    }

    fn report(&mut self, span: Range<usize>, complaint: &Complaint, key: Option<&str>) {
        let on_broken_line =
            |line: &Range<usize>| line.start <= span.start && span.start <= line.end;
        if self.broken.iter().any(on_broken_line) {
            return;
        }
        let (title, label, help) = complaint.explain(key);
        let mut diagnostic = Diagnostic::at(self.source, span, title, label);
        diagnostic.help = help;
        self.diagnostics.push(diagnostic);
        self.reported += 1;
    }
}
