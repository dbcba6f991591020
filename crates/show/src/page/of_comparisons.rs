//! The page of a reproduction: published figures beside ours.

use super::contents::{Contents, Fact};
use super::sources::Source;
use super::tables::Table;
use crate::figure::style::{BLACK, Dash, Marker};
use crate::figure::{Axis, Figure, Mark, Panel, Scale, Series, Shape, Style};
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_papers::reproduce::claims::{Claim, claims};
use scavsim_papers::reproduce::constants::{Constant, Touched};
use scavsim_papers::reproduce::{Comparison, Paper, Tally, Verdict};

/// Verdicts of figures in the order of their seriousness.
const VERDICTS: [Verdict; 4] = [
    Verdict::Ok,
    Verdict::Calibrated,
    Verdict::Explained,
    Verdict::Outside,
];

/// The page of one paper.
pub fn contents(paper: &Paper, rows: &[Comparison]) -> Contents {
    let mut reasons: Vec<&str> = rows.iter().map(|row| row.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let reasons = reasons.into_iter().filter(|reason| !reason.is_empty());
    let fact = |name: &str, value: &str| Fact {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    Contents {
        title: format!("{}: published figures beside ours", paper.name),
        facts: vec![
            fact("paper", &paper.name),
            fact("scavsim", env!("CARGO_PKG_VERSION")),
            fact("figures", &rows.len().to_string()),
            fact("tolerances", &paper.tolerances),
        ],
        sources: vec![Source {
            name: paper.name.clone(),
            what: "published figures".to_owned(),
            from: paper.citation.clone(),
            licence: String::new(),
            hash: String::new(),
        }],
        headlines: std::iter::once(Tally::count(rows).sentence())
            .chain(claims(rows).iter().map(Claim::sentence))
            .collect(),
        warnings: reasons
            .map(|reason| format!("Off for a stated reason: {reason}"))
            .collect(),
        figures: vec![super::contents::drawn(&figure(paper, rows))],
        missing: Vec::new(),
        tables: vec![table(rows), constants(paper)],
        details: "{}".to_owned(),
    }
}

fn figure(paper: &Paper, rows: &[Comparison]) -> Figure {
    let mut series = Vec::new();
    let ends = [0.0, rows.len() as f64 + 1.0];
    let zero = Shape::Line(vec![[ends[0], 0.0], [ends[1], 0.0]]);
    series.push(Series::new(
        "as published",
        Style::plain(BLACK).dashed(Dash::Dashed),
        zero,
    ));
    for (n, verdict) in VERDICTS.into_iter().enumerate() {
        let own = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.verdict == verdict);
        let marks: Vec<Mark> = own
            .filter(|(_, row)| row.relative)
            .map(|(at, row)| {
                let name = format!("{} {}", row.quantity, row.selector);
                Mark::new([(at + 1) as f64, 100.0 * row.difference], name)
            })
            .collect();
        if !marks.is_empty() {
            let markers = [
                Marker::Circle,
                Marker::Square,
                Marker::Triangle,
                Marker::Cross,
            ];
            let style = Style::nth(n).marked(markers[n], 3);
            series.push(Series::new(verdict.name(), style, Shape::Marks(marks)));
        }
    }
    Figure {
        name: format!("differences-{}", paper.name),
        title: format!("{}: how far ours are off", paper.name),
        alt: format!(
            "Differences of {} figures from the published ones in percent, in the order of the table.",
            rows.len()
        ),
        note: "Figures with a relative tolerance, in the order of the table.".to_owned(),
        columns: 1,
        size: [900.0, 320.0],
        panels: vec![Panel {
            title: String::new(),
            x: Axis::new("row of the table", "number", Scale::Linear),
            y: Axis::new("difference from the published figure", "%", Scale::Linear),
            series,
        }],
    }
}

fn table(rows: &[Comparison]) -> Table {
    fn word<'r>(head: &'static str, of: fn(&Comparison) -> &str) -> Column<'r, &'r Comparison> {
        Column::word(head, move |row: &&Comparison| of(row))
    }
    let number = |head, of: fn(&Comparison) -> f64| {
        Column::number(head, move |row: &&Comparison| {
            Cell::number(Some(of(row)), 4)
        })
    };
    let difference = |row: &&Comparison| {
        if row.relative {
            Cell::number(Some(100.0 * row.difference), 2)
        } else {
            Cell::number(Some(row.difference), 4)
        }
    };
    let columns = [
        word("where", |row| &row.figure),
        word("quantity", |row| &row.quantity),
        word("of", |row| &row.selector),
        number("paper", |row| row.paper),
        number("simulated", |row| row.simulated),
        word("unit", |row| &row.unit),
        Column::number("difference", difference),
        word("in", |row| if row.relative { "%" } else { "absolute" }),
        word("evidence", |row| row.evidence.name()),
        word("verdict", |row| row.verdict.name()),
        word("note", |row| &row.note),
    ];
    let note = "Published and simulated.".to_owned();
    Table::of("comparisons", "Figures", note, &Sheet::new(rows, columns))
}

/// What was chosen, and the rows that it touches.
fn constants(paper: &Paper) -> Table {
    let patterns = |all: &[Touched]| {
        let each: Vec<&str> = all.iter().map(|one| one.pattern.as_str()).collect();
        each.join("; ")
    };
    let columns = [
        Column::text("constant", |constant: &&Constant| constant.name.clone()),
        Column::text("value", |constant: &&Constant| constant.shown()),
        Column::text("chosen", |constant: &&Constant| constant.chosen.clone()),
        Column::text("on", move |constant: &&Constant| patterns(&constant.on)),
        Column::text("touches", move |constant: &&Constant| {
            patterns(&constant.touches)
        }),
    ];
    let note =
        "What was chosen, the rows that it was chosen on, and those that it touches besides.";
    let sheet = Sheet::new(&paper.constants, columns);
    Table::of("constants", "Constants", note.to_owned(), &sheet)
}
