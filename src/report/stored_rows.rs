//! Rows of `records.csv`, read back as the records they were. Numbers are written so that reading
//! gives the same bits.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::records_csv;
use crate::experiment::Record;
use crate::input::regular;

/// An open file of rows.
pub struct StoredRows {
    rows: csv::Reader<File>,
    row: csv::StringRecord,
    /// Where reading began.
    start: u64,
    /// Bytes in the file.
    length: u64,
    /// Whether the last row has no end.
    torn: bool,
    end: u64,
}

impl StoredRows {
    /// Opens a file at its first row; `None` when it does not begin with the header.
    ///
    /// # Errors
    /// Whatever prevents reading.
    pub fn open(path: &Path) -> io::Result<Option<StoredRows>> {
        let header = records_csv::header()?;
        let mut found = Vec::new();
        regular::open(path)?
            .take(header.len() as u64)
            .read_to_end(&mut found)?;
        if found != header {
            return Ok(None);
        }
        Self::open_at(path, header.len() as u64).map(Some)
    }

    /// Opens a file at a row that begins `start` bytes behind its beginning.
    ///
    /// # Errors
    /// Whatever prevents reading.
    pub fn open_at(path: &Path, start: u64) -> io::Result<StoredRows> {
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
                .from_reader(file),
            row: csv::StringRecord::new(),
            start,
            length,
            torn: last != [b'\n'],
            end: start,
        })
    }

    /// The record of the next row; `None` behind the last.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] for a row that is not whole or not a record; others when the
    /// file cannot be read.
    pub fn read(&mut self) -> io::Result<Option<Record<'_>>> {
        if !self.rows.read_record(&mut self.row).map_err(told)? {
            return Ok(None);
        }
        let end = self.start + self.rows.position().byte();
        if self.torn && end >= self.length {
            return Err(invalid("the last row is cut off"));
        }
        let record: Record<'_> = self.row.deserialize(None).map_err(told)?;
        if !record.is_finite() {
            return Err(invalid("a figure is not finite"));
        }
        self.end = end;
        Ok(Some(record))
    }

    /// Bytes up to the end of the last row handed out.
    pub fn end(&self) -> u64 {
        self.end
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn told(error: csv::Error) -> io::Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::new(io::ErrorKind::InvalidData, text),
    }
}
