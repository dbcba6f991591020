use super::comparison::{Comparison, Verdict};
use super::evidence::Evidence;
use super::expectations::{Expectation, Tolerance};
use super::paper::Paper;
use scavsim_read::expression::{Cell, Text, Value, evaluate};
use scavsim_read::input::{Diagnostic, Diagnostics};

pub fn compare(paper: &Paper) -> Result<Vec<Comparison>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let all = &paper.expectations;
    let is_late: Vec<bool> = all
        .iter()
        .map(|row| paper.names.asks_for_figures(row))
        .collect();
    let mut rows: Vec<Vec<Comparison>> = all.iter().map(|_| Vec::new()).collect();
    // Values computed from the figures themselves come last.
    for late in [false, true] {
        for ((row, expected), is_late) in rows.iter_mut().zip(all).zip(&is_late) {
            if *is_late != late {
                continue;
            }
            match compared(paper, expected) {
                Ok(compared) => *row = compared,
                Err(wrong) => diagnostics.push(wrong),
            }
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        paper
            .names
            .tell_figures(rows.iter().flatten().map(table_row));
    }
    Ok(rows.into_iter().flatten().collect())
}

fn table_row(row: &Comparison) -> [Cell; 7] {
    let text = |text: &str| Cell::Text(text.into());
    [
        text(&row.quantity),
        text(&row.selector),
        text(&row.kind),
        text(row.evidence.name()),
        Cell::Number(row.paper),
        Cell::Number(row.simulated),
        if row.relative {
            Cell::Number(row.difference)
        } else {
            Cell::Empty
        },
    ]
}

/// The values of an expression: one, or for a grid one per reading.
fn figures(paper: &Paper, text: &Text, grid: Option<usize>) -> Result<Vec<f64>, Diagnostic> {
    let wrong = |what: String| {
        let span = text.root.span.clone();
        Diagnostic::at_span(&text.source, span, what, "here")
    };
    let number = |value: Value| match value {
        Value::Number(number) if number.is_finite() => Ok(number),
        Value::Number(number) => Err(wrong(format!("the figure is {number}"))),
        other => Err(wrong(format!(
            "the figure is {}, not a number",
            other.shown()
        ))),
    };
    match (evaluate(text, &paper.names)?, grid) {
        (Value::List(all), Some(readings)) if all.len() == readings => {
            all.into_iter().map(number).collect()
        }
        (Value::List(all), Some(readings)) => Err(wrong(format!(
            "{readings} readings have {} figures",
            all.len()
        ))),
        (one, _) => Ok(vec![number(one)?]),
    }
}

/// Tolerance for rounding of a figure exactly on the bound.
const RELIEF: f64 = 1e-12;

/// Our figure minus the published one in the unit of the tolerance, and the tolerance.
fn apart(ours: f64, expected: &Expectation) -> (f64, f64) {
    let gap = ours - expected.value;
    match expected.tolerance {
        Tolerance::Relative(size) => (gap / expected.value, size),
        Tolerance::Absolute(size) | Tolerance::AtLeast(size) | Tolerance::AtMost(size) => {
            (gap, size)
        }
    }
}

fn is_within(ours: f64, expected: &Expectation) -> bool {
    let (difference, size) = apart(ours, expected);
    match expected.tolerance {
        Tolerance::Relative(_) | Tolerance::Absolute(_) => difference.abs() <= size + RELIEF,
        Tolerance::AtLeast(_) => difference >= -size - RELIEF,
        Tolerance::AtMost(_) => difference <= size + RELIEF,
    }
}

/// The verdict on a reading of a claim: by both ends of our interval, and by our value.
fn of_claim(ours: f64, interval: f64, expected: &Expectation) -> Verdict {
    let ends = [ours - interval, ours, ours + interval].map(|end| is_within(end, expected));
    match ends {
        [true, true, true] => Verdict::Holds,
        [false, false, false] => Verdict::DoesNotHold,
        _ => Verdict::Open,
    }
}

fn of_figure(ours: f64, expected: &Expectation) -> Verdict {
    match is_within(ours, expected) {
        true if expected.evidence == Evidence::Calibrated => Verdict::Calibrated,
        true => Verdict::Ok,
        false if expected.explained.is_empty() => Verdict::Outside,
        false => Verdict::Explained,
    }
}

/// The rows of a figure: one, or for a claim one per reading.
fn compared(paper: &Paper, expected: &Expectation) -> Result<Vec<Comparison>, Diagnostic> {
    let readings = expected.readings.named(&paper.names)?;
    let grid = (!expected.readings.values.is_empty()).then_some(readings.len());
    let ours = figures(paper, &expected.ours, grid)?;
    let intervals = match &expected.interval {
        Some(text) => figures(paper, text, grid)?,
        None => Vec::new(),
    };
    let row = |(at, ours): (usize, &f64)| {
        let interval = intervals.get(at).map(|size| size.abs());
        let verdict = if expected.is_claim() {
            of_claim(*ours, interval.unwrap_or_default(), expected)
        } else {
            of_figure(*ours, expected)
        };
        let reading = readings.get(at).map_or(&[][..], Vec::as_slice);
        row(expected, *ours, interval, reading, verdict)
    };
    Ok(ours.iter().enumerate().map(row).collect())
}

fn row(
    expected: &Expectation,
    ours: f64,
    interval: Option<f64>,
    reading: &[(String, String)],
    verdict: Verdict,
) -> Comparison {
    let (difference, tolerance) = apart(ours, expected);
    let named = reading
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let own = (expected.readings.values.is_empty() || !expected.of.is_empty())
        .then(|| expected.shown_of().to_owned());
    let selector: Vec<String> = own.into_iter().chain(named).collect();
    Comparison {
        figure: expected.figure.clone(),
        quantity: expected.shown_quantity().to_owned(),
        selector: selector.join(" "),
        expression: expected.written.clone(),
        paper: expected.value,
        simulated: ours,
        interval,
        reading: reading.iter().cloned().collect(),
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
        evidence: expected.evidence,
        verdict,
        note: expected.note.clone(),
        reason: match verdict {
            Verdict::Explained | Verdict::DoesNotHold | Verdict::Open => expected.explained.clone(),
            _ => String::new(),
        },
    }
}
