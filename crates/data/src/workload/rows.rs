use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use super::origin::Origin;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

/// Most workers and largest batch that a table may name; beyond, it is a slip of the pen.
const LARGEST: u64 = 1_000_000_000;

const LARGEST_FIGURE: f64 = 1e12;

/// Reads every row of a table with `parse`, and refuses two rows with the same `key`. `None` if any row is wrong.
pub(super) fn read<T, K: Eq + Hash>(
    source: &Arc<Source>,
    required: &[&str],
    optional: &[&str],
    diagnostics: &mut Diagnostics,
    parse: impl Fn(&Row<'_>, &mut Diagnostics) -> Option<T>,
    key: impl Fn(&T) -> K,
) -> Option<Vec<T>> {
    let table = Table::read(source, required, optional, diagnostics)?;
    let (mut parsed, mut seen) = (Vec::new(), HashSet::new());
    let mut complete = true;
    for row in table.rows() {
        match parse(&row, diagnostics) {
            Some(value) if !seen.insert(key(&value)) => {
                complete = false;
                row.report_line(
                    "this point appears twice in the table",
                    "keep one of the two rows",
                    diagnostics,
                );
            }
            Some(value) => parsed.push(value),
            None => complete = false,
        }
    }
    complete.then_some(parsed)
}

pub(super) fn read_count(
    row: &Row<'_>,
    column: &str,
    diagnostics: &mut Diagnostics,
) -> Option<u32> {
    let value = row.whole_number(column, 1..=LARGEST, diagnostics)?;
    u32::try_from(value).ok()
}

pub(super) fn above_zero(
    row: &Row<'_>,
    column: &str,
    diagnostics: &mut Diagnostics,
) -> Option<f64> {
    use std::ops::Bound::{Excluded, Included};
    row.number(
        column,
        (Excluded(0.0), Included(LARGEST_FIGURE)),
        diagnostics,
    )
}

pub(super) fn origin(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<Origin> {
    let where_from = row.text("source", diagnostics);
    where_from.and(row.known("origin", &Origin::ALL, Origin::name, diagnostics))
}
