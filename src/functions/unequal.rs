//! Workers that are unlike: jobs, clusters and policies of batches by the names that a file gives them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Function, Given, function};
use crate::cluster::batching::{Batching, Outcome, UnequalJob, Worker, WorkerLaw};
use crate::expression::Arguments;
use crate::input::checked::{Count, NonNegative, Positive, Spread};
use crate::input::closest;
use crate::rng::{Purpose, Streams};

/// Every job runs on any cluster under any policy.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Unequal {
    jobs: BTreeMap<String, Job>,
    clusters: BTreeMap<String, Vec<Worker>>,
    batching: BTreeMap<String, Batching>,
}

/// A job, whose global batch is `batch` times the workers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    batch: Positive,
    steps: Count,
    law: WorkerLaw,
    restart_s: NonNegative,
}

pub(super) const FUNCTIONS: &[Function] = &[
    function!(unequal_time_s ["job", "cluster", "batching"] "seconds of a job of `[unequal.jobs]` on a cluster of `[unequal.clusters]` with the batches of `[unequal.batching]`, without variation"),
    function!(unequal_changes ["job", "cluster", "batching"] "how often its batches change"),
];

fn named<'a, T>(all: &'a BTreeMap<String, T>, what: &str, name: &str) -> Result<&'a T, String> {
    all.get(name).ok_or_else(|| {
        let help = match closest(name, all.keys().map(String::as_str)) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        format!("there is no {what} `{name}`{help}")
    })
}

fn run(given: &Given, arguments: &Arguments<'_>) -> Result<Outcome, String> {
    let all = &given.unequal;
    let job = named(&all.jobs, "job", arguments.text("job")?)?;
    let job = UnequalJob {
        workers: named(&all.clusters, "cluster", arguments.text("cluster")?)?.clone(),
        batch: job.batch,
        steps: job.steps,
        law: job.law,
        batching: *named(&all.batching, "batching", arguments.text("batching")?)?,
        sync_s: NonNegative::new(0.0).ok_or("0 is no time")?,
        restart_s: job.restart_s,
        step_cv: Spread::new(0.0).ok_or("0 is no spread")?,
        schedule: None,
    };
    let plan = job.plan().map_err(|e| e.to_string())?;
    Ok(plan.run(&mut Streams::new(0).stream(0, Purpose::Trial(0))))
}

fn unequal_time_s(given: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    Ok(run(given, arguments)?.time_s)
}

fn unequal_changes(given: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    Ok(run(given, arguments)?.changes as f64)
}
