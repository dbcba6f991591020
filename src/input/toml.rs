//! TOML into typed values, with every mistake reported at once.

mod complaint;
mod placeholder;
mod recovery;
mod strict;
mod syntax;
mod tree;

use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use serde::de::DeserializeOwned;

use super::{Diagnostics, Source};
use recovery::Recovery;

/// Reads a whole document as a `T`.
///
/// `T` should be made of `#[serde(deny_unknown_fields, default)]` structs; its
/// `toml::Spanned` fields keep their places. A wrong key or value is reported and left
/// out, so a `T` may come back although something was reported: look at `diagnostics`
/// before using it for more than further checks.
pub fn read<T: DeserializeOwned>(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<T> {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let broken = syntax::report(&errors, source, diagnostics);
    let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    Recovery::new(source, root, broken, diagnostics).run()
}

#[cfg(test)]
mod tests;
