//! Figure against figure.

use super::comparison::{Comparison, Verdict};
use super::expectations::{self, Expectation, Tolerance};
use super::figures::Figures;
use super::paper::Paper;
use super::selector::Selector;
use crate::input::{Diagnostic, Diagnostics, Source};

/// A quantity of the comparison itself, whatever is compared.
const MEDIAN: &str = "median_difference";

/// Compares all figures of `paper` with one kind of figures.
pub(super) fn compare_with<F: Figures>(paper: &Paper) -> Result<Vec<Comparison>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new(paper.source.0, paper.source.1);
    let figures = F::set_up(&source, &mut diagnostics);
    let table = Source::new(paper.expectations.0, paper.expectations.1);
    let names: Vec<&str> = (F::QUANTITIES.iter().map(|q| q.name))
        .chain([MEDIAN])
        .collect();
    let expectations = expectations::read(&table, &names, &mut diagnostics);
    let Some(figures) = figures.filter(|_| diagnostics.is_empty()) else {
        return Err(diagnostics);
    };
    let rows: Vec<Comparison> = (expectations.iter())
        .filter_map(|expected| match row(&figures, expected, &expectations) {
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

/// Our figure of a quantity.
fn ours<F: Figures>(figures: &F, name: &str, selector: &Selector) -> Result<f64, String> {
    let quantity = (F::QUANTITIES.iter())
        .find(|q| q.name == name)
        .ok_or_else(|| format!("unknown quantity `{name}`"))?;
    (quantity.of)(figures, selector)
}

/// Median of the absolute differences, in percent, between `all` published figures of the quantity that the selector
/// names with `of` and ours, those left out that parameters were calibrated on.
fn median_difference<F: Figures>(
    figures: &F,
    selector: &Selector,
    all: &[Expectation],
) -> Result<f64, String> {
    let name = selector.text("of")?;
    let mut differences = Vec::new();
    for row in all
        .iter()
        .filter(|row| row.quantity == name && name != MEDIAN)
    {
        if !row.is_calibration() && matches!(row.tolerance, Tolerance::Relative(_)) {
            let ours = ours(figures, name, &row.selector)?;
            differences.push(100.0 * (ours / row.value - 1.0).abs());
        }
    }
    differences.sort_by(f64::total_cmp);
    let (below, above) = (
        differences.len().saturating_sub(1) / 2,
        differences.len() / 2,
    );
    match (differences.get(below), differences.get(above)) {
        (Some(below), Some(above)) => Ok(0.5 * (below + above)),
        _ => Err(format!("the table has no check of `{name}`")),
    }
}

fn row<F: Figures>(
    figures: &F,
    expected: &Expectation,
    all: &[Expectation],
) -> Result<Comparison, String> {
    let simulated = match &*expected.quantity {
        MEDIAN => median_difference(figures, &expected.selector, all),
        name => ours(figures, name, &expected.selector),
    };
    let simulated = simulated
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
        Verdict::Explained => expected.explained.clone(),
        Verdict::Ok | Verdict::Calibrated | Verdict::Outside => String::new(),
    };
    Ok(Comparison {
        figure: expected.figure.clone(),
        quantity: expected.quantity.clone(),
        selector: expected.selector_text.clone(),
        paper: expected.value,
        simulated,
        difference,
        tolerance,
        relative,
        unit: expected.unit.clone(),
        kind: expected.kind.clone(),
        verdict,
        note: expected.note.clone(),
        reason,
    })
}
