//! Figure against figure.

use super::comparison::{Comparison, Verdict};
use super::expectations::{Expectation, Tolerance};
use super::paper::Paper;
use crate::expression::{Cell, Text, Value, evaluate};
use crate::input::{Diagnostic, Diagnostics};

/// Compares all figures of `paper` with ours.
///
/// # Errors
/// All mistakes in its expressions.
pub fn compare(paper: &Paper) -> Result<Vec<Comparison>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let all = &paper.expectations;
    let is_late: Vec<bool> = all
        .iter()
        .map(|row| paper.names.asks_for_figures(row))
        .collect();
    let mut rows: Vec<Option<Comparison>> = all.iter().map(|_| None).collect();
    // What is made of the figures themselves comes last.
    for late in [false, true] {
        for ((row, expected), is_late) in rows.iter_mut().zip(all).zip(&is_late) {
            if *is_late != late {
                continue;
            }
            match compared(paper, expected) {
                Ok(compared) => *row = Some(compared),
                Err(wrong) => diagnostics.push(wrong),
            }
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        paper.names.tell_figures(rows.iter().flatten().map(told));
    }
    Ok(rows.into_iter().flatten().collect())
}

/// A row of the table of figures.
fn told(row: &Comparison) -> [Cell; 6] {
    let text = |text: &str| Cell::Text(text.into());
    [
        text(&row.quantity),
        text(&row.selector),
        text(&row.kind),
        Cell::Number(row.paper),
        Cell::Number(row.simulated),
        match row.relative {
            true => Cell::Number(row.difference),
            false => Cell::Empty,
        },
    ]
}

fn figure(paper: &Paper, text: &Text) -> Result<f64, Diagnostic> {
    let wrong = |what: String| {
        let span = text.root.span.clone();
        Diagnostic::at(&text.source, span, what, "here")
    };
    match evaluate(text, &paper.names)? {
        Value::Number(number) if number.is_finite() => Ok(number),
        Value::Number(number) => Err(wrong(format!("the figure is {number}"))),
        other => Err(wrong(format!(
            "the figure is {}, not a number",
            other.shown()
        ))),
    }
}

/// Ours minus the published figure in the terms of the tolerance, the tolerance, and whether it is kept.
fn apart(ours: f64, expected: &Expectation) -> (f64, f64, bool) {
    let gap = ours - expected.value;
    // Rounding must not push an exact hit on the edge over it.
    let relief = 1e-12;
    match expected.tolerance {
        Tolerance::Relative(size) => {
            let difference = gap / expected.value;
            (difference, size, difference.abs() <= size + relief)
        }
        Tolerance::Absolute(size) => (gap, size, gap.abs() <= size + relief),
        Tolerance::AtLeast(size) => (gap, size, gap >= -size - relief),
        Tolerance::AtMost(size) => (gap, size, gap <= size + relief),
    }
}

fn compared(paper: &Paper, expected: &Expectation) -> Result<Comparison, Diagnostic> {
    let simulated = figure(paper, &expected.ours)?;
    let (difference, tolerance, within) = apart(simulated, expected);
    let then = match &expected.only_if {
        Some((_, then)) => Some(figure(paper, then)?),
        None => None,
    };
    let holds_then = then.is_some_and(|then| apart(then, expected).2);
    let verdict = match (within, expected.is_claim()) {
        (true, true) => Verdict::Holds,
        (false, true) if holds_then => Verdict::HoldsOnlyIf,
        (false, true) => Verdict::DoesNotHold,
        (true, false) if expected.is_calibration() => Verdict::Calibrated,
        (true, false) => Verdict::Ok,
        (false, false) if expected.explained.is_empty() => Verdict::Outside,
        (false, false) => Verdict::Explained,
    };
    let reason = match (verdict, &expected.only_if) {
        (Verdict::HoldsOnlyIf, Some((condition, _))) => format!("only if {condition}"),
        (Verdict::Explained | Verdict::DoesNotHold, _) => expected.explained.clone(),
        _ => String::new(),
    };
    Ok(Comparison {
        figure: expected.figure.clone(),
        quantity: match expected.quantity.as_str() {
            "" => expected.figure.clone(),
            quantity => quantity.to_owned(),
        },
        selector: match expected.of.as_str() {
            "" => expected.written.clone(),
            of => of.to_owned(),
        },
        expression: expected.written.clone(),
        paper: expected.value,
        simulated,
        then,
        difference,
        tolerance,
        relative: matches!(expected.tolerance, Tolerance::Relative(_)),
        bound: match expected.tolerance {
            Tolerance::AtLeast(_) => "at least",
            Tolerance::AtMost(_) => "at most",
            Tolerance::Relative(_) | Tolerance::Absolute(_) => "",
        },
        unit: expected.unit.clone(),
        kind: expected.kind.clone(),
        verdict,
        note: expected.note.clone(),
        reason,
    })
}
