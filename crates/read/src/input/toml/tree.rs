//! Finding, and cutting away, parts of a parsed document.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeArray, DeTable, DeValue};

/// A value with its place in the text.
pub(super) type Node<'s> = Spanned<DeValue<'s>>;

/// One step down from a table or an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To an element of an array.
    Index(usize),
}

/// A key or a value, found by its place in the text.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) path: Vec<Step>,
    pub(super) span: Range<usize>,
}

impl Hit {
    /// The key this is the value of, or an element of the value of.
    pub(super) fn key(&self) -> Option<&str> {
        self.path.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }
}

/// Calls `visit` for every key and every value under a node, outer ones first.
fn walk<'s>(
    node: &Node<'s>,
    path: &mut Vec<Step>,
    visit: &mut impl FnMut(&[Step], &Range<usize>, &DeValue<'s>),
) {
    match node.get_ref() {
        DeValue::Table(table) => {
            for (key, value) in table {
                path.push(Step::Key(key.get_ref().to_string()));
                visit(path, &key.span(), value.get_ref());
                visit(path, &value.span(), value.get_ref());
                walk(value, path, visit);
                path.pop();
            }
        }
        DeValue::Array(array) => {
            for (index, value) in array.iter().enumerate() {
                path.push(Step::Index(index));
                visit(path, &value.span(), value.get_ref());
                walk(value, path, visit);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Keys and values of a document; at least 1.
pub(super) fn count(root: &Node<'_>) -> usize {
    let mut count = 1;
    walk(root, &mut Vec::new(), &mut |_, _, _| count += 1);
    count
}

/// A key of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The tables that it stands in and its name, with dots: `spot.lifetime`.
    pub path: String,
    /// The place of its name.
    pub name: Range<usize>,
    /// The place of its value; of a table, that of its header.
    pub value: Range<usize>,
}

/// Every key of tables within tables, outer ones first.
pub(super) fn keys(root: &Node<'_>) -> Vec<Key> {
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

/// The innermost key or value whose place covers `span`.
///
/// The whole tree has to be searched: the span of a table is only its `[header]`, and
/// does not cover what is inside.
pub(super) fn find(root: &Node<'_>, span: &Range<usize>) -> Option<Hit> {
    let mut best: Option<Hit> = None;
    walk(root, &mut Vec::new(), &mut |path, place, _| {
        let covers = place.start <= span.start && span.end <= place.end;
        let tightest = best
            .as_ref()
            .is_none_or(|hit| place.len() <= hit.span.len());
        if covers && tightest {
            best = Some(Hit {
                path: path.to_vec(),
                span: place.clone(),
            });
        }
    });
    best
}

/// The first place under `hit` that is the key `word`.
pub(super) fn find_key(root: &Node<'_>, hit: &Hit, word: &str) -> Option<Hit> {
    find_below(
        root,
        hit,
        |path, _, _| matches!(path.last(), Some(Step::Key(key)) if key == word),
    )
}

/// The first place under `hit` that is the text `word`.
pub(super) fn find_text(root: &Node<'_>, hit: &Hit, word: &str) -> Option<Hit> {
    let found = find_below(root, hit, |_, _, value| value.as_str() == Some(word))?;
    // A key is visited with its value, but before it.
    let span = get(root, &found.path)?.span();
    Some(Hit { span, ..found })
}

/// Whether anything under `hit` is at such a place.
pub(super) fn holds(root: &Node<'_>, hit: &Hit, is_such: impl Fn(&Range<usize>) -> bool) -> bool {
    find_below(root, hit, |_, place, _| is_such(place)).is_some()
}

fn find_below(
    root: &Node<'_>,
    hit: &Hit,
    wanted: impl Fn(&[Step], &Range<usize>, &DeValue<'_>) -> bool,
) -> Option<Hit> {
    let mut first = None;
    walk(
        get(root, &hit.path)?,
        &mut hit.path.clone(),
        &mut |path, place, value| {
            if first.is_none() && wanted(path, place, value) {
                first = Some(Hit {
                    path: path.to_vec(),
                    span: place.clone(),
                });
            }
        },
    );
    first
}

/// The value at a path.
pub(super) fn get<'t, 's>(root: &'t Node<'s>, path: &[Step]) -> Option<&'t Node<'s>> {
    path.iter().try_fold(root, |node, step| match step {
        Step::Key(key) => node.get_ref().get(key.as_str()),
        Step::Index(index) => node.get_ref().get(*index),
    })
}

/// The value at a path, to change it.
pub(super) fn get_mut<'t, 's>(root: &'t mut Node<'s>, path: &[Step]) -> Option<&'t mut Node<'s>> {
    path.iter()
        .try_fold(root, |node, step| match (node.get_mut(), step) {
            (DeValue::Table(table), Step::Key(key)) => table.get_mut(key.as_str()),
            (DeValue::Array(array), Step::Index(index)) => array.get_mut(*index),
            _ => None,
        })
}

/// Cuts away the key or element at a path; false if there is none.
pub(super) fn remove(root: &mut Node<'_>, path: &[Step]) -> bool {
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

/// Puts a key with a value of its own into the table at a path; false if there is none.
pub(super) fn insert<'s>(root: &mut Node<'s>, path: &[Step], key: &str, value: Node<'s>) -> bool {
    let Some(DeValue::Table(table)) = get_mut(root, path).map(Spanned::get_mut) else {
        return false;
    };
    let key = Spanned::new(value.span(), Cow::Owned(key.to_owned()));
    table.insert(key, value).is_none()
}

/// The node as if its text began `by` bytes later.
pub(super) fn moved(node: Node<'_>, by: usize) -> Node<'_> {
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

/// Puts keys of `lower` into `upper` where it has none, in their common tables too.
pub(super) fn fill<'s>(
    upper: &mut Node<'s>,
    lower: Node<'s>,
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
