//! The table of figures that a paper printed.

use std::ops::Range;
use std::sync::Arc;

use super::evidence::Evidence;
use super::readings::Readings;
use scavsim_read::expression::{self, Text};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostic, Diagnostics, Source, did_you_mean};

#[derive(Debug)]
pub struct Expectation {
    pub figure: String,
    /// The quantity as text; neighbours with one name make a section.
    pub quantity: String,
    /// The object of the quantity, as text.
    pub of: String,
    /// Ours, as written.
    pub written: String,
    /// The parsed expression for ours; for a claim with several readings, their list.
    pub ours: Text,
    /// The readings of a claim: each combination of values.
    pub readings: Readings,
    /// For a claim, the half-width of our 95 % interval.
    pub interval: Option<Text>,
    /// The figure, or a claim's bound.
    pub value: f64,
    /// Unit of the value; `1` for a plain ratio or count.
    pub unit: String,
    pub tolerance: Tolerance,
    /// Printed, read off a figure, derived from such, a claim; or not a figure of the paper, like [`OURS`].
    pub kind: String,
    pub evidence: Evidence,
    pub place: Range<usize>,
    pub note: String,
    /// Why ours differs; empty if no difference is expected.
    pub explained: String,
}

impl Expectation {
    pub fn shown_quantity(&self) -> &str {
        match self.quantity.as_str() {
            "" => &self.figure,
            quantity => quantity,
        }
    }

    pub fn shown_of(&self) -> &str {
        match self.of.as_str() {
            "" => &self.written,
            of => of,
        }
    }

    fn read_as(mut self, readings: Readings) -> Expectation {
        self.ours = readings.over(self.ours);
        self.readings = readings;
        self
    }

    /// `QUANTITY: OF`, the name of a row in constants.
    pub fn name(&self) -> String {
        format!("{}: {}", self.shown_quantity(), self.shown_of())
    }

    pub fn is_claim(&self) -> bool {
        self.kind == CLAIM
    }
}

/// The tolerance of our figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Relative to the published figure.
    Relative(f64),
    /// In its unit.
    Absolute(f64),
    /// Ours is at least as large, less this tolerance in its unit.
    AtLeast(f64),
    /// Ours is at most as large, plus this tolerance in its unit.
    AtMost(f64),
}

const CLAIM: &str = "claim";

/// Kinds of rows that are not figures of the paper: goals of this project, and further comparisons.
pub const OURS: [&str; 2] = ["goal", "comparison"];

const COLUMNS: [&str; 7] = [
    "figure",
    "expression",
    "value",
    "unit",
    "tolerance",
    "tolerance_kind",
    "evidence",
];
const OPTIONAL: [&str; 4] = ["quantity", "of", "note", "explained"];

pub fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Vec<Expectation> {
    let columns = [&COLUMNS[..], &["kind"]].concat();
    let table = Table::read(source, &columns, &OPTIONAL, diagnostics);
    (table.iter().flat_map(Table::rows))
        .filter_map(|row| {
            let kind = row.text("kind", diagnostics)?;
            if kind == CLAIM {
                let title = "a claim among the figures";
                let label = "claims stand in claims.csv";
                diagnostics.error_at(source, row.span("kind"), title, label);
            }
            expectation(source, &row, kind, diagnostics)
        })
        .collect()
}

/// Reads the table of claims, like [`read`] for figures.
pub fn read_claims(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Vec<Expectation> {
    let columns = [&COLUMNS[..], &["quantity", "interval"]].concat();
    let optional = [&OPTIONAL[1..], &["readings"]].concat();
    let table = Table::read(source, &columns, &optional, diagnostics);
    (table.iter().flat_map(Table::rows))
        .filter_map(|row| {
            // A bound needs an interval: 0 if nothing is random.
            let parse = expression::parse;
            let interval = cell(source, &row, "interval", parse, diagnostics);
            let loops = match row.optional_text("readings") {
                Some(_) => cell(
                    source,
                    &row,
                    "readings",
                    expression::parse_loops,
                    diagnostics,
                )?,
                None => Vec::new(),
            };
            let claim = expectation(source, &row, CLAIM, diagnostics)?;
            let mut claim = claim.read_as(Readings::new(loops, source));
            claim.interval = Some(claim.readings.over(interval?));
            Some(claim)
        })
        .collect()
}

fn cell<T>(
    source: &Arc<Source>,
    row: &Row<'_>,
    column: &str,
    parse: fn(&str, &Arc<Source>, usize, &mut Diagnostics) -> Option<T>,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let text = row.text(column, diagnostics)?;
    let span = row.span(column);
    let at = source.text[span.clone()].find(text).unwrap_or(0);
    parse(text, source, span.start + at, diagnostics)
}

fn evidence(
    source: &Arc<Source>,
    row: &Row<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Evidence> {
    let name = row.text("evidence", diagnostics)?;
    let found = Evidence::named(name);
    if found.is_none() {
        let names = Evidence::ALL.into_iter().map(Evidence::name);
        let label = did_you_mean(name, names.clone(), "not known");
        let title = format!("unknown class of evidence `{name}`");
        let wrong = Diagnostic::at_span(source, row.span("evidence"), title, label);
        let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        diagnostics.push(wrong.with_help(format!("expected {}", all.join(", "))));
    }
    found
}

fn expectation(
    source: &Arc<Source>,
    row: &Row<'_>,
    kind: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Expectation> {
    let ours = cell(source, row, "expression", expression::parse, diagnostics);
    let value = row.number("value", .., diagnostics);
    let size = row.number("tolerance", 0.0.., diagnostics);
    let tolerance_kind = row.text("tolerance_kind", diagnostics)?;
    let tolerance: Option<fn(f64) -> Tolerance> = match tolerance_kind {
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
    let evidence = evidence(source, row, diagnostics);
    let own = value.unwrap_or(f64::NAN).abs();
    if own == 0.0 && tolerance_kind == "relative" {
        let title = "a figure of 0 has no relative difference";
        let label = "expected `absolute`, `at-least` or `at-most`";
        diagnostics.error_at(source, row.span("tolerance_kind"), title, label);
    }
    let least_vacuous = match tolerance_kind {
        "relative" => 1.0,
        "absolute" if own > 0.0 => own,
        _ => f64::INFINITY,
    };
    if size.is_some_and(|size| size >= least_vacuous) {
        let title = "a tolerance as large as its figure";
        let label = "expected less, or a bound: `at-least`, `at-most`";
        diagnostics.error_at(source, row.span("tolerance"), title, label);
    }
    let written = words("expression");
    Some(Expectation {
        figure: figure?.to_owned(),
        quantity: words("quantity"),
        of: words("of"),
        written,
        ours: ours?,
        readings: Readings::default(),
        interval: None,
        value: value?,
        unit: unit?.to_owned(),
        tolerance: tolerance?(size?),
        kind: kind.to_owned(),
        evidence: evidence?,
        place: row.span("evidence"),
        note: words("note"),
        explained: words("explained"),
    })
}
