use std::sync::Arc;

use csv::{ReaderBuilder, StringRecord, Trim};

use super::scan::{self, RawRecord};
use crate::input::name::is_unseen;
use crate::input::words::{listed, shown};
use crate::input::{Diagnostic, Diagnostics, Source, did_you_mean};

/// Maximum number of columns in a table of measurements.
const MOST_COLUMNS: usize = 1000;

/// A table whose columns and rows have the right shape; its cells are not checked yet.
#[derive(Debug, Clone)]
pub struct Table {
    pub(super) source: Arc<Source>,
    /// The delimiter of cells; if it is not a comma, numbers may have a decimal comma.
    pub(super) delimiter: u8,
    pub(super) columns: StringRecord,
    pub(super) rows: Vec<StringRecord>,
}

impl Table {
    /// Reads a table that must have all `required` columns (otherwise there is none) and may have `optional` ones. Reports
    /// missing, unknown and repeated columns, rows of the wrong length (left out) and invisible characters.
    pub fn read(
        source: &Arc<Source>,
        required: &[&str],
        optional: &[&str],
        diagnostics: &mut Diagnostics,
    ) -> Option<Table> {
        let delimiter = delimiter(&source.text);
        let mut records = records(source, delimiter, diagnostics).into_iter();
        let legal: Vec<&str> = required.iter().chain(optional).copied().collect();
        let Some(columns) = records.next() else {
            diagnostics.push(
                Diagnostic::at_span(
                    source,
                    0..0,
                    "the table is empty",
                    "expected a row of column names",
                )
                .with_help(format!("columns: {}", listed(legal))),
            );
            return None;
        };
        let header = raw(source, &columns, delimiter);
        if columns.len() > MOST_COLUMNS {
            let title = format!("the table has {} columns", columns.len());
            let label = format!("expected at most {MOST_COLUMNS}");
            diagnostics.error_at(source, header.line, title, label);
            return None;
        }
        let has_all = check_required(source, &columns, &header, required, diagnostics);
        let is_other = !has_all && !columns.iter().any(|name| legal.contains(&name));
        check_names(source, &columns, &header, (&legal, is_other), diagnostics);
        let is_complete =
            has_all && is_all_seen(source, &columns, &columns, delimiter, diagnostics);
        if records.len() == 0 {
            diagnostics.error_at(
                source,
                header.line,
                "the table has no rows",
                "nothing follows",
            );
        }
        let rows = records
            .filter(|row| {
                has_right_length(source, row, &columns, delimiter, diagnostics)
                    && is_all_seen(source, row, &columns, delimiter, diagnostics)
            })
            .collect();
        is_complete.then(|| Table {
            source: Arc::clone(source),
            delimiter,
            columns,
            rows,
        })
    }

    /// Reads a table of any columns. Unnamed and repeated ones, and rows of the wrong length (left out), are reported.
    pub fn read_any(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Table> {
        let all = records(source, delimiter(&source.text), &mut Diagnostics::default());
        let names: Vec<String> = (all.first())
            .map(|header| header.iter().map(str::to_owned).collect())
            .unwrap_or_default();
        let all: Vec<&str> = (names.iter().map(String::as_str))
            .filter(|name| !name.is_empty())
            .collect();
        Table::read(source, &[], &all, diagnostics)
    }

    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter()
    }

    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

pub(super) fn raw(source: &Source, record: &StringRecord, delimiter: u8) -> RawRecord {
    let from = record.position().map_or(0, csv::Position::byte);
    scan::record(
        &source.text,
        usize::try_from(from).unwrap_or(usize::MAX),
        delimiter,
    )
}

/// The records of a text with their places, unless it is broken, and the delimiter of its cells.
pub(crate) fn whole_records(source: &Arc<Source>) -> Option<(Vec<StringRecord>, u8)> {
    let wrong = &mut Diagnostics::default();
    let delimiter = delimiter(&source.text);
    let records = records(source, delimiter, wrong);
    wrong.is_empty().then_some((records, delimiter))
}

/// The delimiter: commas, unless the first line has only semicolons or tabulators, as where commas are decimal.
fn delimiter(text: &str) -> u8 {
    let header = (text.lines()).find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let has = |c: char| header.is_some_and(|line| line.contains(c));
    match (has(','), has(';'), has('\t')) {
        (true, ..) => b',',
        (_, true, _) => b';',
        (.., true) => b'\t',
        _ => b',',
    }
}

fn records(
    source: &Arc<Source>,
    delimiter: u8,
    diagnostics: &mut Diagnostics,
) -> Vec<StringRecord> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(source.text.as_bytes());
    let mut records = Vec::new();
    for record in reader.records() {
        match record {
            Ok(record) if is_blank(source, &record, delimiter) => {}
            Ok(record) => records.push(record),
            Err(error) => {
                let title = format!("cannot read {}: {error}", source.name);
                diagnostics.push(Diagnostic::general(title));
                break;
            }
        }
    }
    // An open quote includes all later text, so it can only be in the last record.
    if let Some(quote) = records
        .last()
        .and_then(|last| raw(source, last, delimiter).open_quote)
    {
        let label = "everything after this is taken for one cell";
        diagnostics.error_at(
            source,
            quote..quote + 1,
            "this quote is never closed",
            label,
        );
        records.pop();
    }
    records
}

/// A line of blanks, or the `csv` crate's record for a comment at the end of the text.
fn is_blank(source: &Source, record: &StringRecord, delimiter: u8) -> bool {
    // A quoted empty cell is no blank line.
    let is_unwritten = || {
        let line = source.text.get(raw(source, record, delimiter).line);
        line.is_none_or(|line| line.trim().is_empty())
    };
    record.len() == 1 && record.iter().all(str::is_empty) && is_unwritten()
}

/// Reports columns that are repeated, nameless or unknown; if none is legal, unknown ones only if they resemble a legal one.
fn check_names(
    source: &Arc<Source>,
    columns: &StringRecord,
    header: &RawRecord,
    (legal, is_other): (&[&str], bool),
    diagnostics: &mut Diagnostics,
) {
    let unknown = "no such column here";
    for (index, (name, span)) in columns.iter().zip(&header.cells).enumerate() {
        let is_repeated = columns.iter().take(index).any(|before| before == name);
        let (title, label) = if name.is_empty() {
            (format!("column {} has no name", index + 1), String::new())
        } else if is_repeated {
            let title = format!("duplicate column `{}`", shown(name));
            (title, "named before".to_owned())
        } else if !legal.contains(&name) {
            let label = did_you_mean(name, legal.iter().copied(), unknown);
            if is_other && label == unknown {
                continue;
            }
            (format!("unknown column `{}`", shown(name)), label)
        } else {
            continue;
        };
        let help = format!("columns: {}", listed(legal.iter().copied()));
        diagnostics.push(Diagnostic::at_span(source, span.clone(), title, label).with_help(help));
    }
}

fn check_required(
    source: &Arc<Source>,
    columns: &StringRecord,
    header: &RawRecord,
    required: &[&str],
    diagnostics: &mut Diagnostics,
) -> bool {
    let missing: Vec<&str> = required
        .iter()
        .copied()
        .filter(|name| !columns.iter().any(|column| column == *name))
        .collect();
    if missing.is_empty() {
        return true;
    }
    let s = if missing.len() == 1 { "" } else { "s" };
    let title = format!("missing column{s} {}", listed(missing));
    let help = format!(
        "every table of this kind needs: {}",
        listed(required.iter().copied())
    );
    let label = "the columns of this table";
    let line = header.line.clone();
    diagnostics.push(Diagnostic::at_span(source, line, title, label).with_help(help));
    false
}

fn has_right_length(
    source: &Arc<Source>,
    row: &StringRecord,
    columns: &StringRecord,
    delimiter: u8,
    diagnostics: &mut Diagnostics,
) -> bool {
    let (found, expected) = (row.len(), columns.len());
    if found != expected {
        let title = format!("expected {expected} cells in this row, found {found}");
        let mut help = format!("the columns are {}", shown_names(columns));
        if delimiter == b',' && found > expected {
            help += "; if commas are decimal here, put semicolons between cells, in all rows";
        }
        let line = raw(source, row, delimiter).line;
        let complaint = Diagnostic::at_span(source, line, title, format!("{found} cells"));
        diagnostics.push(complaint.with_help(help));
    }
    found == expected
}

fn is_all_seen(
    source: &Arc<Source>,
    row: &StringRecord,
    columns: &StringRecord,
    delimiter: u8,
    diagnostics: &mut Diagnostics,
) -> bool {
    // All cells at once: tables of prices have very many.
    let all = row.as_slice();
    let is_plain = all.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain || !all.contains(is_unseen) {
        return true;
    }
    let places = raw(source, row, delimiter).cells;
    let cells = row.iter().zip(columns).zip(places);
    for ((cell, column), place) in cells.filter(|((cell, _), _)| cell.contains(is_unseen)) {
        let legal = "expected a text without control characters";
        let title = format!("`{}`: {legal}, found `{}`", shown(column), shown(cell));
        diagnostics.push(Diagnostic::unseen(source, place, title));
    }
    false
}

fn shown_names(columns: &StringRecord) -> String {
    let names: Vec<String> = columns.iter().map(shown).collect();
    listed(names.iter().map(String::as_str))
}
