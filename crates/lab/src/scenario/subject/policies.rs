//! Policies that decide during a run where a job goes on: `[policy]`, with `[job]`, `[market]` and `[starts]`. The searched problem is a
//! world of zones here, and a replica is a life of the job.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::form::{Form, Reading};
use super::topic::{PreparedSearch, Search, SearchKnowledge, SearchPreparation, Topic};
use crate::experiment::PlanError;
use crate::scenario::Setting;
use crate::scenario::complaints::Complaints;
use crate::scenario::file::ScenarioFile;
use crate::scenario::prices::Rentals;
use scavsim_data::space::Space;
use scavsim_provision::study::Study;
use scavsim_provision::study::check::StudyTables;
use scavsim_provision::study::checking::Check;
use scavsim_read::input::checked::Count;
use scavsim_search::search::WorkloadFacts;
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

#[derive(Debug, Clone)]
pub struct MarketPolicies {
    pub study: Arc<Study>,
    worlds: Vec<String>,
    folder: PathBuf,
    /// Lives per policy, over the file's number.
    replicas: Option<Count>,
}

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
    Some(MarketPolicies {
        worlds: study.world_names(),
        folder: folder.to_owned(),
        replicas: reading.replicas,
        study: Arc::new(study),
    })
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

impl Topic for MarketPolicies {
    fn form(&self) -> &'static Form {
        &FORM
    }

    fn choices(&self) -> Vec<(&str, usize)> {
        self.worlds
            .iter()
            .map(|world| (world.as_str(), 1))
            .collect()
    }

    fn representatives(&self) -> Vec<Search> {
        Vec::new()
    }

    fn known<'s>(&'s self, search: &Search, _: &Setup) -> SearchKnowledge<'s> {
        static NOTHING: LazyLock<Space> = LazyLock::new(Space::default);
        SearchKnowledge::without_history(
            &self.worlds[search.choice],
            &NOTHING,
            WorkloadFacts::default(),
        )
    }

    fn prepared<'s>(
        &'s self,
        _: &Search,
        _: SearchPreparation<'_>,
    ) -> Result<PreparedSearch<'s>, PlanError> {
        Err(PlanError::NothingToSearch)
    }

    fn rentals<'s>(&'s self, _: &'s Setup) -> Rentals<'s> {
        Rentals::of_types(&[], false)
    }

    fn study(&self) -> Option<&Arc<Study>> {
        Some(&self.study)
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

    fn hashes(&self) -> &[String] {
        &self.study.market.hashes
    }
}
