//! `records.jsonl`: one JSON object per case and line, with the columns of `records.csv` as keys.

use std::io::{self, Write};

use super::records_file::{FormPart, RecordsFile, RecordsFileFactory, RecordsFormat, own};
use scavsim_base::output::PartialFile;
use scavsim_experiment::{AXIS, Record};

pub const FILE: &str = "records.jsonl";

pub const FORMAT: RecordsFormat = RecordsFormat {
    name: "jsonl",
    file: FILE,
    beside: Some(RecordsFileFactory {
        create: |folder, _| Ok(Box::new(RecordsJsonl(folder.create(FILE)?))),
        part: |_| Box::new(Lines(Vec::new())),
    }),
};

struct RecordsJsonl(PartialFile);

struct Lines(Vec<u8>);

impl FormPart for Lines {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, record)?;
        self.0.pop();
        for (name, value) in record.axes.names().iter().zip(record.axes.values()) {
            let name = serde_json::to_string(&format!("{AXIS}{name}"))?;
            write!(self.0, ",{name}:{}", serde_json::to_string(&value)?)?;
        }
        self.0.extend_from_slice(b"}\n");
        Ok(())
    }
}

impl RecordsFile for RecordsJsonl {
    fn merge(&mut self, part: Box<dyn FormPart>) -> io::Result<()> {
        self.0.write_all(&own::<Lines>(part)?.0)
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        self.0.close()
    }
}
