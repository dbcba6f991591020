//! Finds and removes parts of a parsed document.

use std::mem;
use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeArray, DeTable, DeValue};

pub(super) type TomlNode<'s> = Spanned<DeValue<'s>>;

/// One step down from a table or an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
}

pub(super) fn get<'t, 's>(root: &'t TomlNode<'s>, path: &[Step]) -> Option<&'t TomlNode<'s>> {
    path.iter().try_fold(root, |node, step| match step {
        Step::Key(key) => node.get_ref().get(key.as_str()),
        Step::Index(index) => node.get_ref().get(*index),
    })
}

pub(super) fn get_mut<'t, 's>(
    root: &'t mut TomlNode<'s>,
    path: &[Step],
) -> Option<&'t mut TomlNode<'s>> {
    path.iter()
        .try_fold(root, |node, step| match (node.get_mut(), step) {
            (DeValue::Table(table), Step::Key(key)) => table.get_mut(key.as_str()),
            (DeValue::Array(array), Step::Index(index)) => array.get_mut(*index),
            _ => None,
        })
}

/// Removes all keys and elements that begin at `from` or later.
pub(super) fn cut_behind(node: &mut TomlNode<'_>, from: usize) {
    match node.get_mut() {
        DeValue::Table(table) => {
            *table = mem::replace(table, DeTable::new())
                .into_iter()
                .filter(|(key, _)| key.span().start < from)
                .map(|(key, mut value)| {
                    cut_behind(&mut value, from);
                    (key, value)
                })
                .collect();
        }
        DeValue::Array(array) => {
            *array = mem::replace(array, DeArray::new())
                .into_iter()
                .filter(|value| value.span().start < from)
                .map(|mut value| {
                    cut_behind(&mut value, from);
                    value
                })
                .collect();
        }
        _ => {}
    }
}

/// Removes the key or element at a path; false if there is none.
pub(super) fn remove(root: &mut TomlNode<'_>, path: &[Step]) -> bool {
    let Some((last, parent)) = path.split_last() else {
        return false;
    };
    match (get_mut(root, parent).map(Spanned::get_mut), last) {
        (Some(DeValue::Table(table)), Step::Key(key)) => table.remove(key.as_str()).is_some(),
        (Some(DeValue::Array(array)), Step::Index(index)) => {
            let before = array.len();
            *array = mem::replace(array, DeArray::new())
                .into_iter()
                .enumerate()
                .filter(|(at, _)| at != index)
                .map(|(_, value)| value)
                .collect();
            array.len() < before
        }
        _ => false,
    }
}

/// The node with all places moved by `by` bytes.
pub(super) fn moved(node: TomlNode<'_>, by: usize) -> TomlNode<'_> {
    let later = |span: Range<usize>| span.start + by..span.end + by;
    let span = later(node.span());
    let value = match node.into_inner() {
        DeValue::Table(table) => {
            let mut all = DeTable::new();
            for (key, value) in table {
                let key = Spanned::new(later(key.span()), key.into_inner());
                all.insert(key, moved(value, by));
            }
            DeValue::Table(all)
        }
        DeValue::Array(array) => {
            DeValue::Array(array.into_iter().map(|value| moved(value, by)).collect())
        }
        scalar => scalar,
    };
    Spanned::new(span, value)
}

/// Copies missing keys from `lower` into `upper`, also in their common tables.
pub(super) fn fill<'s>(
    upper: &mut TomlNode<'s>,
    lower: TomlNode<'s>,
    path: &mut Vec<Step>,
    is_value: &impl Fn(&[Step]) -> bool,
) {
    let (DeValue::Table(upper), DeValue::Table(lower)) = (upper.get_mut(), lower.into_inner())
    else {
        return;
    };
    for (key, value) in lower {
        path.push(Step::Key(key.get_ref().to_string()));
        match upper.get_mut(key.get_ref().as_ref()) {
            Some(present) => {
                if !is_value(path) {
                    fill(present, value, path, is_value);
                }
            }
            None => {
                upper.insert(key, value);
            }
        }
        path.pop();
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The path with dots: `spot.lifetime`.
    pub path: String,
    pub name: Range<usize>,
    /// The place of its value; for a table, of its header.
    pub value: Range<usize>,
}

/// Every key of tables within tables, outer ones first.
pub(super) fn keys(root: &TomlNode<'_>) -> Vec<Key> {
    let mut all = Vec::new();
    let mut below = vec![(String::new(), root)];
    while let Some((path, node)) = below.pop() {
        for (key, value) in node.get_ref().as_table().into_iter().flatten() {
            let path = format!("{path}{}", key.get_ref());
            below.push((format!("{path}."), value));
            all.push(Key {
                path,
                name: key.span(),
                value: value.span(),
            });
        }
    }
    all
}
