//! `records.csv`: one row per case.
//!
//! Rows go to `records.partial.csv`, whole rows at a time, and the file takes its name when it is
//! closed. A killed run therefore leaves a readable prefix under the other name.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use super::folder::Folder;
use crate::experiment::{Record, Sink};

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

impl RecordsCsv {
    /// Starts the file in `folder`.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn create(folder: &Folder) -> io::Result<Self> {
        let partial = folder.file("records.partial.csv");
        Ok(RecordsCsv {
            file: File::create(&partial)?,
            target: folder.file("records.csv"),
            partial,
            rows: csv::Writer::from_writer(Vec::new()),
            waiting: 0,
            written: 0,
        })
    }

    /// Writes what waits and gives the file its name.
    ///
    /// # Errors
    /// Whatever prevents it; the rows written so far stay in `records.partial.csv`.
    pub fn close(mut self) -> io::Result<()> {
        self.write_waiting()?;
        self.file.sync_all()?;
        fs::rename(&self.partial, &self.target)
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        // A fresh writer would repeat the header: only the buffer behind it is emptied.
        self.rows.flush()?;
        let writer = std::mem::replace(&mut self.rows, headless());
        let bytes = writer
            .into_inner()
            .map_err(|e| io::Error::other(e.to_string()))?;
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

fn headless() -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Vec::new())
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
