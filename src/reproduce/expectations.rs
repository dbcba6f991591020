//! The table of figures that a paper printed.

use std::sync::Arc;

use super::selector::Selector;
use crate::input::csv::{Row, Table};
use crate::input::{Diagnostic, Diagnostics, Source, closest};

/// One published figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Where it stands in the paper.
    pub figure: String,
    /// What it is, by the name of a [`Quantity`](super::figures::Quantity).
    pub quantity: String,
    /// Of which cell, as written.
    pub selector_text: String,
    /// The same, parsed.
    pub selector: Selector,
    /// The figure.
    pub value: f64,
    /// Its unit; `1` for a plain ratio or count.
    pub unit: String,
    /// How far ours may be off.
    pub tolerance: Tolerance,
    /// Printed, read off a figure, or derived from such.
    pub kind: String,
    /// What the figure means, for people.
    pub note: String,
    /// Why ours is known to differ; empty where no difference is expected.
    pub explained: String,
}

impl Expectation {
    /// Whether parameters were calibrated on it.
    pub fn is_calibration(&self) -> bool {
        self.kind == "calibration"
    }
}

/// How far a simulated figure may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// As a fraction of the published figure.
    Relative(f64),
    /// In its unit.
    Absolute(f64),
}

const COLUMNS: [&str; 9] = [
    "figure",
    "quantity",
    "selector",
    "value",
    "unit",
    "tolerance",
    "tolerance_kind",
    "kind",
    "note",
];

/// Reads the table in `source`, which may hold the quantities `known`; what is wrong with it goes to `diagnostics`.
pub fn read(
    source: &Arc<Source>,
    known: &[&str],
    diagnostics: &mut Diagnostics,
) -> Vec<Expectation> {
    let table = Table::read(source, &COLUMNS, &["explained"], diagnostics);
    (table.iter().flat_map(Table::rows))
        .filter_map(|row| expectation(source, &row, known, diagnostics))
        .collect()
}

fn expectation(
    source: &Arc<Source>,
    row: &Row<'_>,
    known: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<Expectation> {
    let quantity = row.text("quantity", diagnostics)?;
    if !known.contains(&quantity) {
        let label = match closest(quantity, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "not known".to_owned(),
        };
        let legal: Vec<String> = known.iter().map(|n| format!("`{n}`")).collect();
        diagnostics.push(
            Diagnostic::at(
                source,
                row.span("quantity"),
                format!("unknown quantity `{quantity}`"),
                label,
            )
            .with_help(format!("legal here: {}", legal.join(", "))),
        );
        return None;
    }
    let selector_text = row.text("selector", diagnostics)?;
    let selector = Selector::parse(selector_text)
        .map_err(|word| {
            diagnostics.error_at(
                source,
                row.span("selector"),
                format!("`{word}` is not a pair"),
                "expected `key=value`, separated by spaces",
            );
        })
        .ok()?;
    let size = row.number("tolerance", 0.0.., diagnostics)?;
    let tolerance = match row.text("tolerance_kind", diagnostics)? {
        "relative" => Tolerance::Relative(size),
        "absolute" => Tolerance::Absolute(size),
        other => {
            diagnostics.error_at(
                source,
                row.span("tolerance_kind"),
                format!("unknown kind of tolerance `{other}`"),
                "expected `relative` or `absolute`",
            );
            return None;
        }
    };
    Some(Expectation {
        figure: row.text("figure", diagnostics)?.to_owned(),
        quantity: quantity.to_owned(),
        selector_text: selector_text.to_owned(),
        selector,
        value: row.number("value", .., diagnostics)?,
        unit: row.text("unit", diagnostics)?.to_owned(),
        tolerance,
        kind: row.text("kind", diagnostics)?.to_owned(),
        note: row.optional_text("note").unwrap_or_default().to_owned(),
        explained: row
            .optional_text("explained")
            .unwrap_or_default()
            .to_owned(),
    })
}
