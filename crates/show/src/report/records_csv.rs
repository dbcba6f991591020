//! `records.csv`: one row per case. Whole rows are appended to `records.partial.csv`, which is renamed when it is closed. So
//! a killed run leaves a prefix under the other name, from which `--resume` continues; every run writes it, for any requested
//! formats. Its last row may be cut off. After each write the hashes of its tasks go to a second file: rows without a hash
//! are evaluated again. The threads that make rows also make their bytes and hashes; this file only writes them.

use std::fs::File;
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::sync::Arc;

use super::csv_rows::CsvRows;
use super::manifest;
use super::records_file::RecordsFormat;
use super::row_hashes::{self, RowHashes};
use scavsim_base::output::OutputFolder;
use scavsim_experiment::{Record, RecordColumns};

pub const FILE: &str = "records.csv";
pub const PARTIAL: &str = "records.partial.csv";

pub const FORMAT: RecordsFormat = RecordsFormat {
    name: "csv",
    file: FILE,
    beside: None,
};

pub struct RecordsCsv {
    folder: OutputFolder,
    file: File,
    /// The header and rows of tasks that are collected before they are written, each with the line of its hash; and their
    /// number of bytes.
    waiting: Vec<(Vec<u8>, String)>,
    bytes: usize,
    hashes: RowHashes,
    lines: File,
    written: u64,
}

pub struct CsvPart {
    rows: CsvRows,
    leaf: String,
}

impl CsvPart {
    pub fn new(columns: &Arc<RecordColumns>) -> CsvPart {
        CsvPart::from_rows(CsvRows::new(columns), String::new())
    }

    pub fn push_record(&mut self, record: &Record<'_>) {
        debug_assert!(self.rows.holds_all_of(record), "{record:?} has more");
        self.rows.push_record(record);
    }

    /// Computes the hash of the rows, after the last one.
    pub fn end(&mut self) {
        self.leaf = manifest::hash(self.rows.bytes());
    }

    pub fn from_rows(rows: CsvRows, leaf: String) -> CsvPart {
        CsvPart { rows, leaf }
    }

    /// The bytes, their number of rows, and their hash.
    pub fn into_parts(self) -> (Vec<u8>, u64, String) {
        let rows = self.rows.rows();
        (self.rows.into_bytes(), rows, self.leaf)
    }
}

/// Number of bytes that are written at once.
const MOST_WAITING: usize = 1 << 20;

pub fn header(columns: &RecordColumns) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.names().map(|name| name.into_owned()))?;
    writer.into_inner().map_err(|e| e.into_error())
}

pub fn rows_behind<W: Write>(bytes: W) -> csv::Writer<W> {
    csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(bytes)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValidRows {
    /// Rows of whole tasks.
    pub rows: u64,
    /// End of their hashes in bytes.
    pub hashes_end: u64,
}

impl RecordsCsv {
    /// Opens the file in `folder` after the `good` rows, whose `hashes` are known and which end after `bytes` bytes; the rest
    /// is cut off.
    pub fn open(
        folder: &OutputFolder,
        columns: &RecordColumns,
        bytes: u64,
        good: ValidRows,
        hashes: RowHashes,
    ) -> io::Result<Self> {
        let file = folder.open_behind(PARTIAL, bytes)?;
        let lines = folder.open_behind(row_hashes::PARTIAL, good.hashes_end)?;
        let head = if bytes == 0 {
            header(columns)?
        } else {
            Vec::new()
        };
        Ok(RecordsCsv {
            file,
            folder: folder.clone(),
            bytes: head.len(),
            waiting: vec![(head, String::new())],
            hashes,
            lines,
            written: bytes,
        })
    }

    /// Writes waiting rows and renames the file; returns the hashes of its rows. On errors, `records.partial.csv` stays.
    pub fn close(self) -> io::Result<RowHashes> {
        let folder = self.folder.clone();
        let hashes = self.leave()?;
        folder.rename(PARTIAL, FILE)?;
        Ok(hashes)
    }

    /// Writes waiting rows, and keeps the unfinished name of the file; returns the hashes of its rows.
    pub fn leave(mut self) -> io::Result<RowHashes> {
        self.write_waiting()?;
        let synchronised = self.file.sync_all();
        synchronised.map_err(|error| self.cannot_write(&error, ""))?;
        Ok(self.hashes)
    }

    pub fn merge(&mut self, part: CsvPart) -> io::Result<()> {
        let (bytes, rows, leaf) = part.into_parts();
        if rows > 0 {
            self.bytes += bytes.len();
            let line = self.hashes.take_leaf(leaf, rows);
            self.waiting.push((bytes, line));
        }
        if self.bytes > MOST_WAITING {
            self.write_waiting()
        } else {
            Ok(())
        }
    }

    pub fn flush_waiting(&mut self) -> io::Result<()> {
        if self.waiting.iter().any(|(_, line)| !line.is_empty()) {
            self.write_waiting()
        } else {
            Ok(())
        }
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let (waiting, bytes) = (
            std::mem::take(&mut self.waiting),
            std::mem::take(&mut self.bytes),
        );
        let written = write_all(&mut self.file, &waiting);
        if written.is_err() {
            // A full disk accepts half a row: it is cut off again, if possible, and whole tasks of the waiting rows are kept.
            self.back_to_whole_rows();
            for one in waiting.chunks(1) {
                if let Err(error) = write_all(&mut self.file, one) {
                    self.back_to_whole_rows();
                    return Err(self.cannot_write(&error, "; the rows before are kept in it"));
                }
                self.written += one.iter().map(|(rows, _)| rows.len() as u64).sum::<u64>();
                self.write_lines(one)?;
            }
            return Ok(());
        }
        self.written += bytes as u64;
        self.write_lines(&waiting)
    }

    fn back_to_whole_rows(&mut self) {
        let _ = self.file.set_len(self.written);
        let _ = self.file.seek(SeekFrom::Start(self.written));
    }

    fn write_lines(&mut self, waiting: &[(Vec<u8>, String)]) -> io::Result<()> {
        let lines: String = waiting.iter().map(|(_, line)| line.as_str()).collect();
        let written = self.lines.write_all(lines.as_bytes());
        written.map_err(|error| self.cannot_write(&error, ""))
    }

    fn cannot_write(&self, error: &io::Error, more: &str) -> io::Error {
        let path = self.folder.file(PARTIAL);
        let what = format!("cannot write {}: {error}{more}", path.display());
        io::Error::new(error.kind(), what)
    }
}

/// Writes blocks in order, in as few calls as the system allows.
fn write_all(file: &mut impl Write, blocks: &[(Vec<u8>, String)]) -> io::Result<()> {
    let slices = blocks.iter().map(|(block, _)| IoSlice::new(block));
    let mut slices: Vec<IoSlice<'_>> = slices.collect();
    let mut left = &mut slices[..];
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut left, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
