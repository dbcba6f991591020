//! Stand-ins for missing required values.
//!
//! With a required key missing nothing else of its table would be looked at. So a value
//! is made up, of whatever type is accepted, and the rest is checked. A document in
//! which anything was made up is never handed out.

use std::borrow::Cow;
use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeArray, DeTable, DeValue};

use super::complaint::Complaint;
use super::tree::Node;

/// All stand-ins of one document, told apart by places that no text has.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    attempts: Vec<usize>,
}

impl Placeholders {
    /// Whether anything was made up.
    pub(super) fn any(&self) -> bool {
        !self.attempts.is_empty()
    }

    /// The first attempt at a new stand-in: an empty text.
    pub(super) fn make(&mut self) -> Node<'static> {
        let span = Self::span(self.attempts.len());
        self.attempts.push(0);
        Spanned::new(span, DeValue::String(Cow::Borrowed("")))
    }

    /// Which stand-in a place belongs to.
    pub(super) fn at(&self, span: &Range<usize>) -> Option<usize> {
        (0..self.attempts.len()).find(|index| Self::span(*index) == *span)
    }

    /// The next attempt, after the last one was met with a complaint.
    pub(super) fn retry(&mut self, index: usize, complaint: &Complaint) -> Option<Node<'static>> {
        let attempt = self.attempts.get_mut(index)?;
        *attempt += 1;
        let value = match (*attempt, complaint) {
            (1, Complaint::UnknownValue { legal, .. }) => {
                DeValue::String(Cow::Owned(legal.first()?.clone()))
            }
            (1 | 2, _) => {
                *attempt = 2;
                DeValue::parse("1").ok()?.into_inner()
            }
            (3, _) => DeValue::Boolean(true),
            (4, _) => DeValue::Array(DeArray::new()),
            (5, _) => DeValue::Table(DeTable::new()),
            _ => return None,
        };
        Some(Spanned::new(Self::span(index), value))
    }

    fn span(index: usize) -> Range<usize> {
        let place = usize::MAX - index;
        place..place
    }
}
