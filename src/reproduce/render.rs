//! Comparisons as text, JSON or Markdown.

use std::fmt::Write;

use serde_json::{Value, json};

use super::comparison::{Comparison, Verdict};
use super::paper::Paper;
use crate::report::text_table;

const HEADER: [&str; 9] = [
    "figure",
    "quantity",
    "of",
    "paper",
    "simulated",
    "difference",
    "tolerance",
    "kind",
    "verdict",
];

/// As a table for the terminal; reasons below.
pub fn table(paper: &Paper, rows: &[Comparison]) -> String {
    let mut text = format!("{}\n\n", paper.citation);
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    text.push_str(&text_table::render(&HEADER, &[0, 1, 2, 7, 8], &cells));
    let _ = writeln!(text, "\n{}", totals(rows));
    for (reason, quantity, count) in reasons(rows) {
        let _ = writeln!(text, "{count:4} × {quantity}: {reason}");
    }
    text
}

/// As JSON: the stable interface.
pub fn value(paper: &Paper, rows: &[Comparison]) -> Value {
    json!({ "schema": 1, "paper": paper.name, "citation": paper.citation, "rows": rows })
}

/// As Markdown, one section per quantity.
pub fn markdown(paper: &Paper, rows: &[Comparison]) -> String {
    let mut text = format!(
        "# Reproduction: {}\n\n{}.\n\nMade by `scavsim reproduce {} --format markdown`; a test fails \
         when this file is stale. A verdict of `explained` is a figure outside its tolerance with \
         a stated reason; {}.\n\n{}\n",
        paper.name,
        paper.citation,
        paper.name,
        paper.tolerances,
        totals(rows)
    );
    for section in rows.chunk_by(|a, b| a.quantity == b.quantity) {
        let _ = write!(
            text,
            "\n## {} ({})\n\n| of | paper | simulated | difference | tolerance | kind | verdict | note |\n\
             |---|--:|--:|--:|--:|---|---|---|\n",
            section[0].quantity, section[0].figure
        );
        for row in section {
            let cells = cells(row);
            let _ = writeln!(
                text,
                "| {} | {} |",
                cells[2..].join(" | "),
                format!("{} {}", row.note, row.reason)
                    .trim()
                    .replace('|', "\\|")
            );
        }
    }
    text
}

fn totals(rows: &[Comparison]) -> String {
    let count = |verdict| rows.iter().filter(|r| r.verdict == verdict).count();
    let calibrated = count(Verdict::Calibrated);
    let beside = match calibrated {
        0 => String::new(),
        _ => format!(" Besides, {calibrated} that the parameters were calibrated on."),
    };
    format!(
        "{} figures: {} within tolerance, {} outside with a stated reason, {} outside without.{beside}",
        rows.len() - calibrated,
        count(Verdict::Ok),
        count(Verdict::Explained),
        count(Verdict::Outside)
    )
}

/// The reasons of all rows outside their tolerance, each once, with quantity and how often.
fn reasons(rows: &[Comparison]) -> Vec<(&str, &str, usize)> {
    let mut reasons: Vec<(&str, &str, usize)> = Vec::new();
    let off = |r: &&Comparison| matches!(r.verdict, Verdict::Explained | Verdict::Outside);
    for row in rows.iter().filter(off) {
        let reason = match row.reason.as_str() {
            "" => "no reason is known",
            reason => reason,
        };
        match reasons
            .iter_mut()
            .find(|r| (r.0, r.1) == (reason, row.quantity.as_str()))
        {
            Some((_, _, count)) => *count += 1,
            None => reasons.push((reason, &row.quantity, 1)),
        }
    }
    reasons
}

fn cells(row: &Comparison) -> Vec<String> {
    let unit = match row.unit.as_str() {
        "1" => String::new(),
        unit => format!(" {unit}"),
    };
    // A difference of percentages is in percentage points.
    let (scale, of_difference) = match (row.relative, row.unit.as_str()) {
        (true, _) => (100.0, " %"),
        (false, "%") => (1.0, " pp"),
        (false, _) => (1.0, unit.as_str()),
    };
    let tolerance = scale * row.tolerance;
    let decimals = if tolerance > 0.0 {
        (1.0 - tolerance.log10().floor()).clamp(0.0, 6.0) as usize
    } else {
        0
    };
    let difference = format!("{:+.decimals$}", scale * row.difference);
    let difference = match difference.trim_start_matches(['-', '+', '0', '.']) {
        "" => difference.replace('-', "+"),
        _ => difference,
    };
    vec![
        row.figure.clone(),
        row.quantity.clone(),
        // The name of the key says nothing that its value does not.
        row.selector.replace("workload=", ""),
        format!("{}{unit}", row.paper),
        format!("{}{unit}", significant(row.simulated)),
        format!("{difference}{of_difference}"),
        format!("±{}{of_difference}", significant(tolerance)),
        row.kind.clone(),
        row.verdict.name().to_owned(),
    ]
}

/// Four significant digits, at least as far as whole numbers, at most six decimals.
fn significant(value: f64) -> String {
    let magnitude = value.abs().max(1e-3).log10().floor() as i32;
    let decimals = (3 - magnitude).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn four_significant_digits() {
        for (value, text) in [
            (12.3999, "12.4"),
            (0.54781, "0.5478"),
            (139.91, "139.9"),
            (-0.00000001, "0"),
            (20.0, "20"),
            (0.00005, "0.00005"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
