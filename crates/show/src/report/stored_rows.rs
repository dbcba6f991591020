//! Reads rows of `records.csv` back as the original records, bit by bit.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::records_csv;
use super::row_reader::RowReader;
use scavsim_experiment::{Record, RecordColumns};
use scavsim_read::input::regular;

pub struct StoredRows {
    rows: csv::Reader<RecentBytes>,
    row: csv::StringRecord,
    reader: RowReader,
    cells: csv::ByteRecord,
    begin: u64,
    start: u64,
    length: u64,
    /// Whether the last row has no line end.
    torn: bool,
    end: u64,
}

impl StoredRows {
    /// Opens a file at its first row; `None` if it does not begin with the header.
    pub fn open(path: &Path, columns: &RecordColumns) -> io::Result<Option<StoredRows>> {
        let header = records_csv::header(columns)?;
        let mut found = Vec::new();
        regular::open(path)?
            .take(header.len() as u64)
            .read_to_end(&mut found)?;
        if found != header {
            return Ok(None);
        }
        Self::open_at(path, columns, header.len() as u64).map(Some)
    }

    /// Opens a file at a row that begins at byte `start`.
    pub fn open_at(path: &Path, columns: &RecordColumns, start: u64) -> io::Result<StoredRows> {
        let mut file = regular::open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        let mut last = [b'\n'];
        if length > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        file.seek(SeekFrom::Start(start))?;
        Ok(StoredRows {
            rows: csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(RecentBytes {
                    file,
                    bytes: Vec::new(),
                    from: start,
                }),
            row: csv::StringRecord::new(),
            reader: RowReader::new(columns.clone()),
            cells: csv::ByteRecord::new(),
            begin: start,
            start,
            length,
            torn: last != [b'\n'],
            end: start,
        })
    }

    /// The record of the next row; `None` after the last. [`io::ErrorKind::InvalidData`] for a row that is cut off or no
    /// record.
    pub fn read(&mut self) -> io::Result<Option<Record<'_>>> {
        self.begin = self.end;
        self.rows.get_mut().forget_before(self.begin);
        if !self.rows.read_record(&mut self.row).map_err(io_error)? {
            return Ok(None);
        }
        let end = self.start + self.rows.position().byte();
        if self.torn && end >= self.length {
            return Err(invalid("the last row is cut off"));
        }
        let record = self.reader.record(&self.row).map_err(io_error)?;
        if !record.is_finite() {
            return Err(invalid("a figure is not finite"));
        }
        self.end = end;
        Ok(Some(record))
    }

    /// Skips a row without parsing it; returns whether there was one with a line end.
    pub fn skip(&mut self) -> io::Result<bool> {
        self.begin = self.end;
        self.rows.get_mut().forget_before(self.begin);
        match self.rows.read_byte_record(&mut self.cells) {
            Ok(false) => return Ok(false),
            Ok(true) => {}
            Err(error) => {
                // Ignores errors about the number of cells.
                if let csv::ErrorKind::Io(error) = error.into_kind() {
                    return Err(error);
                }
            }
        }
        let end = self.start + self.rows.position().byte();
        if self.torn && end >= self.length {
            return Ok(false);
        }
        self.end = end;
        Ok(true)
    }

    pub fn raw(&self) -> &[u8] {
        let (begin, end) = (self.begin, self.end);
        self.rows.get_ref().between(begin, end)
    }

    pub fn is_torn_header(path: &Path, columns: &RecordColumns) -> io::Result<bool> {
        let header = records_csv::header(columns)?;
        let mut found = Vec::new();
        let file = regular::open(path)?;
        file.take(header.len() as u64).read_to_end(&mut found)?;
        Ok(found.len() < header.len() && header.starts_with(&found))
    }

    /// Bytes up to the end of the last returned row.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// A file under reading, with the most recent bytes.
struct RecentBytes {
    file: File,
    bytes: Vec<u8>,
    /// Position of these bytes in the file.
    from: u64,
}

/// Number of bytes after which unneeded ones are dropped.
const MOST_KEPT: usize = 1 << 16;

impl RecentBytes {
    /// Drops the bytes before a position, at once or later.
    fn forget_before(&mut self, begin: u64) {
        let passed = begin.saturating_sub(self.from) as usize;
        if passed > MOST_KEPT {
            self.bytes.drain(..passed.min(self.bytes.len()));
            self.from = begin;
        }
    }

    fn between(&self, begin: u64, end: u64) -> &[u8] {
        let place = |at: u64| (at.saturating_sub(self.from) as usize).min(self.bytes.len());
        &self.bytes[place(begin)..place(end)]
    }
}

impl Read for RecentBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// What is wrong with a stored file.
pub(crate) fn invalid(what: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

fn io_error(error: csv::Error) -> io::Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => invalid(text),
    }
}
