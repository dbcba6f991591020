//! Clusters of unequal workers: a paper's jobs, clusters and policies by name, and its quantities.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::cluster::batching::{Batching, Outcome, UnequalJob, Worker, WorkerLaw};
use crate::input::checked::{Count, NonNegative, Positive, Spread};
use crate::input::{self, Diagnostics, Source};
use crate::reproduce::figures::{Figures, Quantity, named, quantities};
use crate::reproduce::selector::Selector;
use crate::rng::{Purpose, Streams};

/// What a paper on unequal workers is computed from: every job runs on any cluster under any policy.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnequalClusters {
    /// Name of the paper: marks the file as no scenario.
    #[serde(rename = "paper")]
    _paper: String,
    jobs: BTreeMap<String, Job>,
    clusters: BTreeMap<String, Vec<Worker>>,
    batching: BTreeMap<String, Batching>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    batch: Positive,
    steps: Count,
    law: WorkerLaw,
    restart_s: NonNegative,
}

impl Figures for UnequalClusters {
    const QUANTITIES: &'static [Quantity<Self>] = quantities! {
        training_time,
        speed_up,
        slow_down,
        batch_changes,
    };

    fn set_up(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Self> {
        input::toml::read(source, diagnostics)
    }
}

impl UnequalClusters {
    /// Runs a selector's job without variation, on `workers` under `batching`.
    fn run(
        &self,
        selector: &Selector,
        workers: &[Worker],
        batching: Batching,
    ) -> Result<Outcome, String> {
        let job = named(&self.jobs, "job", selector.text("job")?)?;
        let job = UnequalJob {
            workers: workers.to_vec(),
            batch: job.batch,
            steps: job.steps,
            law: job.law,
            batching,
            sync_s: NonNegative::new(0.0).ok_or("0 is no time")?,
            restart_s: job.restart_s,
            step_cv: Spread::new(0.0).ok_or("0 is no spread")?,
            schedule: None,
        };
        let plan = job.plan().map_err(|e| e.to_string())?;
        Ok(plan.run(&mut Streams::new(0).stream(0, Purpose::Trial(0))))
    }

    /// A selector's job, cluster and policy.
    fn cell(&self, selector: &Selector) -> Result<Outcome, String> {
        let workers = named(&self.clusters, "cluster", selector.text("cluster")?)?;
        let batching = *named(&self.batching, "batching", selector.text("batching")?)?;
        self.run(selector, workers, batching)
    }
}

/// Minutes of a job.
fn training_time(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    Ok(clusters.cell(selector)?.time_s / 60.0)
}

/// Time under the policy `against`, over time under `batching`.
fn speed_up(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    let workers = named(&clusters.clusters, "cluster", selector.text("cluster")?)?;
    let against = *named(&clusters.batching, "batching", selector.text("against")?)?;
    let slow = clusters.run(selector, workers, against)?;
    Ok(slow.time_s / clusters.cell(selector)?.time_s)
}

/// Percent by which a job takes longer than on the cluster `against`.
fn slow_down(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    let equal = named(&clusters.clusters, "cluster", selector.text("against")?)?;
    let batching = *named(&clusters.batching, "batching", selector.text("batching")?)?;
    let quick = clusters.run(selector, equal, batching)?;
    Ok(100.0 * (clusters.cell(selector)?.time_s / quick.time_s - 1.0))
}

/// Changes of batches in a job.
fn batch_changes(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    Ok(clusters.cell(selector)?.changes as f64)
}
