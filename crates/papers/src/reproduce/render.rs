//! Comparisons as text, JSON or Markdown.

use std::fmt::Write;

use serde_json::{Value, json};

use super::cells::cells;
use super::claims::claims;
use super::comparison::{Comparison, Verdict};
use super::paper::Paper;
use super::tally::Tally;
use scavsim_base::text::{Column, EXPLAIN, Page, Sheet, Tone};

/// The summary of a paper: the number of figures, their verdicts, and why some differ.
pub fn summary(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    answer(paper, rows, page) + &reasons_text(rows, page)
}

fn answer(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    let totals = page.prose(&Tally::count([rows]).sentence(), 0);
    let totals = if rows.iter().any(|row| row.verdict == Verdict::Outside) {
        page.failed(&totals)
    } else {
        page.best(&totals)
    };
    page.bold(&page.prose(&paper.citation, 0)) + &totals
}

fn reasons_text(rows: &[Comparison], page: &Page) -> String {
    let line = |(reason, quantity, count): (&str, &str, usize)| {
        page.prose(&format!("{count:4} × {quantity}: {reason}"), 7)
    };
    reasons(rows).into_iter().map(line).collect()
}

/// A line per quantity and claim, the figures outside their tolerance without a reason, and last the summary of the paper.
pub fn overview(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    let mut sections: Vec<Vec<&Comparison>> = Vec::new();
    for section in self::sections(rows) {
        let is_same = |known: &&mut Vec<&Comparison>| title(known) == title(&section);
        match sections.iter_mut().find(is_same) {
            Some(known) => known.extend(section),
            None => sections.push(section),
        }
    }
    let mut text = overview_sheet(&sections).fit(page).text(page);
    for section in &sections {
        let off = section.iter().copied();
        let off: Vec<_> = off.filter(|row| row.verdict == Verdict::Outside).collect();
        if !off.is_empty() {
            text += &format!("\n{}", section_text(&off, page));
        }
    }
    let reasons = reasons_text(rows, page);
    if !reasons.is_empty() {
        text += &format!("\n{reasons}");
    }
    text + "\n"
        + &answer(paper, rows, page)
        + &page.dim("`--all` shows every figure and constant\n")
}

fn overview_sheet<'s>(sections: &'s [Vec<&Comparison>]) -> Sheet<'s, &'s Vec<&'s Comparison>> {
    type Section<'s> = &'s Vec<&'s Comparison>;
    let count = |head, is_counted: fn(Verdict) -> bool| {
        Column::number(head, move |section: &Section<'_>| {
            let rows = section.iter().filter(|row| is_counted(row.verdict));
            rows.count().to_string()
        })
    };
    let largest = |section: &Section<'_>| {
        let share = |row: &Comparison| row.difference.abs() / row.tolerance.max(1e-12);
        let figures = section.iter().filter(|row| !row.verdict.is_of_claim());
        let most = figures.max_by(|a, b| share(a).total_cmp(&share(b)));
        most.map_or_else(String::new, |row| cells(row)[3].clone())
    };
    let columns = [
        Column::text("of", |section: &Section<'_>| title(section)).stacked(|section| {
            let text = Page::of_width(OF).prose(&title(section), 0);
            text.trim_end().to_owned()
        }),
        Column::number("figures", |section: &Section<'_>| section.len().to_string()).rank(0),
        count("within", |verdict| {
            matches!(verdict, Verdict::Ok | Verdict::Calibrated | Verdict::Holds)
        })
        .rank(0),
        count("explained", |verdict| {
            matches!(verdict, Verdict::Explained | Verdict::Open)
        })
        .rank(1),
        count("outside", |verdict| {
            matches!(verdict, Verdict::Outside | Verdict::DoesNotHold)
        })
        .rank(0),
        Column::number("difference", largest).rank(2),
    ];
    Sheet::new(sections, columns)
}

/// Tables for the terminal, one per quantity, and last the summary of the paper.
pub fn table(paper: &Paper, rows: &[Comparison], page: &Page) -> String {
    let mut text = String::new();
    let claims = claims(rows);
    if !claims.is_empty() {
        text += &page.bold("claims of the paper\n");
        for claim in &claims {
            text += &page.prose(&claim.sentence(), 2);
        }
        text += "\n";
    }
    for section in &sections(rows) {
        text += &section_text(section, page);
        text += "\n";
    }
    if !paper.constants.is_empty() {
        text += &page.bold("constants that were chosen, and the rows that they touch\n");
        for constant in &paper.constants {
            text += &page.prose(&constant.sentence().replace('`', ""), 2);
        }
        text += "\n";
    }
    let reasons = reasons_text(rows, page);
    if !reasons.is_empty() {
        text += &format!("{reasons}\n");
    }
    text + &answer(paper, rows, page) + &page.dim(EXPLAIN)
}

fn section_text(section: &[&Comparison], page: &Page) -> String {
    let fitted = section_sheet(section).fit(page);
    page.bold(&page.prose(&title(section), 0)) + &fitted.text(page) + &fitted.remark("", page)
}

/// A figure under a change, and ours without it.
struct ChangedFigure<'r> {
    change: &'r str,
    base: &'r Comparison,
    new: &'r Comparison,
}

fn figure_of(row: &Comparison) -> String {
    format!("{}, {}", row.quantity, cells(row)[0])
}

/// The effect of changes on a paper's figures: those that differ from `base`, a row for each change.
pub fn what_if(base: &[Comparison], changed: &[(String, Vec<Comparison>)], page: &Page) -> String {
    type ChangedFigureRow<'r> = ChangedFigure<'r>;
    let mut rows: Vec<ChangedFigureRow<'_>> = Vec::new();
    for (at, base) in base.iter().enumerate() {
        rows.extend(changed.iter().filter_map(|(change, rows)| {
            let new = rows.get(at)?;
            (new.simulated != base.simulated).then_some(ChangedFigure { change, base, new })
        }));
    }
    let part = |new: bool, at: usize| {
        move |row: &ChangedFigureRow<'_>| cells(if new { row.new } else { row.base })[at].clone()
    };
    let more = |row: &ChangedFigureRow<'_>| {
        let share = row.new.simulated / row.base.simulated - 1.0;
        format!("{:+.1} %", 100.0 * share)
    };
    let columns = [
        Column::text("figure", |row: &ChangedFigureRow<'_>| figure_of(row.base)).stacked(|row| {
            let text = Page::of_width(OF).prose(&figure_of(row.base), 0);
            text.trim_end().to_owned()
        }),
        Column::text("what if", |row: &ChangedFigureRow<'_>| {
            row.change.to_owned()
        })
        .rank(0),
        Column::number("paper", part(false, 1)).rank(2),
        Column::number("base", part(false, 2)).rank(0),
        Column::number("new", part(true, 2)).rank(0),
        Column::number("more", more).rank(1),
    ];
    let count = rows.len();
    let table = Sheet::new(rows, columns).fit(page).text(page);
    let of = base.len() * changed.len();
    table + &page.prose(&format!("{count} of {of} figures change."), 0)
}

pub fn total(papers: usize, tally: &Tally, page: &Page) -> String {
    page.bold(&page.prose(&format!("{papers} papers: {}", tally.sentence()), 0))
}

/// The meaning of the figure, and why ours differs, or when it holds.
fn note_and_reason(row: &Comparison) -> String {
    let both = [row.note.as_str(), row.reason.as_str()];
    let both = both.into_iter().filter(|said| !said.is_empty());
    both.collect::<Vec<_>>().join("; ")
}

/// Rows as they are shown: the readings of each claim, sections of one quantity, and last those that are no figures of the paper.
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
        true => format!("claim {} ({})", first.quantity, first.figure),
        false if first.is_ours() => format!("{} (ours, no figure of the paper)", first.quantity),
        false if first.quantity == first.figure => first.figure.clone(),
        false => format!("{} ({})", first.quantity, first.figure),
    }
}

/// Width of the object of a figure, if not all fits.
const OF: usize = 34;

type Row<'r> = (&'r Comparison, [String; 8]);

fn section_sheet<'r>(section: &[&'r Comparison]) -> Sheet<'r, Row<'r>> {
    let cell = |at: usize| move |(_, cells): &Row<'_>| cells[at].clone();
    let number = |head, at| Column::number(head, cell(at));
    let word = |head, at| Column::text(head, cell(at));
    // There is no space after commas.
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
         a stated reason; {}. [docs/reproduce.md](../docs/reproduce.md#evidence) says what `evidence` means.\n",
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

/// The reasons of all rows outside their tolerance, each once, with quantity and number.
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
