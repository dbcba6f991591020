//! `lives.csv` of scenarios with `[policy]`: a row per life and policy, written as lives come.

use std::fs;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use scavsim_provision::life::outcome::Outcome;
use scavsim_provision::policy::registry::CLAIRVOYANT;
use scavsim_provision::study::run::Met;
use scavsim_provision::study::{Setting, Study};

/// The file, row by row.
pub(super) struct LivesFile {
    rows: csv::Writer<fs::File>,
    partial: PathBuf,
}

const COLUMNS: &[&str] = &[
    "zones",
    "deadline_h",
    "changeover_s",
    "start",
    "policy",
    "cost_usd",
    "spot_usd",
    "on_demand_usd",
    "egress_usd",
    "probes_usd",
    "lateness_usd",
    "clairvoyant_usd",
    "finished_h",
    "late_h",
    "kept",
    "spot_h",
    "on_demand_h",
    "start_up_h",
    "launches",
    "losses",
    "moves",
    "refused",
    "caught",
    "lost_work_h",
    "gave_up",
];

impl LivesFile {
    /// A file of another name until all rows are there.
    pub(super) fn create(folder: &Path) -> Result<LivesFile, Failure> {
        fs::create_dir_all(folder)?;
        let partial = folder.join("lives.partial.csv");
        let mut rows = csv::Writer::from_writer(fs::File::create(&partial)?);
        rows.write_record(COLUMNS).map_err(anyhow::Error::from)?;
        Ok(LivesFile { rows, partial })
    }

    /// Adds the lives of a setting.
    pub(super) fn write(
        &mut self,
        study: &Study,
        setting: &Setting,
        met: &[Met],
    ) -> Result<(), Failure> {
        let zones: Vec<&str> = setting
            .world
            .zones
            .iter()
            .map(|zone| zone.name.as_str())
            .collect();
        let zones = zones.join(" ");
        for one in met {
            let optimum = one.optimum.as_ref().map(Outcome::cost_usd);
            let names = study.policies.iter().map(|(name, _)| name.as_str());
            let known = one.optimum.iter().map(|outcome| (CLAIRVOYANT, outcome));
            for (policy, life) in names.zip(&one.outcomes).chain(known) {
                let hours = |seconds: f64| (seconds / 3600.0).to_string();
                let row = [
                    zones.clone(),
                    hours(setting.job.deadline_s),
                    setting.job.changeover_s.to_string(),
                    one.start.to_string(),
                    policy.to_owned(),
                    life.cost_usd().to_string(),
                    life.spot_usd.to_string(),
                    life.on_demand_usd.to_string(),
                    life.egress_usd.to_string(),
                    life.probes_usd.to_string(),
                    life.lateness_usd.to_string(),
                    optimum.map_or(String::new(), |usd| usd.to_string()),
                    life.finished_s.map_or(String::new(), hours),
                    hours(life.late_s),
                    life.kept().to_string(),
                    hours(life.spot_s),
                    hours(life.on_demand_s),
                    hours(life.start_up_s),
                    life.launches.to_string(),
                    life.losses.to_string(),
                    life.moves.to_string(),
                    life.refused.to_string(),
                    life.caught.to_string(),
                    hours(life.lost_work_s),
                    life.gave_up.to_string(),
                ];
                self.rows.write_record(&row).map_err(anyhow::Error::from)?;
            }
        }
        Ok(())
    }

    /// The rows get their name when all are there.
    pub(super) fn end(mut self, folder: &Path) -> Result<(), Failure> {
        self.rows.flush()?;
        fs::rename(&self.partial, folder.join("lives.csv"))?;
        Ok(())
    }
}
