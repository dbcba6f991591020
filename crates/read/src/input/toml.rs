//! TOML into typed values, with every mistake reported at once.

mod complaint;
mod deserializer;
mod document;
mod kind;
mod multi_value_key;
mod reading;
mod renamed;
mod strict_deserializer;
mod syntax;
mod tree;
mod unclosed;

use std::ops::Range;
use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use serde::de::DeserializeOwned;

use super::foreign::is_hidden;
use super::words::shown;
use super::{Diagnostic, Diagnostics, Source};
pub use document::{Document, Lists, MOST, Swept, Tables};
pub use multi_value_key::{ANY, Path};
use tree::TomlNode;
pub use tree::{Key, Step};

/// Reads a document as a `T` of `#[serde(deny_unknown_fields, default)]` structs; `toml::Spanned` fields keep their places. A
/// wrong key or value is reported and left out, so a `T` may be returned although there are mistakes: check `diagnostics`.
/// The parts of a [joined](Source::joined) source are read as one document, as in [`merged`].
pub fn read<T: DeserializeOwned>(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<T> {
    let (root, broken) = if source.parts().is_empty() {
        parse(source, diagnostics)
    } else {
        joined(source, &|_| false, diagnostics)?
    };
    deserializer::read(source, &root, &broken, diagnostics)
}

/// Whether a document has a key, as a path with dots: mistakes in its value were reported, and it is not missing.
pub fn is_written(source: &Source, path: &str) -> bool {
    let (table, _) = DeTable::parse_recoverable(&source.text);
    let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    let steps: Vec<Step> = path
        .split('.')
        .map(|key| Step::Key(key.to_owned()))
        .collect();
    tree::get(&root, &steps).is_some()
        || (source.parts().iter()).any(|(_, part)| is_written(part, path))
}

/// A document in which keys may hold several values; mistakes in its lists and ranges are reported here.
pub fn document<'s>(
    source: &'s Arc<Source>,
    lists: &'s Lists,
    diagnostics: &mut Diagnostics,
) -> Document<'s> {
    let (root, broken) = parse(source, diagnostics);
    Document::new(source, root, broken, lists, diagnostics)
}

/// The parts of a [joined](Source::joined) source as one document: a key of an earlier part has priority. Tables are merged
/// key by key, unless `is_value` is true for their path. The texts in `unset` at the top of a part are paths of keys, with
/// dots, that are removed from later parts; a path that none of them has is a mistake. Every part should have been
/// [read](document()) separately before.
pub fn merged<'s>(
    source: &'s Arc<Source>,
    lists: &'s Lists,
    is_value: impl Fn(&[Step]) -> bool,
    diagnostics: &mut Diagnostics,
) -> Option<Document<'s>> {
    // A list and a range, or two ranges, cannot be merged.
    let is_value = |path: &[Step]| is_value(path) || lists.are_at(path);
    let (root, broken) = joined(source, &is_value, diagnostics)?;
    Some(Document::new(source, root, broken, lists, diagnostics))
}

/// The parts of a joined source as one table, and the invalid lines in them.
fn joined<'s>(
    source: &'s Arc<Source>,
    is_value: &dyn Fn(&[Step]) -> bool,
    diagnostics: &mut Diagnostics,
) -> Option<(TomlNode<'s>, Vec<Range<usize>>)> {
    let mut merged: Option<TomlNode<'_>> = None;
    let mut broken = Vec::new();
    let mut unset: Vec<UnsetKey> = Vec::new();
    for (start, part) in source.parts() {
        let (root, lines) = parse(part, diagnostics);
        broken.extend(lines.into_iter().map(|l| l.start + start..l.end + start));
        let mut root = tree::moved(root, *start);
        for own in &mut unset {
            own.is_found |= tree::remove(&mut root, &own.path);
        }
        unset.extend(unset_by(&root));
        match &mut merged {
            Some(merged) => tree::fill(merged, root, &mut Vec::new(), &|path| is_value(path)),
            None => merged = Some(root),
        }
    }
    for own in unset.iter().filter(|own| !own.is_found) {
        nothing_unset(source, own, diagnostics);
    }
    Some((merged?, broken))
}

struct UnsetKey {
    path: Vec<Step>,
    span: Range<usize>,
    is_found: bool,
}

/// The paths in `unset` of a document; a value that is no list of texts is reported with the rest of it.
fn unset_by(root: &TomlNode<'_>) -> Vec<UnsetKey> {
    let Some(list) = root
        .get_ref()
        .get("unset")
        .and_then(|list| list.get_ref().as_array())
    else {
        return Vec::new();
    };
    let one = |text: &TomlNode<'_>| {
        let path = text.get_ref().as_str()?.split('.');
        Some(UnsetKey {
            path: path.map(|key| Step::Key(key.trim().to_owned())).collect(),
            span: text.span(),
            is_found: false,
        })
    };
    list.iter().filter_map(one).collect()
}

fn nothing_unset(source: &Arc<Source>, own: &UnsetKey, diagnostics: &mut Diagnostics) {
    let keys = own.path.iter().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    let name = keys.collect::<Vec<_>>().join(".");
    diagnostics.error_at(
        source,
        own.span.clone(),
        format!("`unset`: no included file sets `{name}`"),
        "nothing to leave out",
    );
}

/// The document in a text, and the invalid lines in it.
fn parse<'s>(
    source: &'s Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> (TomlNode<'s>, Vec<Range<usize>>) {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let broken = syntax::report(&errors, source, diagnostics);
    let mut root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    if let Some(from) = broken.from {
        tree::cut_behind(&mut root, from);
    }
    refuse_hidden(&root, source, diagnostics);
    (root, broken.lines)
}

/// Reports texts and keys with control characters for terminals, or invisible ones.
fn refuse_hidden(node: &TomlNode<'_>, source: &Arc<Source>, diagnostics: &mut Diagnostics) {
    let check = |text: &str, span: Range<usize>, diagnostics: &mut Diagnostics| {
        if text.contains(is_hidden) {
            let title = format!("`{}` has characters that are not seen", shown(text));
            diagnostics.push(Diagnostic::unseen(source, span, title));
        }
    };
    match node.get_ref() {
        DeValue::String(text) => check(text, node.span(), diagnostics),
        DeValue::Array(array) => {
            for one in array {
                refuse_hidden(one, source, diagnostics);
            }
        }
        DeValue::Table(table) => {
            for (key, value) in table {
                check(key.get_ref(), key.span(), diagnostics);
                refuse_hidden(value, source, diagnostics);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
