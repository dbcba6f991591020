//! Figure against figure, and the verdict.

use std::sync::Arc;

use serde::Serialize;

use super::expectations::{self, Expectation, Tolerance};
use super::papers::Paper;
use super::quantity::Quantity;
use crate::input::{Diagnostic, Diagnostics, Source};

/// What a paper's figures are compared with: set up from a file, asked by quantity and cell.
pub trait Figures: Sized + 'static {
    /// The quantities it knows.
    const QUANTITIES: &'static [Quantity<Self>];

    /// Sets it up from a paper's file; what is wrong goes to `diagnostics`.
    fn set_up(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Self>;
}

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
    /// Printed, read off a figure, derived from such, or used for calibration.
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
    /// Within it because parameters were chosen so: no evidence.
    Calibrated,
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
            Verdict::Calibrated => "calibrated",
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
    (paper.compare)(paper)
}

/// [`compare`] with one kind of figures.
pub(super) fn compare_with<F: Figures>(paper: &Paper) -> Result<Vec<Comparison>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new(paper.source.0, paper.source.1);
    let figures = F::set_up(&source, &mut diagnostics);
    let table = Source::new(paper.expectations.0, paper.expectations.1);
    let names: Vec<&str> = F::QUANTITIES.iter().map(|q| q.name).collect();
    let expectations = expectations::read(&table, &names, &mut diagnostics);
    let Some(figures) = figures.filter(|_| diagnostics.is_empty()) else {
        return Err(diagnostics);
    };
    let rows: Vec<Comparison> = (expectations.into_iter())
        .filter_map(|expected| match row(&figures, expected) {
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

fn row<F: Figures>(figures: &F, expected: Expectation) -> Result<Comparison, String> {
    let quantity = (F::QUANTITIES.iter())
        .find(|q| q.name == expected.quantity)
        .ok_or_else(|| format!("unknown quantity `{}`", expected.quantity))?;
    let simulated = (quantity.of)(figures, &expected.selector)
        .map_err(|why| format!("{} {}: {why}", expected.quantity, expected.selector_text))?;
    let gap = simulated - expected.value;
    let (difference, tolerance, relative) = match expected.tolerance {
        Tolerance::Relative(fraction) => (gap / expected.value, fraction, true),
        Tolerance::Absolute(size) => (gap, size, false),
    };
    // Rounding must not push an exact hit on the edge over it.
    let within = difference.abs() <= tolerance + 1e-12;
    let verdict = match (within, expected.explained.is_empty()) {
        (true, _) if expected.is_calibration() => Verdict::Calibrated,
        (true, _) => Verdict::Ok,
        (false, false) => Verdict::Explained,
        (false, true) => Verdict::Outside,
    };
    let reason = match verdict {
        Verdict::Explained => expected.explained,
        Verdict::Ok | Verdict::Calibrated | Verdict::Outside => String::new(),
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
