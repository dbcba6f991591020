//! Comparisons as text, JSON or Markdown.

use std::fmt::Write;

use serde_json::{Value, json};

use super::cells::cells;
use super::claims::claims;
use super::comparison::{Comparison, Verdict};
use super::paper::Paper;
use super::tally::Tally;
use scavsim_base::text::{Column, Page, Sheet, Tone};

/// What a paper comes to: how many figures were compared, and how they came out.
pub fn summary(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    let mut text = page.bold(&page.prose(&paper.citation, 0));
    let totals = page.prose(&Tally::count([rows]).sentence(), 0);
    text += &if rows.iter().any(|row| row.verdict == Verdict::Outside) {
        page.failed(&totals)
    } else {
        page.best(&totals)
    };
    for (reason, quantity, count) in reasons(rows) {
        text += &page.prose(&format!("{count:4} × {quantity}: {reason}"), 7);
    }
    text
}

/// Tables for the terminal, one per quantity, behind the summary.
pub fn table(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    let mut text = summary(paper, rows, page);
    let claims = claims(rows);
    if !claims.is_empty() {
        text += &page.bold("\nclaims of the paper\n");
        for claim in &claims {
            text += &page.prose(&claim.sentence(), 2);
        }
    }
    for section in &sections(rows) {
        text += "\n";
        text += &page.bold(&page.prose(&title(section), 0));
        let fitted = section_sheet(section).fit(page);
        text += &fitted.text(page);
        text += &fitted.remark("", page);
    }
    if !paper.constants.is_empty() {
        text += &page.bold("\nconstants that were chosen, and the rows that they touch\n");
        for constant in &paper.constants {
            text += &page.prose(&constant.sentence().replace('`', ""), 2);
        }
    }
    text + "\n"
}

pub fn total(papers: usize, tally: &Tally, page: &Page) -> String {
    page.bold(&page.prose(&format!("{papers} papers: {}", tally.sentence()), 0))
}

/// What the figure means, and why ours is off, or when it holds.
fn note_and_reason(row: &Comparison) -> String {
    let both = [row.note.as_str(), row.reason.as_str()];
    let both = both.into_iter().filter(|said| !said.is_empty());
    both.collect::<Vec<_>>().join("; ")
}

/// Rows as they are shown: the readings of each claim, sections of one quantity, and last what is no figure of the paper.
fn sections(rows: &[Comparison]) -> Vec<Vec<&Comparison>> {
    let of_claims = claims(rows).into_iter().map(|claim| claim.rows);
    let mut figures: Vec<&Comparison> = rows
        .iter()
        .filter(|row| !row.verdict.is_of_claim())
        .collect();
    figures.sort_by_key(|row| row.is_ours());
    let quantities = figures.chunk_by(|a, b| a.quantity == b.quantity);
    of_claims.chain(quantities.map(<[_]>::to_vec)).collect()
}

fn title(section: &[&Comparison]) -> String {
    let first = section[0];
    match first.verdict.is_of_claim() {
        true => format!("readings of {} ({})", first.quantity, first.figure),
        false if first.is_ours() => format!("{} (ours, no figure of the paper)", first.quantity),
        false if first.quantity == first.figure => first.figure.clone(),
        false => format!("{} ({})", first.quantity, first.figure),
    }
}

/// Columns of characters for what a figure is of, where there is no room for all.
const OF: usize = 34;

type Row<'r> = (&'r Comparison, [String; 8]);

fn section_sheet<'r>(section: &[&'r Comparison]) -> Sheet<'r, Row<'r>> {
    let cell = |at: usize| move |(_, cells): &Row<'_>| cells[at].clone();
    let number = |head, at| Column::number(head, cell(at));
    let word = |head, at| Column::text(head, cell(at));
    // Behind commas there is no space.
    let wrapped = |(_, cells): &Row<'_>| {
        let text = Page::of_width(OF).prose(&cells[0].replace(',', ", "), 0);
        text.trim_end().replace(", ", ",")
    };
    let of = word("of", 0).stacked(wrapped);
    let columns = if section.iter().all(|row| row.verdict.is_of_claim()) {
        vec![
            of,
            number("paper", 1),
            number("ours", 2).rank(1),
            word("verdict", 7).rank(1),
        ]
    } else {
        vec![
            of,
            number("paper", 1),
            number("simulated", 2).rank(1),
            number("difference", 3).rank(1),
            number("tolerance", 4).rank(2),
            word("kind", 5).rank(4),
            word("evidence", 6).rank(3),
            word("verdict", 7).rank(1),
        ]
    };
    let rows = section.iter().map(|row| (*row, cells(row)));
    Sheet::new(rows, columns).toned(|(row, _)| match row.verdict {
        Verdict::Outside => Tone::Failed,
        Verdict::Explained | Verdict::DoesNotHold | Verdict::Open => Tone::Dim,
        _ => Tone::Plain,
    })
}

/// The comparison as JSON: the stable interface.
pub fn value(paper: &Paper, rows: &[Comparison]) -> Value {
    json!({
        "schema": 2,
        "paper": paper.name,
        "citation": paper.citation,
        "summary": Tally::count([rows]).sentence(),
        "counts": Tally::count([rows]),
        "claims": claims(rows),
        "constants": paper.constants,
        "rows": rows,
    })
}

/// The comparison as Markdown, one section per quantity.
pub fn markdown(paper: &Paper, rows: &[Comparison]) -> String {
    let mut text = format!(
        "# Reproduction: {}\n\n{}\n\n{}.\n\nMade by `scavsim reproduce {} --format markdown`; a test fails \
         when this file is stale. A verdict of `explained` is a figure outside its tolerance with \
         a stated reason; {}. What `evidence` means stands in [docs/reproduce.md](../docs/reproduce.md#evidence).\n",
        paper.name,
        Tally::count([rows]).sentence(),
        paper.citation,
        paper.name,
        paper.tolerances,
    );
    let claims = claims(rows);
    if !claims.is_empty() {
        text += "\n## Claims of the paper\n\n";
        for claim in &claims {
            let _ = writeln!(text, "- {}", claim.sentence());
        }
    }
    for section in &sections(rows) {
        let _ = write!(
            text,
            "\n## {}\n\n| of | paper | simulated | difference | tolerance | kind | evidence | verdict | note |\n\
             |---|--:|--:|--:|--:|---|---|---|---|\n",
            title(section)
        );
        for row in section {
            let cells = cells(row);
            let _ = writeln!(
                text,
                "| {} | {} |",
                cells.join(" | "),
                note_and_reason(row).replace('|', "\\|")
            );
        }
    }
    if !paper.constants.is_empty() {
        text += "\n## Constants that were chosen, and the rows that they touch\n\n";
        for constant in &paper.constants {
            let _ = writeln!(text, "- {}", constant.sentence());
        }
    }
    text
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
