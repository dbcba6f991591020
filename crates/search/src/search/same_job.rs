//! Predicts from the stored model of the workload's own earlier runs, of which there are as many as were measured. That
//! is in-sample: what it predicts is what it was fitted to, a bound on what knowledge can do.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::models::{EpochModel, Fits, StoredModel};
use super::prober::no_epoch_line;
use super::settings::{EpochsFrom, NoiseBy, StepFit};
use super::{BuildResult, Depends, Past, Recipe, Task, ready};
use crate::testbed::{History, PastRun};
use scavsim_base::settings;
use scavsim_data::space::Space;

settings! {
    /// Settings of the stored model of the same job.
    pub struct SameJobSettings {
        /// What the earlier runs stored.
        pub stored: StoredKnowledge,
        /// Which earlier runs give the epoch line.
        pub epochs_from: EpochsFrom,
        /// One noise line for all worker counts, or one per worker count.
        pub noise_by: NoiseBy,
        /// How the step plane is put through the stored steps.
        pub step_fit: StepFit,
    }

    name: "same-job",
    what: "the model of all earlier runs of the same workload, in-sample; nothing is probed",
    formula: "probes: none; epochs and noise: lines, step: plane of earlier runs",
    source: "Tyagi & Sharma, Scavenger, CCGrid 2023",
    example: "strategy.same-job = { stored = \"models\" }",
}

/// What an earlier run stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoredKnowledge {
    /// The fitted models.
    #[default]
    Models,
    /// The measured step and noise of every configuration, with the epoch line.
    Table,
}

impl Recipe for SameJobSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let fits = Fits {
            epochs_from: self.epochs_from,
            noise_by: self.noise_by,
            step_fit: self.step_fit,
        };
        let own = past.take_own(|_| true);
        let seconds_per_sample = match self.stored {
            StoredKnowledge::Models => from_models(&own, task.space, fits),
            StoredKnowledge::Table => from_table(&own, task.space, fits),
        };
        let (Some(seconds_per_sample), Some(samples_per_epoch)) =
            (seconds_per_sample, task.samples_per_epoch)
        else {
            return Err(no_epoch_line(task));
        };
        predetermined(seconds_per_sample, samples_per_epoch)
    }
}

fn from_models(own: &History, space: &Space, fits: Fits) -> Option<Vec<Option<f64>>> {
    let model = StoredModel::fit(own, fits)?;
    Some(
        (0..space.len())
            .map(|at| model.predict(space, at))
            .collect(),
    )
}

/// Only configurations that were run before are predicted.
fn from_table(own: &History, space: &Space, fits: Fits) -> Option<Vec<Option<f64>>> {
    let epochs = EpochModel::fit(own, fits)?;
    let mut runs: HashMap<_, &PastRun> = HashMap::new();
    for run in &own.runs {
        if let Some(cluster) = run.cluster() {
            runs.entry(cluster).or_insert(run);
        }
    }
    let predict = |at: usize| {
        let (vm, workers, batch) = (space.vm(at)?, space.workers(at)?, space.batch(at)?);
        let run = runs.get(&(vm, workers, batch))?;
        let epochs = epochs.epochs(workers, batch, run.noise_normalised);
        Some(epochs / f64::from(batch) * run.step_s()?)
    };
    Some((0..space.len()).map(predict).collect())
}

/// The strategy that predicts these seconds per sample of an epoch, per configuration.
pub(super) fn predetermined(
    seconds_per_sample: Vec<Option<f64>>,
    samples_per_epoch: f64,
) -> BuildResult {
    ready(Depends::NOTHING, move |_, _, _, forecast| {
        for (at, seconds) in seconds_per_sample.iter().enumerate() {
            if let Some(seconds) = seconds {
                forecast.predict(at, seconds * samples_per_epoch);
            }
        }
        Ok(())
    })
}
