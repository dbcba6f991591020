//! `failures.csv`: the cases without a result, each with its reason. Without such cases there is no file.

use std::io::{self, Write};

use super::records_csv;
use scavsim_base::output::{OutputFolder, PartialFile};
use scavsim_experiment::{Record, Status};

pub const FILE: &str = "failures.csv";

pub struct FailuresCsv {
    folder: OutputFolder,
    rows: Option<PartialFile>,
}

#[derive(Default)]
pub struct FailuresPart(Option<csv::Writer<Vec<u8>>>);

impl FailuresPart {
    pub fn from_rows(rows: Vec<u8>) -> FailuresPart {
        FailuresPart((!rows.is_empty()).then(|| records_csv::rows_behind(rows)))
    }

    pub fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        if record.status != Status::Failed {
            return Ok(());
        }
        let rows = (self.0).get_or_insert_with(|| records_csv::rows_behind(Vec::new()));
        rows.write_record([
            &record.case.to_string(),
            record.workload,
            record.pricing,
            record.objective,
            record.strategy,
            &record.replica.to_string(),
            record.setting,
            &record.reason,
        ])?;
        Ok(())
    }

    pub fn into_bytes(self) -> io::Result<Vec<u8>> {
        match self.0 {
            Some(rows) => rows.into_inner().map_err(|e| e.into_error()),
            None => Ok(Vec::new()),
        }
    }
}

impl FailuresCsv {
    pub fn new(folder: &OutputFolder) -> Self {
        FailuresCsv {
            folder: folder.clone(),
            rows: None,
        }
    }

    pub fn merge(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let rows = match &mut self.rows {
            Some(rows) => rows,
            empty => {
                let mut rows = self.folder.create(FILE)?;
                rows.write_all(HEADER.as_bytes())?;
                empty.insert(rows)
            }
        };
        rows.write_all(bytes)
    }

    pub fn close(self) -> io::Result<()> {
        match self.rows {
            Some(rows) => rows.close(),
            None => Ok(()),
        }
    }
}

const HEADER: &str = "case,workload,pricing,objective,strategy,replica,setting,reason\n";
