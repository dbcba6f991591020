//! Jobs of a measured grid as the subject of experiments.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::{Grid, Job, MeasuredGrid, ProbeCharge, StatedType};
use scavsim_data::cloud::Fleet;
use scavsim_experiment::PlanError;
use scavsim_experiment::subject::{
    PreparedSearch, Search, SearchKnowledge, SearchPreparation, Subject,
};
use scavsim_search::search::Past;
use scavsim_search::testbed::History;
use scavsim_sim::cluster::Setup;

#[derive(Debug, Clone)]
pub struct MeasuredJobs {
    pub grid: String,
    pub probe: ProbeCharge,
    pub jobs: Vec<Arc<Job>>,
    histories: Vec<History>,
    stored: Vec<History>,
    /// Whether a searched job has no history of its own or of its program's other inputs.
    is_own_left_out: bool,
    /// Hash of known jobs that are not searched; `None` without such.
    stored_hash: Option<String>,
    types: Vec<StatedType>,
}

fn hash_of_rest(all: &[Job], searched: &[Arc<Job>]) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    let rest = || {
        let is_searched = |job: &&Job| searched.iter().any(|other| other.name == job.name);
        all.iter().filter(move |job| !is_searched(job))
    };
    for job in rest() {
        hasher.update(format!("{} {}\n", job.name, job.hash()).as_bytes());
    }
    (rest().next().is_some()).then(|| hasher.finalize().to_hex().to_string())
}

fn histories(jobs: &[Arc<Job>]) -> Vec<History> {
    jobs.iter().map(|job| MeasuredGrid::history(job)).collect()
}

impl MeasuredJobs {
    /// Some jobs of a grid, with earlier runs of all of them.
    pub fn new(grid: Grid, jobs: Vec<Arc<Job>>, types: Vec<StatedType>) -> MeasuredJobs {
        MeasuredJobs {
            histories: histories(&jobs),
            stored: grid.jobs.iter().map(MeasuredGrid::history).collect(),
            is_own_left_out: false,
            stored_hash: hash_of_rest(&grid.jobs, &jobs),
            grid: grid.name,
            probe: grid.probe,
            types,
            jobs,
        }
    }

    fn own(&self, choice: usize) -> History {
        let mut own = self.histories[choice].clone();
        if self.is_own_left_out {
            own.runs.clear();
        }
        own
    }

    fn others(&self, choice: usize) -> Vec<History> {
        let own = self.own(choice);
        let others = Past::new(&own, &self.stored);
        let names: Vec<&str> = others.other_names().collect();
        let is_other = |history: &&History| names.contains(&history.workload.as_str());
        self.stored.iter().filter(is_other).cloned().collect()
    }

    fn fleet(&self) -> Fleet<'_> {
        Fleet::new(self.types.iter().map(|stated| (&*stated.vm, stated.own())))
    }
}

impl Subject for MeasuredJobs {
    fn choices(&self) -> Vec<(&str, usize)> {
        let jobs = self.jobs.iter();
        jobs.map(|job| (&*job.name, job.space.len())).collect()
    }

    fn program(&self, choice: usize) -> Option<&str> {
        self.jobs[choice].program.as_deref()
    }

    fn known<'s>(&'s self, search: &Search, _: &Setup) -> SearchKnowledge<'s> {
        let job = &self.jobs[search.choice];
        SearchKnowledge {
            workload: &job.name,
            space: Cow::Borrowed(&job.space),
            figures: job.workload_facts(),
            own: self.own(search.choice),
            stored: if self.is_own_left_out {
                Cow::Owned(self.others(search.choice))
            } else {
                Cow::Borrowed(&self.stored)
            },
            layer_model: None,
            fidelities: job.cheap.iter().map(|cheap| cheap.share).collect(),
        }
    }

    fn prepared<'s>(
        &'s self,
        search: &Search,
        preparing: SearchPreparation<'_>,
    ) -> Result<PreparedSearch<'s>, PlanError> {
        let job = Arc::clone(&self.jobs[search.choice]);
        Ok(PreparedSearch {
            known: self.known(search, &preparing.setting.setup),
            ground: Box::new(MeasuredGrid::new(job, self.probe)),
            fleet: self.fleet(),
        })
    }

    fn keep(&mut self, kept: &mut dyn FnMut(&str, usize) -> Vec<usize>) {
        for job in &mut self.jobs {
            *job = Arc::new(job.only(&kept(&job.name, job.space.len())));
        }
        self.histories = histories(&self.jobs);
    }

    fn leave_own_out(&mut self) {
        self.is_own_left_out = true;
    }

    fn identity(&self) -> Option<(&'static str, Value)> {
        let job = |job: &Arc<Job>| json!({ "name": job.name, "configurations": job.space.len(), "data_hash": job.hash() });
        let jobs: Vec<Value> = self.jobs.iter().map(job).collect();
        let mut identity = json!({ "name": self.grid, "jobs": jobs });
        if let Some(hash) = &self.stored_hash {
            identity["known_jobs_hash"] = json!(hash);
        }
        Some(("grid", identity))
    }
}
