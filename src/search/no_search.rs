//! No search: predict from the stored model of an earlier run of the same workload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::full::no_epoch_line;
use super::models::{EpochLine, StoredLines};
use super::registry::Recipe;
use super::settings::{EpochsFrom, NoiseBy};
use super::{Forecast, Knowledge, Strategy, Unusable};
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Settings of no search.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NoSearchSettings {
    /// What the earlier run stored.
    pub stored: Stored,
    /// Which earlier runs give the epoch line.
    #[serde(rename = "epochs_from")]
    pub epochs_from: EpochsFrom,
    /// One noise line for all worker counts, or one per worker count.
    #[serde(rename = "noise_by")]
    pub noise_by: NoiseBy,
}

/// What an earlier run stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stored {
    /// The fitted lines.
    #[default]
    Lines,
    /// The measured step and noise of every configuration, with the epoch line.
    Table,
}

impl Recipe for NoSearchSettings {
    const SUMMARY: &'static str =
        "the stored model of an earlier run of the same workload; nothing is probed";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let own = knowledge.own;
        let seconds_per_sample: Vec<Option<f64>> = match self.stored {
            Stored::Lines => {
                let lines = StoredLines::fit(own, self.epochs_from, self.noise_by)
                    .ok_or_else(|| no_epoch_line(knowledge))?;
                (knowledge.configurations.iter())
                    .map(|c| lines.seconds_per_sample(&c.vm, c.workers, c.batch))
                    .collect()
            }
            Stored::Table => {
                let epochs = EpochLine::fit(own, self.epochs_from)
                    .ok_or_else(|| no_epoch_line(knowledge))?;
                let noise = super::models::NoiseLine::fit(
                    &(own.runs.iter())
                        .filter_map(|r| Some((r.workers, r.batch, r.noise_normalised?)))
                        .collect::<Vec<_>>(),
                    self.noise_by,
                )
                .ok_or_else(|| no_epoch_line(knowledge))?;
                let predict = |c: &crate::configuration::Configuration| {
                    let run = own
                        .runs
                        .iter()
                        .find(|r| (&r.vm, r.workers, r.batch) == (&c.vm, c.workers, c.batch))?;
                    let noise = run
                        .noise_normalised
                        .unwrap_or_else(|| noise.noise(c.workers, c.batch));
                    Some(epochs.epochs(noise) / f64::from(c.batch) * run.step_s())
                };
                knowledge.configurations.iter().map(predict).collect()
            }
        };
        Ok(Box::new(Predetermined::new(
            seconds_per_sample,
            knowledge.samples_per_epoch,
        )))
    }
}

/// A forecast that is known before the job starts.
pub(super) struct Predetermined {
    time_s: Vec<Option<f64>>,
}

impl Predetermined {
    /// From predicted seconds per sample of an epoch, per configuration.
    pub(super) fn new(seconds_per_sample: Vec<Option<f64>>, samples_per_epoch: f64) -> Self {
        let time = |s: f64| s * samples_per_epoch;
        Predetermined {
            time_s: seconds_per_sample.into_iter().map(|s| s.map(time)).collect(),
        }
    }
}

impl Strategy for Predetermined {
    fn search(
        &self,
        _: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        for (index, time_s) in self.time_s.iter().enumerate() {
            if let Some(time_s) = time_s {
                forecast.predict(index, *time_s);
            }
        }
        Ok(())
    }
}
