//! `records.csv`: one row per case.
//!
//! Rows go to `records.partial.csv`, whole rows at a time, and the file takes its name when it is
//! closed. A killed run therefore leaves a prefix under the other name, from which another can go
//! on: every run writes it, whatever other forms are asked for. Its last row may be cut off, as the
//! system may end a write between two pages when it kills.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::folder::Folder;
use super::records_file::RecordsFormat;
use crate::experiment::{COLUMNS, Record, Sink};
use crate::input::regular;

/// Name of the file.
pub const FILE: &str = "records.csv";
/// Its name while it is not finished.
pub const PARTIAL: &str = "records.partial.csv";

/// Comma-separated values.
pub const FORMAT: RecordsFormat = RecordsFormat {
    name: "csv",
    file: FILE,
    create: None,
};

/// Rows that are collected before they are written; as many as a slow run makes in seconds.
const ROWS_PER_WRITE: usize = 64;

/// An open `records.csv`.
pub struct RecordsCsv {
    partial: PathBuf,
    target: PathBuf,
    file: File,
    rows: csv::Writer<Vec<u8>>,
    waiting: usize,
    /// Bytes of whole rows in the file.
    written: u64,
}

/// The header line.
///
/// # Errors
/// None in memory; the signature is that of the writer.
pub fn header() -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().map(|column| column.name))?;
    writer.into_inner().map_err(|e| e.into_error())
}

/// A writer of rows that appends to `bytes`.
pub fn rows_behind<W: Write>(bytes: W) -> csv::Writer<W> {
    csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(bytes)
}

impl RecordsCsv {
    /// Opens the file in `folder` behind its first `bytes` bytes, which are whole rows; what
    /// stands behind them is cut off.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn open(folder: &Folder, bytes: u64) -> io::Result<Self> {
        let partial = folder.file(PARTIAL);
        let open = || {
            regular::may_be_written(&partial)?;
            let mut options = OpenOptions::new();
            let mut file = options
                .write(true)
                .create(true)
                .truncate(false)
                .open(&partial)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok(file)
        };
        let file = open().map_err(|error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("cannot write {}: {error}", partial.display()),
            )
        })?;
        let start = if bytes == 0 { header()? } else { Vec::new() };
        Ok(RecordsCsv {
            file,
            target: folder.file(FILE),
            partial,
            rows: rows_behind(start),
            waiting: 0,
            written: bytes,
        })
    }

    /// Writes what waits and gives the file its name.
    ///
    /// # Errors
    /// Whatever prevents it; the rows written so far stay in `records.partial.csv`.
    pub fn close(self) -> io::Result<()> {
        let (partial, target) = (self.partial.clone(), self.target.clone());
        self.leave()?;
        fs::rename(partial, target)
    }

    /// Writes what waits, and leaves the file under its unfinished name.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn leave(mut self) -> io::Result<()> {
        self.write_waiting()?;
        self.file.sync_all()
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let writer = std::mem::replace(&mut self.rows, rows_behind(Vec::new()));
        let bytes = writer.into_inner().map_err(|e| e.into_error())?;
        self.waiting = 0;
        self.file.write_all(&bytes).map_err(|error| {
            // A full disk takes half a row: it is cut off again, if that is possible.
            let _ = self.file.set_len(self.written);
            io::Error::new(
                error.kind(),
                format!(
                    "cannot write {}: {error}; the rows before are kept in it",
                    self.partial.display()
                ),
            )
        })?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

impl Sink for RecordsCsv {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.rows.serialize(record).map_err(io::Error::other)?;
        self.waiting += 1;
        if self.waiting == ROWS_PER_WRITE {
            self.write_waiting()?;
        }
        Ok(())
    }
}
