//! Mistakes, and collections of them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::Source;

/// One mistake: what is wrong, where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What is wrong, in one line, with the wrong word.
    pub title: String,
    /// The text and the bytes of it at fault; without it, the title names the file.
    pub place: Option<(Arc<Source>, Range<usize>)>,
    /// The note at the marked place; may be empty.
    pub label: String,
    /// The legal values, or advice.
    pub help: Option<String>,
    /// Whether reports leave it out if there is another mistake at its place.
    pub(super) is_fallback: bool,
}

impl Diagnostic {
    /// A mistake at a place in a text.
    pub fn at_span(
        source: &Arc<Source>,
        span: Range<usize>,
        title: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        Self {
            place: Some(source.locate(&span)),
            label: label.into(),
            ..Self::general(title)
        }
    }

    /// A mistake without a place in a text, such as a missing file.
    pub fn general(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            place: None,
            label: String::new(),
            help: None,
            is_fallback: false,
        }
    }

    /// Text with invisible characters: readers of a name or a key report more.
    pub(super) fn unseen(source: &Arc<Source>, span: Range<usize>, title: String) -> Self {
        let label = "expected a text without control characters";
        Self {
            is_fallback: true,
            ..Self::at_span(source, span, title, label)
        }
    }

    /// Adds the legal values, or advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The file with the mistake: its path, or the name of a text in memory.
    pub fn file(&self) -> Option<&str> {
        let (source, _) = self.place.as_ref()?;
        Some(&source.name)
    }

    /// The line of the mistake, from 1.
    pub fn line(&self) -> Option<usize> {
        let (source, span) = self.place.as_ref()?;
        let before = source.text.as_bytes().iter().take(span.start);
        Some(1 + before.filter(|byte| **byte == b'\n').count())
    }

    fn file_and_span(&self) -> Option<(&str, usize, usize)> {
        let (source, span) = self.place.as_ref()?;
        Some((&source.name, span.start, span.end))
    }

    /// Reading order; two diagnostics that look equal compare equal.
    fn order(&self) -> impl Ord + '_ {
        (self.file_and_span(), &self.title, &self.label, &self.help)
    }
}

/// All mistakes found so far, over all files read.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds a mistake at a place; use [`Diagnostic::at_span`] to add help.
    pub fn error_at(
        &mut self,
        source: &Arc<Source>,
        span: Range<usize>,
        title: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.push(Diagnostic::at_span(source, span, title, label));
    }

    /// Whether a mistake is in this part of a text.
    pub fn are_in(&self, source: &Arc<Source>, span: &Range<usize>) -> bool {
        let (part, span) = source.locate(span);
        (self.0.iter())
            .filter_map(|one| one.place.as_ref())
            .any(|(source, at)| {
                Arc::ptr_eq(source, &part) && span.start <= at.start && at.end <= span.end
            })
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of recorded mistakes, repetitions included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Number of mistakes in a report: each once.
    pub fn distinct(&self) -> usize {
        self.in_reading_order().len()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// The mistakes in the order of the files and their text, each once.
    pub(super) fn in_reading_order(&self) -> Vec<&Diagnostic> {
        let specific = self.iter().filter(|own| !own.is_fallback);
        let specific: HashSet<_> = specific.map(Diagnostic::file_and_span).collect();
        let is_shown =
            |own: &&Diagnostic| !(own.is_fallback && specific.contains(&own.file_and_span()));
        let mut sorted: Vec<&Diagnostic> = self.iter().filter(is_shown).collect();
        sorted.sort_by(|a, b| a.order().cmp(&b.order()));
        sorted.dedup_by(|a, b| a.order() == b.order());
        sorted
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        self.0.extend(diagnostics);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
