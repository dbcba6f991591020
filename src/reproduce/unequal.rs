//! Clusters of unequal workers: a paper's jobs, clusters and policies by name, and its quantities.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::comparison::Figures;
use super::quantity::Quantity;
use super::selector::Selector;
use crate::checked::{Count, NonNegative, Positive, Spread};
use crate::cluster::batching::{Batching, Outcome, UnequalJob, Worker, WorkerLaw};
use crate::input::{self, Diagnostics, Source};
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
    const QUANTITIES: &'static [Quantity<Self>] = &[
        Quantity {
            name: "training_time",
            of: training_time,
        },
        Quantity {
            name: "speed_up",
            of: speed_up,
        },
        Quantity {
            name: "slow_down",
            of: slow_down,
        },
        Quantity {
            name: "batch_changes",
            of: batch_changes,
        },
    ];

    fn set_up(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Self> {
        input::toml::read(source, diagnostics)
    }
}

fn entry<'a, T>(
    table: &'a BTreeMap<String, T>,
    key: &str,
    selector: &Selector,
) -> Result<&'a T, String> {
    let name = selector.text(key)?;
    named(table, key, name)
}

fn named<'a, T>(table: &'a BTreeMap<String, T>, key: &str, name: &str) -> Result<&'a T, String> {
    table
        .get(name)
        .ok_or_else(|| format!("there is no {key} `{name}`"))
}

impl UnequalClusters {
    /// Runs a selector's job without variation, on `workers` under `batching`.
    fn run(
        &self,
        selector: &Selector,
        workers: &[Worker],
        batching: Batching,
    ) -> Result<Outcome, String> {
        let job = entry(&self.jobs, "job", selector)?;
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
        Ok(plan.run(&mut Streams::new(0).stream(Purpose::Run, 0, 0)))
    }

    /// A selector's job, cluster and policy.
    fn cell(&self, selector: &Selector) -> Result<Outcome, String> {
        let workers = entry(&self.clusters, "cluster", selector)?;
        let batching = *entry(&self.batching, "batching", selector)?;
        self.run(selector, workers, batching)
    }
}

/// Minutes of a job.
fn training_time(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    Ok(clusters.cell(selector)?.time_s / 60.0)
}

/// Time under the policy `against`, over time under `batching`.
fn speed_up(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    let workers = entry(&clusters.clusters, "cluster", selector)?;
    let against = *named(&clusters.batching, "batching", selector.text("against")?)?;
    let slow = clusters.run(selector, workers, against)?;
    Ok(slow.time_s / clusters.cell(selector)?.time_s)
}

/// Percent by which a job takes longer than on the cluster `against`.
fn slow_down(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    let equal = named(&clusters.clusters, "cluster", selector.text("against")?)?;
    let batching = *entry(&clusters.batching, "batching", selector)?;
    let quick = clusters.run(selector, equal, batching)?;
    Ok(100.0 * (clusters.cell(selector)?.time_s / quick.time_s - 1.0))
}

/// Changes of batches in a job.
fn batch_changes(clusters: &UnequalClusters, selector: &Selector) -> Result<f64, String> {
    Ok(clusters.cell(selector)?.changes as f64)
}
