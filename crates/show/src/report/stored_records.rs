//! The records of a finished run, whatever form they are in, one after the other.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use csv::StringRecord;
use serde_json::{Map, Value};

use super::csv_rows::CsvRows;
use super::manifest::{self, Identity};
use super::row_hashes::{AlteredRows, Check};
use super::stored_rows::StoredRows;
use super::{records_csv, records_jsonl};
use scavsim_experiment::{Record, Sink};
use scavsim_read::input::regular;

/// Hands the records in `folder` to `sink`, from the first of CSV, JSON lines and Parquet, and sees that the run of
/// `manifest` wrote them. Fails for missing, damaged, unordered or [`AlteredRows`] records, and with the sink.
pub fn hand_out(folder: &Path, manifest: &Identity, sink: &mut dyn Sink) -> io::Result<()> {
    type Reader = fn(&Path, &mut RecordOrderCheck<'_>) -> io::Result<()>;
    let forms: &[(&str, Reader, u64)] = &[
        (records_csv::FILE, csv_rows, 1),
        (records_jsonl::FILE, json_lines, 0),
        #[cfg(feature = "parquet")]
        (
            super::records_parquet::FILE,
            |path, seen| super::records_parquet::read(path, &mut |row| seen.push_row(row)),
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
                rows: CsvRows::default(),
            };
            let read = read(&path, &mut seen).and_then(|()| seen.end());
            return read.map_err(|error| {
                use io::ErrorKind::{InvalidData, Other, UnexpectedEof};
                let named = AlteredRows::named(&path, error);
                match named.kind() {
                    // Whatever a reader says of it.
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

/// Sees to it that no record is missing or there twice.
struct RecordOrderCheck<'s> {
    sink: &'s mut dyn Sink,
    cases: u64,
    check: Check,
    /// Rows as `records.csv` would have them, that are not checked yet.
    rows: CsvRows,
}

impl RecordOrderCheck<'_> {
    fn push_row(&mut self, row: &StringRecord) -> io::Result<()> {
        let record: Record<'_> = row.deserialize(None).map_err(invalid)?;
        if !record.is_finite() {
            return Err(invalid("a figure is not finite"));
        }
        self.record(&record)?;
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

    fn record(&mut self, record: &Record<'_>) -> io::Result<()> {
        if record.case != self.cases {
            let what = format!("case {} stands where {} belongs", record.case, self.cases);
            return Err(invalid(what));
        }
        self.cases += 1;
        self.sink.push_record(record)
    }
}

fn csv_rows(path: &Path, seen: &mut RecordOrderCheck<'_>) -> io::Result<()> {
    let Some(mut rows) = StoredRows::open(path)? else {
        return Err(invalid("it does not begin with the header of this version"));
    };
    while let Some(record) = rows.read()? {
        seen.record(&record)?;
        seen.check.check_rows(rows.raw(), 1)?;
    }
    Ok(())
}

fn json_lines(path: &Path, seen: &mut RecordOrderCheck<'_>) -> io::Result<()> {
    let header = records_csv::header()?;
    let header = String::from_utf8(header).map_err(invalid)?;
    let columns: Vec<&str> = header.trim_end().split(',').collect();
    let mut row = StringRecord::new();
    for line in BufReader::new(regular::open(path)?).lines() {
        let object: Map<String, Value> = serde_json::from_str(&line?).map_err(invalid)?;
        row.clear();
        for column in &columns {
            match object.get(*column) {
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

fn invalid(what: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}
