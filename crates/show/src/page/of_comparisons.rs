//! The page of a reproduction: published figures compared with ours.

use super::answer::{Answer, CardLine, HeadlineValue};
use super::contents::{Contents, Fact, Picker};
use super::picture::{Layer, Picture, PictureAxis};
use super::sources::Source;
use super::table::Table;
use crate::figure::material::distinct;
use scavsim_base::text::words::plural;
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_papers::reproduce::claims::{Claim, claims};
use scavsim_papers::reproduce::constants::{AffectedRows, Constant};
use scavsim_papers::reproduce::evidence::Evidence;
use scavsim_papers::reproduce::{Comparison, Paper, Tally};

pub fn contents(paper: &Paper, rows: &[Comparison]) -> Contents {
    let mut reasons: Vec<&str> = rows.iter().map(|row| row.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let reasons = reasons.into_iter().filter(|reason| !reason.is_empty());
    let verdicts = distinct(rows.iter().map(|row| row.verdict.name()));
    let places = distinct(rows.iter().map(|row| &*row.figure));
    let pickers = [
        Picker::among("where", "where", &places).map(Picker::or_all),
        Picker::among("verdict", "verdict", &verdicts).map(Picker::or_all),
    ];
    Contents {
        title: format!("{}: published figures beside ours", paper.name),
        about: vec![plural(rows.len() as u64, "figure")],
        pickers: pickers.into_iter().flatten().collect(),
        answers: vec![answer(rows)],
        picture: Some(picture()),
        tables: [table(rows)]
            .into_iter()
            .chain(claims_table(rows))
            .chain([constants(paper).closed()])
            .collect(),
        caveats: reasons
            .map(|reason| format!("Off for a stated reason: {reason}"))
            .collect(),
        facts: vec![
            Fact::new("paper", &*paper.name),
            Fact::new("scavsim", env!("CARGO_PKG_VERSION")),
            Fact::new("figures", rows.len().to_string()),
            Fact::new("tolerances", &*paper.tolerances),
        ],
        sources: vec![Source {
            name: paper.name.clone(),
            what: "published figures".to_owned(),
            from: paper.citation.clone(),
            licence: String::new(),
            hash: String::new(),
        }],
    }
}

/// The number of predictions within tolerance, and the verdicts on the claims.
fn answer(rows: &[Comparison]) -> Answer {
    let tally = Tally::count([rows]);
    let predictions = tally.counts_of(Evidence::Prediction);
    let lines = vec![CardLine::new("In full", tally.sentence())];
    let (what, detail) = match predictions.rows {
        0 => ("No figure is a prediction".to_owned(), String::new()),
        rows => (
            format!("{} of {rows} predictions", predictions.within),
            "within their tolerance".to_owned(),
        ),
    };
    Answer {
        lead: "Reproduced".to_owned(),
        what,
        detail,
        figures: vec![
            HeadlineValue::new(
                predictions.explained.to_string(),
                "outside, with a stated reason",
            ),
            HeadlineValue::new(predictions.outside.to_string(), "outside, nobody knows why"),
        ],
        lines,
        ..Answer::default()
    }
}

/// The deviation of every figure with a relative tolerance.
fn picture() -> Picture {
    Picture {
        title: "How far ours are off".to_owned(),
        note: "Figures with a relative tolerance, in the order of the table. Filled: within it."
            .to_owned(),
        x: PictureAxis {
            name: "row of the table",
            unit: "",
            has_logarithm: false,
        },
        y: PictureAxis {
            name: "difference from the published figure",
            unit: "%",
            has_logarithm: false,
        },
        over: "",
        layers: vec![Layer {
            table: "comparisons",
            label: "published figure",
            x: "row",
            y: "difference, %",
            name: "quantity",
            filled: Some("verdict"),
            hollow: "outside its tolerance",
            ..Layer::default()
        }],
    }
}

fn table(rows: &[Comparison]) -> Table {
    type ComparisonRow<'r> = (usize, &'r Comparison);
    fn word<'r>(head: &'static str, of: fn(&Comparison) -> &str) -> Column<'r, ComparisonRow<'r>> {
        Column::word(head, move |(_, row): &ComparisonRow<'r>| of(row))
    }
    let number = |head, of: fn(&Comparison) -> f64| {
        Column::number(head, move |(_, row): &ComparisonRow<'_>| {
            Cell::number(Some(of(row)), 4)
        })
    };
    let columns = [
        Column::number("row", |(at, _): &ComparisonRow<'_>| {
            Cell::number(Some(*at as f64 + 1.0), 0)
        }),
        word("where", |row| &row.figure),
        word("quantity", |row| &row.quantity),
        word("of", |row| &row.selector),
        number("paper", |row| row.paper),
        number("simulated", |row| row.simulated),
        word("unit", |row| &row.unit),
        Column::number("difference, %", |(_, row): &ComparisonRow<'_>| {
            Cell::number(row.relative.then_some(100.0 * row.difference), 2)
        }),
        Column::number("absolute difference", |(_, row): &ComparisonRow<'_>| {
            Cell::number((!row.relative).then_some(row.difference), 4)
        }),
        word("evidence", |row| row.evidence.name()),
        word("verdict", |row| row.verdict.name()),
        word("note", |row| &row.note),
    ];
    let note = "Published and simulated.";
    let sheet = Sheet::new(rows.iter().enumerate(), columns);
    Table::from_sheet("comparisons", "Figures", note, &sheet).with_more(&[
        "absolute difference",
        "note",
        "evidence",
    ])
}

/// The paper's claims, with the number of readings in which each holds; `None` without claims.
fn claims_table(rows: &[Comparison]) -> Option<Table> {
    let all = claims(rows);
    let columns = [
        Column::text("claim", |claim: &Claim<'_>| claim.claim.to_owned()),
        Column::text("stated in", |claim: &Claim<'_>| claim.source.to_owned()),
        Column::text("verdict", |claim: &Claim<'_>| claim.verdict.clone()),
        Column::text("in full", |claim: &Claim<'_>| claim.sentence()),
    ];
    let note = "What the words of the paper leave open is read in every way.";
    let sheet = Sheet::new(all, columns);
    let table = Table::from_sheet("claims", "Claims", note, &sheet).with_more(&["in full"]);
    (!table.rows.is_empty()).then_some(table)
}

fn constants(paper: &Paper) -> Table {
    let patterns = |all: &[AffectedRows]| {
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
    Table::from_sheet("constants", "Constants", note, &sheet)
}
