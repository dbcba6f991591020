//! `lives.csv` of scenarios with `[policy]`: a row per life and policy, written as lives come.

use std::fs;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use scavsim_provision::study::rows::{COLUMNS, LifeCell, each};
use scavsim_provision::study::run::Met;
use scavsim_provision::study::{Setting, Study};

/// The file, row by row.
pub(super) struct LivesFile {
    rows: csv::Writer<fs::File>,
    partial: PathBuf,
}

impl LivesFile {
    /// A file of another name until all rows are there.
    pub(super) fn create(folder: &Path) -> Result<LivesFile, Failure> {
        fs::create_dir_all(folder)?;
        let partial = folder.join("lives.partial.csv");
        let mut rows = csv::Writer::from_writer(fs::File::create(&partial)?);
        let names = COLUMNS.iter().map(|(name, _)| name);
        rows.write_record(names).map_err(anyhow::Error::from)?;
        Ok(LivesFile { rows, partial })
    }

    /// Adds the lives of a setting.
    pub(super) fn write(
        &mut self,
        study: &Study,
        setting: &Setting,
        met: &[Met],
    ) -> Result<(), Failure> {
        each(study, setting, met, |row| {
            let cells = COLUMNS.iter().map(|(_, of)| match of(row) {
                LifeCell::Empty => String::new(),
                LifeCell::Number(number) => number.to_string(),
                LifeCell::Truth(is_so) => is_so.to_string(),
                LifeCell::Text(text) => text.to_owned(),
            });
            self.rows.write_record(cells).map_err(anyhow::Error::from)
        })?;
        Ok(())
    }

    /// The rows get their name when all are there.
    pub(super) fn end(mut self, folder: &Path) -> Result<(), Failure> {
        self.rows.flush()?;
        fs::rename(&self.partial, folder.join("lives.csv"))?;
        Ok(())
    }
}
