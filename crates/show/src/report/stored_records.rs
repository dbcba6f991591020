//! The records of a finished run in any format, in order.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use csv::StringRecord;
use serde_json::{Map, Value};

use super::csv_rows::CsvRows;
use super::manifest::{self, Identity};
use super::row_hashes::{AlteredRows, Check};
use super::row_reader::RowReader;
use super::stored_rows::{StoredRows, invalid};
use super::{records_csv, records_jsonl};
use scavsim_experiment::{Record, RecordColumns, Sink};
use scavsim_read::input::regular;

/// Passes the records in `folder` to `sink`, from the first of CSV, JSON lines and Parquet, and checks that the run of
/// `manifest` wrote them. Fails for missing, damaged, unordered or [`AlteredRows`] records, and with the sink.
pub fn hand_out(folder: &Path, manifest: &Identity, sink: &mut dyn Sink) -> io::Result<()> {
    type Reader = fn(&Path, &RecordColumns, &mut RecordOrderCheck<'_>) -> io::Result<()>;
    let columns = manifest::columns(manifest);
    let whole = columns.with_all();
    let forms: &[(&str, Reader, u64)] = &[
        (records_csv::FILE, csv_rows, 1),
        (records_jsonl::FILE, json_lines, 0),
        #[cfg(feature = "parquet")]
        (
            super::records_parquet::FILE,
            |path, columns, seen| {
                super::records_parquet::read(path, columns.axes(), &mut |row| seen.push_row(row))
            },
            0,
        ),
    ];
    for (name, read, lines_before) in forms {
        let path = folder.join(name);
        if path.exists() {
            let check = Check::from_manifest(manifest, *lines_before).ok_or_else(|| {
                AlteredRows(format!("{} has no hashes of the records", manifest::FILE))
            })?;
            let mut seen = RecordOrderCheck {
                sink,
                cases: 0,
                check,
                rows: CsvRows::new(&Arc::new(columns.clone())),
                left_out: columns.left_out(),
                reader: RowReader::new(whole.clone()),
            };
            let read = read(&path, &columns, &mut seen).and_then(|()| seen.end());
            return read.map_err(|error| {
                use io::ErrorKind::{InvalidData, Other, UnexpectedEof};
                let named = AlteredRows::named(&path, error);
                match named.kind() {
                    // For any error kind of the reader.
                    InvalidData | Other | UnexpectedEof => AlteredRows(named.to_string()).into(),
                    _ => named,
                }
            });
        }
    }
    let names: Vec<&str> = forms.iter().map(|(name, ..)| *name).collect();
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "there is none of {} in {}",
            names.join(", "),
            folder.display()
        ),
    ))
}

/// Checks that no record is missing or duplicate.
struct RecordOrderCheck<'s> {
    sink: &'s mut dyn Sink,
    cases: u64,
    check: Check,
    /// Rows as in `records.csv` that are not checked yet.
    rows: CsvRows,
    /// Columns that no case of the run fills, so that no hash covers them.
    left_out: Vec<usize>,
    /// Reads rows with all columns.
    reader: RowReader,
}

impl RecordOrderCheck<'_> {
    fn push_row(&mut self, row: &StringRecord) -> io::Result<()> {
        if self.left_out.iter().any(|&at| !row[at].is_empty()) {
            return Err(invalid(
                "a column has a value that no case of its run fills",
            ));
        }
        let record = self.reader.record(row).map_err(invalid)?;
        if !record.is_finite() {
            return Err(invalid("a figure is not finite"));
        }
        next(&mut self.cases, &record)?;
        self.sink.push_record(&record)?;
        self.rows.push_record(&record);
        if self.rows.rows() == self.check.room() {
            self.check_waiting()
        } else {
            Ok(())
        }
    }

    fn check_waiting(&mut self) -> io::Result<()> {
        self.check.check_rows(self.rows.bytes(), self.rows.rows())?;
        self.rows.clear();
        Ok(())
    }

    fn end(mut self) -> io::Result<()> {
        if self.rows.rows() > 0 {
            self.check_waiting()?;
        }
        self.check.end()
    }
}

/// Checks that the record is the next one.
fn next(cases: &mut u64, record: &Record<'_>) -> io::Result<()> {
    if record.case != *cases {
        let what = format!("case {} is where {cases} belongs", record.case);
        return Err(invalid(what));
    }
    *cases += 1;
    Ok(())
}

fn csv_rows(
    path: &Path,
    columns: &RecordColumns,
    seen: &mut RecordOrderCheck<'_>,
) -> io::Result<()> {
    let Some(mut rows) = StoredRows::open(path, columns)? else {
        return Err(invalid("it does not begin with the header of this version"));
    };
    while let Some(record) = rows.read()? {
        next(&mut seen.cases, &record)?;
        seen.sink.push_record(&record)?;
        seen.check.check_rows(rows.raw(), 1)?;
    }
    Ok(())
}

fn json_lines(
    path: &Path,
    columns: &RecordColumns,
    seen: &mut RecordOrderCheck<'_>,
) -> io::Result<()> {
    let columns: Vec<_> = columns.with_all().names().map(Cow::into_owned).collect();
    let mut row = StringRecord::new();
    for line in BufReader::new(regular::open(path)?).lines() {
        let object: Map<String, Value> = serde_json::from_str(&line?).map_err(invalid)?;
        row.clear();
        for column in &columns {
            match object.get(column) {
                Some(Value::Null) => row.push_field(""),
                Some(Value::String(text)) => row.push_field(text),
                Some(other) => row.push_field(&other.to_string()),
                None => return Err(invalid(format!("a line has no `{column}`"))),
            }
        }
        seen.push_row(&row)?;
    }
    Ok(())
}
