//! Texts that messages can point into.

use std::ops::Range;
use std::sync::Arc;

/// A text with its name for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The text before `:line:column` in a message, usually the path as given.
    pub name: String,
    /// The whole text; all spans are byte ranges of it.
    pub text: String,
    /// Positions of the parts of a joined text; empty for a single text.
    parts: Vec<(usize, Arc<Source>)>,
}

impl Source {
    /// Wraps a text already in memory. A leading byte-order mark is dropped.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        Arc::new(Source {
            name: name.into(),
            text,
            parts: Vec::new(),
        })
    }

    /// Several texts read as one, under the name of the first. Messages about a place in it name the original text.
    pub fn joined(sources: &[Arc<Source>]) -> Arc<Source> {
        if let [single] = sources {
            return Arc::clone(single);
        }
        let mut text = String::new();
        let mut parts = Vec::new();
        for source in sources {
            parts.push((text.len(), Arc::clone(source)));
            text.push_str(&source.text);
            text.push('\n');
        }
        Arc::new(Source {
            name: sources.first().map_or(String::new(), |s| s.name.clone()),
            text,
            parts,
        })
    }

    #[must_use]
    pub fn named(self: Arc<Source>, name: &str) -> Arc<Source> {
        // The source stays identical, so that earlier messages still refer to it.
        if self.name == name {
            return self;
        }
        let mut own = Arc::unwrap_or_clone(self);
        name.clone_into(&mut own.name);
        Arc::new(own)
    }

    /// The texts read as one, each with its position; empty for a single text.
    pub fn parts(&self) -> &[(usize, Arc<Source>)] {
        &self.parts
    }

    /// Which of the texts read as one contains the byte `at`; 0 for a single text.
    pub fn part_of(&self, at: usize) -> usize {
        let begun = self.parts.partition_point(|(start, _)| *start <= at);
        begun.saturating_sub(1)
    }

    /// The end of the table that contains the byte `at`, also in its header: at the next header.
    pub fn table_end(&self, at: usize) -> usize {
        let text = &self.text[at..];
        at + text.find("\n[").unwrap_or(text.len())
    }

    /// The single text that contains a place, and the place in it.
    pub fn locate(self: &Arc<Source>, span: &Range<usize>) -> (Arc<Source>, Range<usize>) {
        match self.parts.get(self.part_of(span.start)) {
            None => (Arc::clone(self), span.clone()),
            Some((start, part)) => {
                let inside = |at: usize| at.saturating_sub(*start).min(part.text.len());
                (Arc::clone(part), inside(span.start)..inside(span.end))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_joined_texts_is_one_in_the_right_text() {
        let [a, b] = [Source::new("a", "xy"), Source::new("b", "z")];
        let joined = Source::joined(&[Arc::clone(&a), Arc::clone(&b)]);
        assert_eq!((&*joined.name, &*joined.text), ("a", "xy\nz\n"));
        assert_eq!(joined.locate(&(1..2)), (Arc::clone(&a), 1..2));
        assert_eq!(joined.locate(&(3..4)), (Arc::clone(&b), 0..1));
        assert_eq!(joined.locate(&(1..4)), (a, 1..2));
        assert_eq!(joined.locate(&(9..usize::MAX)), (Arc::clone(&b), 1..1));
        assert_eq!(Source::joined(&[Arc::clone(&b)]).locate(&(0..1)), (b, 0..1));
    }

    #[test]
    fn a_byte_order_mark_does_not_count() {
        assert_eq!(Source::new("a", "\u{feff}x").text, "x");
    }
}
