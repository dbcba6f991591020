//! Policies that decide during a run where a job goes on: `[policy]`, with `[job]`, `[market]` and `[starts]`.

use std::path::Path;
use std::sync::Arc;

use super::ReadSubject;
use super::form::{Form, Reading};
use crate::complaints::Complaints;
use crate::file::ScenarioFile;
use crate::prices::Rentals;
use scavsim_experiment::scenario::Setting;
use scavsim_experiment::subject::Search;
use scavsim_provision::study::check::StudyTables;
use scavsim_provision::study::checking::Check;
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::checked::Count;
use scavsim_sim::cluster::Setup;

pub(super) static FORM: Form = Form {
    key: "policy",
    implied_by: &["job", "market", "starts"],
    is_searched: false,
    reads: &["job", "market", "starts", "policy"],
    several: &[
        "job.deadline_h",
        "job.changeover_s",
        "job.work_h",
        "job.checkpoint_gb",
    ],
    why: "policies decide during a run; there is nothing to search",
    why_spot: "a market says when there are machines",
    policies: Vec::new,
};

/// Reads them, without the settings.
pub(super) fn read(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<MarketPolicies> {
    let file = reading.file;
    let traces = (file.market.as_ref()).and_then(|market| market.get_ref().traces.as_ref());
    let folder = traces.map_or(Path::new("."), |traces| {
        reading.files.folder(traces.span().start)
    });
    let mut check = Check {
        source: complaints.source,
        base: folder,
        d: complaints.diagnostics,
    };
    let study = tables(file, reading.replicas).read(&reading.given.decisions, &mut check)?;
    Some(MarketPolicies::new(
        study,
        folder.to_owned(),
        reading.replicas,
    ))
}

fn tables(file: &ScenarioFile, replicas: Option<Count>) -> StudyTables<'_> {
    StudyTables {
        job: file.job.as_ref(),
        market: file.market.as_ref(),
        starts: file.starts.as_ref(),
        policy: file.policy.as_ref(),
        replicas,
    }
}

impl ReadSubject for MarketPolicies {
    fn representatives(&self) -> Vec<Search> {
        Vec::new()
    }

    fn rentals<'s>(&'s self, _: &'s Setup) -> Rentals<'s> {
        Rentals::of_types(&[], false)
    }

    fn add_setting(
        &mut self,
        file: &ScenarioFile,
        setting: &Setting,
        complaints: &mut Complaints<'_>,
    ) {
        if setting.number == 0 {
            return; // it was read with the rest
        }
        let mut check = Check {
            source: complaints.source,
            base: &self.folder,
            d: complaints.diagnostics,
        };
        let study = Arc::make_mut(&mut self.study);
        tables(file, self.replicas).add_to(study, &mut check);
    }
}
