//! Comparisons as text, JSON or Markdown.

use std::fmt::Write;

use serde_json::{Value, json};

use super::comparison::{Comparison, Verdict};
use super::paper::Paper;
use crate::report::Page;
use crate::report::text_table::{self, Column};

/// What a paper comes to: how many figures were compared, and how they came out.
pub fn summary(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    let mut text = page.bold(&page.prose(&paper.citation, 0));
    let totals = page.prose(&totals(rows), 0);
    text += &match rows.iter().any(|row| row.verdict == Verdict::Outside) {
        true => page.failed(&totals),
        false => page.best(&totals),
    };
    for (reason, quantity, count) in reasons(rows) {
        text += &page.prose(&format!("{count:4} × {quantity}: {reason}"), 7);
    }
    text
}

/// As tables for the terminal, one per quantity, behind the summary.
pub fn table(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    let mut text = summary(paper, rows, page);
    for section in &sections(rows) {
        text += &page.bold(&format!("\n{}\n", title(section)));
        let fitted = text_table::fit(&columns(section), page);
        text += &page.bold(&fitted.header);
        for (row, line) in section.iter().zip(&fitted.rows) {
            text += &match row.verdict {
                Verdict::Outside => page.failed(line),
                Verdict::Explained | Verdict::DoesNotHold => page.dim(line),
                _ => line.clone(),
            };
        }
        text += &fitted.remark("", page);
    }
    text + "\n"
}

/// What the figure means, and why ours is off, or when it holds.
fn said(row: &Comparison) -> String {
    let both = [row.note.as_str(), row.reason.as_str()];
    let both = both.into_iter().filter(|said| !said.is_empty());
    both.collect::<Vec<_>>().join("; ")
}

/// Rows as they are shown: the claims, then sections of one quantity.
fn sections(rows: &[Comparison]) -> Vec<Vec<&Comparison>> {
    let claims: Vec<&Comparison> = rows
        .iter()
        .filter(|row| row.verdict.is_of_claim())
        .collect();
    let figures: Vec<&Comparison> = rows
        .iter()
        .filter(|row| !row.verdict.is_of_claim())
        .collect();
    let quantities = figures.chunk_by(|a, b| a.quantity == b.quantity);
    let all = std::iter::once(claims).chain(quantities.map(<[_]>::to_vec));
    all.filter(|section| !section.is_empty()).collect()
}

fn title(section: &[&Comparison]) -> String {
    let first = section[0];
    match first.verdict.is_of_claim() {
        true => "claims of the paper".to_owned(),
        false if first.quantity == first.figure => first.figure.clone(),
        false => format!("{} ({})", first.quantity, first.figure),
    }
}

/// Columns of characters for what a figure is of, where there is no room for all.
const OF: usize = 34;

fn columns(section: &[&Comparison]) -> Vec<Column<'static>> {
    let cells: Vec<[String; 7]> = section.iter().map(|row| cells(row)).collect();
    let cell = |at: usize| -> Vec<String> { cells.iter().map(|row| row[at].clone()).collect() };
    let mut of = Column::new("of", true, 0, cell(0));
    // Behind commas there is no space.
    let wrapped = |text: String| {
        let text = Page::of_width(OF).prose(&text.replace(',', ", "), 0);
        text.trim_end().replace(", ", ",")
    };
    of.stacked = Some(cell(0).into_iter().map(wrapped).collect());
    let column = |head, at, rank| Column::new(head, false, rank, cell(at));
    let [mut kind, mut verdict] = [column("kind", 5, 4), column("verdict", 6, 1)];
    (kind.is_text, verdict.is_text) = (true, true);
    if section.iter().all(|row| row.verdict.is_of_claim()) {
        return vec![of, column("paper", 1, 1), column("ours", 2, 1), verdict];
    }
    vec![
        of,
        column("paper", 1, 1),
        column("simulated", 2, 1),
        column("difference", 3, 1),
        column("tolerance", 4, 2),
        kind,
        verdict,
    ]
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
    for section in &sections(rows) {
        let _ = write!(
            text,
            "\n## {}\n\n| of | paper | simulated | difference | tolerance | kind | verdict | note |\n\
             |---|--:|--:|--:|--:|---|---|---|\n",
            title(section)
        );
        for row in section {
            let cells = cells(row);
            let _ = writeln!(
                text,
                "| {} | {} |",
                cells.join(" | "),
                said(row).replace('|', "\\|")
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
    let (holds, condition) = (count(Verdict::Holds), count(Verdict::HoldsOnlyIf));
    let not = count(Verdict::DoesNotHold);
    let claims = match holds + condition + not {
        0 => String::new(),
        all => {
            format!(" {all} claims: {holds} borne out, {condition} under a condition, {not} not.")
        }
    };
    format!(
        "{} figures: {} within tolerance, {} outside with a stated reason, {} outside without.{beside}{claims}",
        rows.len() - calibrated - holds - condition - not,
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

/// What a figure is of, the paper's, ours, the difference and how large it may be, kind and verdict.
fn cells(row: &Comparison) -> [String; 7] {
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
    let of = match row.verdict.is_of_claim() {
        true => format!("{}: {}", row.quantity, row.selector),
        // The name of the key says nothing that its value does not.
        false => row.selector.replace("workload=", ""),
    };
    let ours = significant(row.simulated);
    let ours = match (row.then, row.verdict) {
        (Some(then), Verdict::HoldsOnlyIf) => format!("{ours}{unit}; {}", significant(then)),
        _ => ours,
    };
    let bound = match row.bound {
        "" => String::new(),
        bound => format!("{bound} "),
    };
    let decimals = if !row.bound.is_empty() {
        2
    } else if tolerance > 0.0 {
        (1.0 - tolerance.log10().floor()).clamp(0.0, 6.0) as usize
    } else {
        0
    };
    let difference = format!("{:+.decimals$}", scale * row.difference);
    let difference = match difference.trim_start_matches(['-', '+', '0', '.']) {
        "" => difference.replace('-', "+"),
        _ => difference,
    };
    [
        of,
        format!("{bound}{}{unit}", row.paper),
        format!("{ours}{unit}"),
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
