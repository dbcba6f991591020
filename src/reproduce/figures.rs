//! What a paper's figures are compared with, and what all kinds of them share.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::selector::Selector;
use crate::input::{Diagnostics, Source};

/// What a paper's figures are compared with: set up from a file, asked by quantity and cell.
pub trait Figures: Sized + 'static {
    /// The quantities it knows.
    const QUANTITIES: &'static [Quantity<Self>];

    /// Sets it up from a paper's file; what is wrong goes to `diagnostics`.
    fn set_up(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Self>;
}

/// A quantity that papers print, computed from an `F`.
pub struct Quantity<F> {
    /// Its name in tables of expected figures.
    pub name: &'static str,
    /// Our figure for a selector.
    pub of: fn(&F, &Selector) -> Result<f64, String>,
}

/// Quantities by the names of the functions that compute them.
macro_rules! quantities {
    ($($name:ident,)*) => {
        &[$($crate::reproduce::figures::Quantity { name: stringify!($name), of: $name },)*]
    };
}
pub(super) use quantities;

/// What a table of a paper's file holds under a name; `what` says what it is.
///
/// # Errors
/// A sentence when there is none.
pub(super) fn named<'a, T>(
    table: &'a BTreeMap<String, T>,
    what: &str,
    name: &str,
) -> Result<&'a T, String> {
    table
        .get(name)
        .ok_or_else(|| format!("there is no {what} `{name}`"))
}

/// The mean of values that are there.
///
/// # Errors
/// A sentence when there are none.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Result<f64, String> {
    mean_of_all(values.map(Ok))
}

/// The mean of values each of which may not exist.
///
/// # Errors
/// The first that is in the way; a sentence when there are none.
pub(super) fn mean_of_all(
    mut values: impl Iterator<Item = Result<f64, String>>,
) -> Result<f64, String> {
    let (count, sum) = values.try_fold((0u32, 0.0), |(n, sum), value| {
        Ok::<_, String>((n + 1, sum + value?))
    })?;
    match count {
        0 => Err("there is nothing to average".to_owned()),
        count => Ok(sum / f64::from(count)),
    }
}
