//! `records.jsonl`: one JSON object per case and line, with the columns of `records.csv` as keys.

use std::io::{self, Write};

use super::aside::Aside;
use super::records_file::{RecordsFile, RecordsFormat};
use crate::experiment::{Record, Sink};

/// Name of the file.
pub const FILE: &str = "records.jsonl";

/// JSON lines.
pub const FORMAT: RecordsFormat = RecordsFormat {
    name: "jsonl",
    file: FILE,
    create: Some(|folder| Ok(Box::new(RecordsJsonl(Aside::create(folder, FILE)?)))),
};

struct RecordsJsonl(Aside);

impl Sink for RecordsJsonl {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, record)?;
        self.0.write_all(b"\n")
    }
}

impl RecordsFile for RecordsJsonl {
    fn close(self: Box<Self>) -> io::Result<()> {
        self.0.close()
    }
}
