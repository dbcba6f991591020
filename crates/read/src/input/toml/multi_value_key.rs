//! Keys that hold several values in place of one: a list, or a range.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::DeValue;

use super::deserializer;
use super::tree::{self, Step, TomlNode};
use crate::input::range::{self, digits};
use crate::input::{Diagnostics, Source};

/// Any key, in a [`Path`].
pub const ANY: &str = "*";

/// The path of a key, from the top of the document.
pub type Path = Vec<&'static str>;

#[derive(Debug, Clone)]
pub(super) struct MultiValueKey<'s> {
    pub(super) path: Vec<Step>,
    pub(super) span: Range<usize>,
    /// The values, each with its word.
    pub(super) values: Vec<(AlternativeValue<'s>, String)>,
}

#[derive(Debug, Clone)]
pub(super) enum AlternativeValue<'s> {
    Written(TomlNode<'s>),
    /// TOML of a value of a range.
    Computed(String),
}

impl<'s> MultiValueKey<'s> {
    /// Replaces all values by one, in the node `depth` steps down its path.
    pub(super) fn put<'t>(&'t self, at: usize, depth: usize, node: &mut TomlNode<'t>) {
        let path = self.path.get(depth..).unwrap_or_default();
        if let (Some(place), Some(value)) = (tree::get_mut(node, path), self.value(at)) {
            *place = value;
        }
    }

    fn value<'t>(&'t self, at: usize) -> Option<TomlNode<'t>> {
        Some(match &self.values.get(at)?.0 {
            AlternativeValue::Written(node) => node.clone(),
            AlternativeValue::Computed(text) => {
                let value = DeValue::parse(text).ok()?.into_inner();
                Spanned::new(self.span.clone(), value)
            }
        })
    }

    /// The value at index `at`, if it is a number; for a range, from its word.
    pub(super) fn number(&self, at: usize) -> Option<f64> {
        match self.values.get(at)? {
            (AlternativeValue::Written(node), _) => number(node.get_ref()),
            (AlternativeValue::Computed(_), word) => word.parse().ok(),
        }
    }

    /// The key with dots, below `from` steps of its path.
    pub(super) fn key_below(&self, from: usize) -> String {
        let steps = self.path.iter().skip(from).filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        });
        steps.collect::<Vec<_>>().join(".")
    }

    /// The key and the word of one value, unless there is only one.
    pub(super) fn named(&self, from: usize, at: usize) -> Option<(String, &str)> {
        match &self.values[..] {
            [] | [_] => None,
            several => Some((self.key_below(from), &several[at].1)),
        }
    }
}

/// All paths in a document that match a path with [`ANY`] in it.
pub(super) fn places(root: &TomlNode<'_>, path: &[&'static str]) -> Vec<Vec<Step>> {
    let mut all = vec![Vec::new()];
    for key in path {
        let mut next = Vec::new();
        for own in all {
            let table = tree::get(root, &own).and_then(|node| node.get_ref().as_table());
            let keys = table.into_iter().flat_map(|table| table.keys());
            let fitting = keys.filter(|found| *key == ANY || found.get_ref() == key);
            next.extend(fitting.map(|found| {
                let mut own = own.clone();
                own.push(Step::Key(found.get_ref().to_string()));
                own
            }));
        }
        all = next;
    }
    all
}

/// Whether a path of a document is one of `paths`.
pub(super) fn is_any(paths: &[Path], own: &[Step]) -> bool {
    let fits =
        |(key, step): (&&str, &Step)| *key == ANY || matches!(step, Step::Key(k) if k == key);
    (paths.iter()).any(|path| path.len() == own.len() && path.iter().zip(own).all(fits))
}

/// Reads several values in place of one; mistakes in a list or a range are reported and removed, as are values above the
/// maximum `most`.
pub(super) struct Reader<'a, 's> {
    pub(super) source: &'a Arc<Source>,
    pub(super) broken: &'a [Range<usize>],
    pub(super) diagnostics: &'a mut Diagnostics,
    pub(super) root: &'a mut TomlNode<'s>,
    pub(super) most: usize,
}

impl<'s> Reader<'_, 's> {
    /// The keys among `paths` that hold a list or a range, in the order of `paths`.
    pub(super) fn all(&mut self, paths: &[Path]) -> Vec<MultiValueKey<'s>> {
        let mut all = Vec::new();
        let found: Vec<_> = (paths.iter().flat_map(|path| places(self.root, path))).collect();
        for path in found {
            let Some(node) = tree::get(self.root, &path).cloned() else {
                continue;
            };
            let span = node.span();
            let values = match node.get_ref() {
                DeValue::Array(_) => self.list(&node),
                DeValue::Table(_) => self.range(&node),
                _ => continue,
            };
            match values {
                Ok(values) => all.push(MultiValueKey { path, span, values }),
                Err(why) => {
                    if let Some(why) = why {
                        let key = path.iter().rev().find_map(|step| match step {
                            Step::Key(key) => Some(key.as_str()),
                            Step::Index(_) => None,
                        });
                        let title = format!("`{}`: {}", key.unwrap_or_default(), why.title);
                        let span = why.span.unwrap_or(span);
                        (self.diagnostics).error_at(self.source, span, title, why.label);
                    }
                    tree::remove(self.root, &path);
                }
            }
        }
        all
    }

    fn list(
        &self,
        node: &TomlNode<'s>,
    ) -> Result<Vec<(AlternativeValue<'s>, String)>, Option<ListMistake>> {
        let list: &[TomlNode<'s>] = node.get_ref().as_array().map_or(&[], |list| list);
        if list.is_empty() {
            let title = "expected at least one value, found an empty list";
            return Err(Some(ListMistake::new(
                title,
                "expected a value, or several",
            )));
        }
        self.not_too_many(list.len())?;
        let mut seen = HashSet::new();
        let mut values = Vec::with_capacity(list.len());
        for own in list {
            // Two zeros are one value.
            let word = match own.get_ref() {
                DeValue::String(word) => Some(word.to_string()),
                other => number(other).map(|number| (number + 0.0).to_string()),
            };
            if let Some(word) = word.as_ref().filter(|word| !seen.insert((*word).clone())) {
                let title = format!("expected different values, found {word} twice");
                return Err(Some(ListMistake {
                    span: Some(own.span()),
                    ..ListMistake::new(title, "remove one of the two")
                }));
            }
            let word = word.unwrap_or_default();
            values.push((AlternativeValue::Written(own.clone()), word));
        }
        Ok(values)
    }

    fn range(
        &mut self,
        node: &TomlNode<'s>,
    ) -> Result<Vec<(AlternativeValue<'s>, String)>, Option<ListMistake>> {
        // Mistakes inside it were reported.
        let range: range::Range =
            deserializer::read(self.source, node, self.broken, self.diagnostics).ok_or(None)?;
        let values = (range.values())
            .map_err(|why| Some(ListMistake::new(why.to_string(), "not a range")))?;
        self.not_too_many(values.len())?;
        let is_whole = values.iter().all(|value| value.fract() == 0.0);
        let mut words: Vec<String> = values.iter().map(|value| digits(*value)).collect();
        if words.iter().collect::<HashSet<_>>().len() < words.len() {
            words = values.iter().map(f64::to_string).collect();
        }
        let text = |value: f64| {
            if is_whole {
                format!("{value:.0}")
            } else {
                format!("{value:?}")
            }
        };
        let texts = values
            .iter()
            .map(|value| AlternativeValue::Computed(text(*value)));
        Ok(texts.zip(words).collect())
    }

    fn not_too_many(&self, count: usize) -> Result<(), Option<ListMistake>> {
        if count <= self.most {
            return Ok(());
        }
        let title = format!("expected at most {} values, found {count}", self.most);
        Err(Some(ListMistake::new(title, "give fewer values")))
    }
}

/// A mistake in a list or a range as a whole, or in a part of it.
struct ListMistake {
    title: String,
    label: &'static str,
    span: Option<Range<usize>>,
}

impl ListMistake {
    fn new(title: impl Into<String>, label: &'static str) -> ListMistake {
        ListMistake {
            title: title.into(),
            label,
            span: None,
        }
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(whole) => {
            let whole = i64::from_str_radix(whole.as_str(), whole.radix()).ok()?;
            Some(whole as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}
