//! Full search: probe every configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::models::EpochLine;
use super::registry::Recipe;
use super::settings::{EpochsFrom, Start};
use super::{Forecast, Knowledge, Strategy, Unusable, space};
use crate::checked::Count;
use crate::configuration::Configuration;
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Settings of full search.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FullSettings {
    /// Where the search starts and settles.
    pub start: Start,
    /// Steps before the first probe; the workload's own figure when absent.
    #[serde(rename = "cold_start_steps", skip_serializing_if = "Option::is_none")]
    pub cold_start_steps: Option<u32>,
    /// Steps per probe; the workload's own figure when absent.
    #[serde(rename = "probe_steps", skip_serializing_if = "Option::is_none")]
    pub probe_steps: Option<Count>,
    /// Which earlier runs give the epoch line.
    #[serde(rename = "epochs_from")]
    pub epochs_from: EpochsFrom,
}

impl Recipe for FullSettings {
    const SUMMARY: &'static str =
        "cold start, then probe every configuration; epochs from the line of an earlier run";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let groups = space::groups(knowledge.configurations);
        Ok(Box::new(Full {
            start: space::start(&groups, self.start).unwrap_or(0),
            order: groups.into_iter().flat_map(|g| g.members).collect(),
            cold_start_steps: self
                .cold_start_steps
                .map_or(knowledge.cold_start_steps, u64::from),
            probe_steps: self
                .probe_steps
                .map_or(knowledge.probe_steps, |s| u64::from(s.get())),
            epochs: EpochLine::fit(knowledge.own, self.epochs_from)
                .ok_or_else(|| no_epoch_line(knowledge))?,
            configurations: knowledge.configurations.to_vec(),
            samples_per_epoch: knowledge.samples_per_epoch,
        }))
    }
}

/// The complaint of every strategy that needs the epoch line of an earlier run.
pub(super) fn no_epoch_line(knowledge: &Knowledge<'_>) -> Unusable {
    Unusable(format!(
        "`{}` has no run with both noise and epochs to fit the epoch line to",
        knowledge.own.workload
    ))
}

struct Full {
    start: usize,
    order: Vec<usize>,
    cold_start_steps: u64,
    probe_steps: u64,
    epochs: EpochLine,
    configurations: Vec<Configuration>,
    samples_per_epoch: f64,
}

impl Strategy for Full {
    fn search(
        &self,
        testbed: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        testbed.cold_start(self.start, self.cold_start_steps)?;
        for &index in &self.order {
            let seen = testbed.probe(index, self.probe_steps)?;
            let epochs = self.epochs.epochs(seen.noise_normalised);
            let steps =
                epochs * self.samples_per_epoch / f64::from(self.configurations[index].batch);
            forecast.predict(index, steps * seen.step_s);
        }
        Ok(())
    }
}
