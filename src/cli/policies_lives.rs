//! Results of scenarios with `[policy]`: `lives.csv`, a row per life and policy, written as lives come; `summary.csv`.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::exit::{Failure, no_mistakes};
use super::resume;
use scavsim_provision::study::rows::{COLUMNS, LifeCell, each};
use scavsim_provision::study::run::StartOutcomes;
use scavsim_provision::study::{Setting, Study};
use scavsim_read::input::Diagnostics;
use scavsim_show::report::manifest::{self, Identity};
use scavsim_show::report::result_files::{ResultFile, ResultFiles};
use scavsim_show::report::{OutputFolder, results};

/// The results of one such scenario, which appear when all are there.
pub(super) struct PolicyResults {
    files: ResultFiles,
    rows: csv::Writer<ResultFile>,
    made_from: Identity,
}

/// Starts the results of all scenarios that are asked for; none without a folder.
pub(super) fn start(
    out: Option<&Path>,
    overwrite: bool,
    studies: &[(Arc<Study>, String)],
) -> Result<Vec<PolicyResults>, Failure> {
    let Some(folder) = out else {
        return Ok(Vec::new());
    };
    let names: Vec<&str> = studies.iter().map(|(study, _)| &*study.name).collect();
    let folders = super::out::folders(folder, &names, OutputFolder::alone)?;
    let mut wrong = Diagnostics::default();
    let mut all = Vec::new();
    for (folder, (study, hash)) in folders.into_iter().zip(studies) {
        let made_from = made_from(study, hash);
        if !overwrite {
            const HELP: &str = "replace it: `--overwrite`; or write to another folder";
            resume::keep(folder.path(), Some(&made_from), HELP, &mut wrong);
        }
        let files = ResultFiles::new(folder);
        let mut rows = csv::Writer::from_writer(files.create("lives.csv")?);
        let names = COLUMNS.iter().map(|(name, _)| name);
        rows.write_record(names).map_err(anyhow::Error::from)?;
        all.push(PolicyResults {
            files,
            rows,
            made_from,
        });
    }
    no_mistakes(wrong)?;
    Ok(all)
}

fn made_from(study: &Study, hash: &str) -> Identity {
    let names: Vec<&str> = (study.policies.iter()).map(|(name, _)| &**name).collect();
    let entries = [
        (manifest::KIND, json!(manifest::POLICIES)),
        ("scavsim", json!(env!("CARGO_PKG_VERSION"))),
        ("scenario", json!(study.name)),
        ("scenario_hash", json!(hash)),
        ("seed", json!(study.seed)),
        ("policies", json!(names)),
        ("lives", json!(study.cases())),
    ];
    let owned = |(key, value): (&str, _)| (key.to_owned(), value);
    entries.map(owned).into_iter().collect()
}

impl PolicyResults {
    pub(super) fn write(
        &mut self,
        study: &Study,
        setting: &Setting,
        met: &[StartOutcomes],
    ) -> Result<(), Failure> {
        each(study, setting, met, |row| {
            let cells = COLUMNS.iter().map(|(_, of)| match of(row) {
                LifeCell::Number(number) if number.is_finite() => number.to_string(),
                LifeCell::Empty | LifeCell::Number(_) => String::new(),
                LifeCell::Truth(is_so) => is_so.to_string(),
                LifeCell::Text(text) => text.to_owned(),
            });
            self.rows.write_record(cells).map_err(anyhow::Error::from)
        })?;
        Ok(())
    }

    /// Gives all files their names; the folder that they are in.
    pub(super) fn end(mut self, summary: &str) -> Result<OutputFolder, Failure> {
        let lives = self.rows.into_inner().map_err(|error| error.into_error())?;
        self.files.add(lives)?;
        self.files.put(results::SUMMARY, summary)?;
        Ok(self.files.finish(&self.made_from)?)
    }
}
