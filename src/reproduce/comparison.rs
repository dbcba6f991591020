//! Figure against figure, and the verdict.

use std::path::Path;

use serde::Serialize;

use super::expectations::{self, Expectation, Tolerance};
use super::papers::Paper;
use super::quantity::QUANTITIES;
use super::stage::Stage;
use crate::input::{Diagnostic, Diagnostics, Source};
use crate::scenario::{self, Overrides};

/// One published figure beside ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Where it stands in the paper.
    pub figure: String,
    /// What it is.
    pub quantity: String,
    /// Of which cell.
    pub selector: String,
    /// The published figure.
    pub paper: f64,
    /// Ours.
    pub simulated: f64,
    /// Ours minus the published one: as a fraction of it where the tolerance is relative, else in
    /// its unit.
    pub difference: f64,
    /// How large the difference may be, in the same terms.
    pub tolerance: f64,
    /// Whether difference and tolerance are fractions.
    pub relative: bool,
    /// Unit of the figures.
    pub unit: String,
    /// Printed, read off a figure, or derived from such.
    pub kind: String,
    /// How it came out.
    pub verdict: Verdict,
    /// What the figure means.
    pub note: String,
    /// Why ours lies outside the tolerance, where it does and the reason is known.
    pub reason: String,
}

/// How a comparison came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within the tolerance.
    Ok,
    /// Outside, and the table of expectations says why.
    Explained,
    /// Outside, and nobody knows why.
    Outside,
}

impl Verdict {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Explained => "explained",
            Verdict::Outside => "OUTSIDE",
        }
    }
}

/// Compares all figures of `paper` with ours.
///
/// # Errors
/// All mistakes in the paper's scenario and table.
pub fn compare(paper: &Paper) -> Result<Vec<Comparison>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new(paper.scenario.0, paper.scenario.1);
    let folder = Path::new("scenarios/paper");
    let scenario = scenario::load(&source, folder, Overrides::default(), &mut diagnostics);
    let table = Source::new(paper.expectations.0, paper.expectations.1);
    let expectations = expectations::read(&table, &mut diagnostics);
    let stage = scenario.and_then(|scenario| match Stage::new(scenario) {
        Ok(stage) => Some(stage),
        Err(error) => {
            diagnostics.push(Diagnostic::general(format!("{}: {error}", source.name)));
            None
        }
    });
    let Some(stage) = stage.filter(|_| diagnostics.is_empty()) else {
        return Err(diagnostics);
    };
    let rows: Vec<Comparison> = (expectations.into_iter())
        .filter_map(|expected| match row(&stage, expected) {
            Ok(row) => Some(row),
            Err(why) => {
                diagnostics.push(Diagnostic::general(format!("{}: {why}", table.name)));
                None
            }
        })
        .collect();
    if diagnostics.is_empty() {
        Ok(rows)
    } else {
        Err(diagnostics)
    }
}

fn row(stage: &Stage, expected: Expectation) -> Result<Comparison, String> {
    let quantity = (QUANTITIES.iter())
        .find(|q| q.name == expected.quantity)
        .ok_or_else(|| format!("unknown quantity `{}`", expected.quantity))?;
    let simulated = (quantity.of)(stage, &expected.selector)
        .map_err(|why| format!("{} {}: {why}", expected.quantity, expected.selector_text))?;
    let gap = simulated - expected.value;
    let (difference, tolerance, relative) = match expected.tolerance {
        Tolerance::Relative(fraction) => (gap / expected.value, fraction, true),
        Tolerance::Absolute(size) => (gap, size, false),
    };
    // Rounding must not push an exact hit on the edge over it.
    let within = difference.abs() <= tolerance + 1e-12;
    let verdict = match (within, expected.explained.is_empty()) {
        (true, _) => Verdict::Ok,
        (false, false) => Verdict::Explained,
        (false, true) => Verdict::Outside,
    };
    let reason = match verdict {
        Verdict::Explained => expected.explained,
        Verdict::Ok | Verdict::Outside => String::new(),
    };
    Ok(Comparison {
        figure: expected.figure,
        quantity: expected.quantity,
        selector: expected.selector_text,
        paper: expected.value,
        simulated,
        difference,
        tolerance,
        relative,
        unit: expected.unit,
        kind: expected.kind,
        verdict,
        note: expected.note,
        reason,
    })
}
