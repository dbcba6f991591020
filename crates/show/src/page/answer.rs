//! The card of a page: what to do, its time and cost, and what would change it.

use std::collections::BTreeMap;

use serde::Serialize;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Answer {
    /// Value of each picker that it holds for.
    pub of: BTreeMap<&'static str, String>,
    /// The word above it: `Rent`.
    pub lead: String,
    /// The answer in a few words.
    pub what: String,
    pub detail: String,
    /// Marks: where it comes from, what it lacks.
    pub marks: Vec<String>,
    pub figures: Vec<HeadlineValue>,
    /// Runner-up, risk, what would change it.
    pub lines: Vec<CardLine>,
    /// Where it lies in the figure: what axes are over.
    pub point: Option<[f64; 2]>,
    /// What its mark is called there.
    pub mark: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct HeadlineValue {
    /// Figure with its unit.
    pub value: String,
    /// Interval of the figure, or what it is.
    pub note: String,
}

/// A sentence beside the answer.
#[derive(Debug, Clone, Serialize)]
pub struct CardLine {
    /// What it is about.
    pub head: &'static str,
    pub text: String,
}

impl HeadlineValue {
    pub(super) fn new(value: impl Into<String>, note: impl Into<String>) -> HeadlineValue {
        HeadlineValue {
            value: value.into(),
            note: note.into(),
        }
    }
}

impl CardLine {
    pub(super) fn new(head: &'static str, text: impl Into<String>) -> CardLine {
        CardLine {
            head,
            text: text.into(),
        }
    }
}

impl Answer {
    /// The card as one paragraph, for readers without scripts.
    pub fn sentence(&self) -> String {
        let mut text = format!("{} {}", self.lead, self.what);
        if !self.detail.is_empty() {
            text += &format!(", {}", self.detail);
        }
        for figure in &self.figures {
            text += &format!("; {} ({})", figure.value, figure.note);
        }
        text += ".";
        for line in &self.lines {
            text += &format!(" {}: {}", line.head, line.text);
        }
        text
    }
}
