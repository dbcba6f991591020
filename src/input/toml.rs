//! TOML into typed values, with every mistake reported at once.

mod complaint;
mod placeholder;
mod recovery;
mod renamed;
mod strict;
mod syntax;
mod tree;

use std::ops::Range;
use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use serde::de::DeserializeOwned;

use super::{Diagnostics, Source};
use recovery::Recovery;
use tree::Node;
pub use tree::Step;

/// Reads a whole document as a `T`.
///
/// `T` should be made of `#[serde(deny_unknown_fields, default)]` structs; its
/// `toml::Spanned` fields keep their places. A wrong key or value is reported and left
/// out, so a `T` may come back although something was reported: look at `diagnostics`
/// before using it for more than further checks.
pub fn read<T: DeserializeOwned>(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<T> {
    let (root, broken) = parse(source, diagnostics);
    Recovery::new(source, root, broken, diagnostics).run()
}

/// Reads the parts of a [joined](Source::joined) source as one document, in which a key of an
/// earlier part wins over that of a later one. Tables are merged key by key, unless `is_value`
/// says of their path that they are to be taken whole.
///
/// Every part should have been [read](read()) by itself before: what a part says in vain is not
/// looked at here.
pub fn read_merged<T: DeserializeOwned>(
    source: &Arc<Source>,
    is_value: impl Fn(&[Step]) -> bool,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let mut merged: Option<Node<'_>> = None;
    let mut broken = Vec::new();
    for (start, part) in source.parts() {
        let (root, lines) = parse(part, diagnostics);
        broken.extend(lines.into_iter().map(|l| l.start + start..l.end + start));
        let root = tree::moved(root, *start);
        match &mut merged {
            Some(merged) => tree::fill(merged, root, &mut Vec::new(), &is_value),
            None => merged = Some(root),
        }
    }
    Recovery::new(source, merged?, broken, diagnostics).run()
}

/// The document in a text, and the lines of it that are not TOML.
fn parse<'s>(
    source: &'s Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> (Node<'s>, Vec<Range<usize>>) {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let broken = syntax::report(&errors, source, diagnostics);
    let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    (root, broken)
}

#[cfg(test)]
mod tests;
