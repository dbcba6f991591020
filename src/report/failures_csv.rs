//! `failures.csv`: the cases without a result, each with its reason. There is no such file when
//! there is none.

use std::io;

use super::aside::Aside;
use super::folder::Folder;
use crate::experiment::{Record, Sink, Status};

/// Name of the file.
pub const FILE: &str = "failures.csv";

/// The file, started by the first failure.
pub struct FailuresCsv {
    folder: Folder,
    rows: Option<csv::Writer<Aside>>,
}

impl FailuresCsv {
    /// Nothing yet.
    pub fn new(folder: &Folder) -> Self {
        FailuresCsv {
            folder: folder.clone(),
            rows: None,
        }
    }

    /// Finishes the file, if there is one.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn close(self) -> io::Result<()> {
        match self.rows {
            Some(rows) => rows.into_inner().map_err(|e| e.into_error())?.close(),
            None => Ok(()),
        }
    }
}

impl Sink for FailuresCsv {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        if record.status != Status::Failed {
            return Ok(());
        }
        let rows = match &mut self.rows {
            Some(rows) => rows,
            empty => {
                let mut rows = csv::Writer::from_writer(Aside::create(&self.folder, FILE)?);
                rows.write_record([
                    "case",
                    "workload",
                    "pricing",
                    "objective",
                    "strategy",
                    "replica",
                    "setting",
                    "reason",
                ])?;
                empty.insert(rows)
            }
        };
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
}
