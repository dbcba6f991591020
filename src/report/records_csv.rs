//! `records.csv`: one row per case.
//!
//! Rows go to `records.partial.csv`, whole rows at a time, and the file takes its name when it is
//! closed. A killed run therefore leaves a prefix under the other name, from which another can go
//! on: every run writes it, whatever other forms are asked for. Its last row may be cut off, as the
//! system may end a write between two pages when it kills. Behind each write the hash of its rows goes
//! to a file beside it: rows that have none there are evaluated again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::records_file::RecordsFormat;
use super::row_hashes::{self, RowHashes};
use super::unfinished_rows::Good;
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

/// An open `records.csv`.
pub struct RecordsCsv {
    partial: PathBuf,
    target: PathBuf,
    file: File,
    /// Rows that are collected before they are written, up to the end of a leaf of hashes: as many as a slow run
    /// makes in seconds.
    rows: csv::Writer<Vec<u8>>,
    /// Bytes of the header before them.
    head: usize,
    waiting: u64,
    hashes: RowHashes,
    lines: File,
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
    /// Opens the file in `folder` behind the `good` rows, whose `hashes` are known and which end after `bytes` bytes;
    /// what stands behind them is cut off.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn open(folder: &Folder, bytes: u64, good: Good, hashes: RowHashes) -> io::Result<Self> {
        let partial = folder.file(PARTIAL);
        let file = open_behind(&partial, bytes)?;
        let lines = open_behind(&folder.file(row_hashes::PARTIAL), good.hashes_end)?;
        let head = if bytes == 0 { header()? } else { Vec::new() };
        Ok(RecordsCsv {
            file,
            target: folder.file(FILE),
            partial,
            head: head.len(),
            rows: rows_behind(head),
            waiting: 0,
            hashes,
            lines,
            written: bytes,
        })
    }

    /// Writes what waits and gives the file its name; the hashes of its rows.
    ///
    /// # Errors
    /// Whatever prevents it; the rows written so far stay in `records.partial.csv`.
    pub fn close(self) -> io::Result<RowHashes> {
        let (partial, target) = (self.partial.clone(), self.target.clone());
        let hashes = self.leave()?;
        fs::rename(partial, target)?;
        Ok(hashes)
    }

    /// Writes what waits, and leaves the file under its unfinished name; the hashes of its rows.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn leave(mut self) -> io::Result<RowHashes> {
        self.write_waiting()?;
        self.file.sync_all()?;
        Ok(self.hashes)
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let writer = std::mem::replace(&mut self.rows, rows_behind(Vec::new()));
        let bytes = writer.into_inner().map_err(|e| e.into_error())?;
        let (rows, head) = (
            std::mem::take(&mut self.waiting),
            std::mem::take(&mut self.head),
        );
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
        if rows == 0 {
            return Ok(());
        }
        let line = self.hashes.take(&bytes[head..], rows);
        (self.lines.write_all(line.as_bytes())).map_err(|e| cannot_write(&self.partial, e))
    }
}

/// Opens a file to write behind its first `bytes` bytes; what stands there is cut off.
fn open_behind(path: &Path, bytes: u64) -> io::Result<File> {
    let open = || {
        regular::may_be_written(path)?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let mut file = options.open(path)?;
        file.set_len(bytes)?;
        file.seek(SeekFrom::Start(bytes))?;
        Ok(file)
    };
    open().map_err(|error| cannot_write(path, error))
}

fn cannot_write(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot write {}: {error}", path.display()),
    )
}

impl Sink for RecordsCsv {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.rows.serialize(record).map_err(io::Error::other)?;
        self.waiting += 1;
        if self.waiting == self.hashes.room() {
            self.write_waiting()?;
        }
        Ok(())
    }
}
