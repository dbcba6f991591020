//! The table of figures that a paper printed.

use std::sync::Arc;

use crate::expression::{self, Text};
use crate::input::csv::{Row, Table};
use crate::input::{Diagnostics, Source};

/// One published figure.
#[derive(Debug)]
pub struct Expectation {
    /// Where it stands in the paper.
    pub figure: String,
    /// What it is, for people; its neighbours of the same name make a section.
    pub quantity: String,
    /// Of what, for people.
    pub of: String,
    /// Ours, as written.
    pub written: String,
    /// The same, read.
    pub ours: Text,
    /// The figure, or a claim's bound.
    pub value: f64,
    /// Its unit; `1` for a plain ratio or count.
    pub unit: String,
    /// How far ours may be off.
    pub tolerance: Tolerance,
    /// Printed, read off a figure, derived from such, a claim.
    pub kind: String,
    /// What the figure means, for people.
    pub note: String,
    /// Why ours is known to differ; empty where no difference is expected.
    pub explained: String,
    /// Of a claim: under which condition it may hold, and ours then.
    pub only_if: Option<(String, Text)>,
}

impl Expectation {
    /// Whether parameters were calibrated on it.
    pub fn is_calibration(&self) -> bool {
        self.kind == "calibration"
    }

    /// Whether it is a claim, which holds or does not.
    pub fn is_claim(&self) -> bool {
        self.kind == "claim"
    }
}

/// How far a figure of ours may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// As a fraction of the published figure.
    Relative(f64),
    /// In its unit.
    Absolute(f64),
    /// It is at least as large, less so much in its unit.
    AtLeast(f64),
    /// It is at most as large, and so much in its unit.
    AtMost(f64),
}

const COLUMNS: [&str; 7] = [
    "figure",
    "expression",
    "value",
    "unit",
    "tolerance",
    "tolerance_kind",
    "kind",
];
const OPTIONAL: [&str; 6] = ["quantity", "of", "note", "explained", "only_if", "then"];

/// Reads the table in `source`; what is wrong with it goes to `diagnostics`.
pub fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Vec<Expectation> {
    let table = Table::read(source, &COLUMNS, &OPTIONAL, diagnostics);
    (table.iter().flat_map(Table::rows))
        .filter_map(|row| expectation(source, &row, diagnostics))
        .collect()
}

/// The expression in a cell.
fn cell(
    source: &Arc<Source>,
    row: &Row<'_>,
    column: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Text> {
    let text = row.text(column, diagnostics)?;
    let span = row.span(column);
    let at = source.text[span.clone()].find(text).unwrap_or(0);
    expression::parse(text, source, span.start + at, diagnostics)
}

fn expectation(
    source: &Arc<Source>,
    row: &Row<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Expectation> {
    let ours = cell(source, row, "expression", diagnostics);
    let then = (row.optional_text("then")).and_then(|_| cell(source, row, "then", diagnostics));
    let value = row.number("value", .., diagnostics);
    let size = row.number("tolerance", 0.0.., diagnostics);
    let kind = row.text("tolerance_kind", diagnostics);
    let tolerance: Option<fn(f64) -> Tolerance> = match kind? {
        "relative" => Some(Tolerance::Relative),
        "absolute" => Some(Tolerance::Absolute),
        "at-least" => Some(Tolerance::AtLeast),
        "at-most" => Some(Tolerance::AtMost),
        other => {
            diagnostics.error_at(
                source,
                row.span("tolerance_kind"),
                format!("unknown kind of tolerance `{other}`"),
                "expected `relative`, `absolute`, `at-least` or `at-most`",
            );
            None
        }
    };
    let words = |column: &str| row.optional_text(column).unwrap_or_default().to_owned();
    let figure = row.text("figure", diagnostics);
    let unit = row.text("unit", diagnostics);
    let kind = row.text("kind", diagnostics);
    if value == Some(0.0) && row.optional_text("tolerance_kind") == Some("relative") {
        let title = "a figure of 0 has no relative difference";
        let label = "expected `absolute`, `at-least` or `at-most`";
        diagnostics.error_at(source, row.span("tolerance_kind"), title, label);
    }
    let written = words("expression");
    Some(Expectation {
        figure: figure?.to_owned(),
        quantity: words("quantity"),
        of: words("of"),
        written,
        ours: ours?,
        value: value?,
        unit: unit?.to_owned(),
        tolerance: tolerance?(size?),
        kind: kind?.to_owned(),
        note: words("note"),
        explained: words("explained"),
        only_if: then.map(|then| (words("only_if"), then)),
    })
}
