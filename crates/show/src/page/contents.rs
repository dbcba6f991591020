//! The contents of a page: the block of data that its script draws.

use serde::Serialize;

use super::answer::Answer;
use super::picture::Picture;
use super::sources::Source;
use super::table::Table;

#[derive(Debug, Serialize)]
pub struct Contents {
    pub title: String,
    pub about: Vec<String>,
    pub pickers: Vec<Picker>,
    /// One card for every choice that has an answer; the first is shown first.
    pub answers: Vec<Answer>,
    pub picture: Option<Picture>,
    pub tables: Vec<Table>,
    pub caveats: Vec<String>,
    pub facts: Vec<Fact>,
    pub sources: Vec<Source>,
}

/// A key of answers and rows that a reader chooses one value of.
#[derive(Debug, Serialize)]
pub struct Picker {
    /// Column of the tables that it narrows.
    pub key: &'static str,
    pub label: &'static str,
    pub values: Vec<String>,
    /// Whether all of them can be picked together, which they are at first.
    pub has_all: bool,
    /// Whether it only marks, and rows of other values stay.
    pub only_marks: bool,
}

impl Picker {
    /// A picker that filters rows; `None` if there is only one value.
    pub(super) fn among(key: &'static str, label: &'static str, values: &[&str]) -> Option<Picker> {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let picker = Picker {
            key,
            label,
            values,
            has_all: false,
            only_marks: false,
        };
        (picker.values.len() > 1).then_some(picker)
    }

    pub(super) fn or_all(self) -> Picker {
        Picker {
            has_all: true,
            ..self
        }
    }

    pub(super) fn marking(self) -> Picker {
        Picker {
            only_marks: true,
            ..self.or_all()
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Fact {
    pub name: String,
    pub value: String,
}

impl Fact {
    pub(super) fn new(name: &str, value: impl Into<String>) -> Fact {
        Fact {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}
