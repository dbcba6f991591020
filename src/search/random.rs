//! Random search: probe some configurations drawn at random, choose among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::full::no_epoch_line;
use super::models::EpochLine;
use super::registry::Recipe;
use super::settings::{EpochsFrom, Start};
use super::{Forecast, Knowledge, Strategy, Unusable, space};
use crate::checked::Count;
use crate::configuration::Configuration;
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Settings of random search.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomSettings {
    /// Configurations probed, all different; at most as many as there are.
    pub probes: Count,
    /// Where the search starts and settles.
    pub start: Start,
    /// Steps before the first probe; the workload's own figure when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_start_steps: Option<u32>,
    /// Steps per probe; the workload's own figure when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_steps: Option<Count>,
    /// Which earlier runs give the epoch line.
    pub epochs_from: EpochsFrom,
}

impl Default for RandomSettings {
    fn default() -> Self {
        RandomSettings {
            // As many as partial search probes, so that the two compare.
            probes: Count::new(4).expect("4 is at least 1"),
            start: Start::default(),
            cold_start_steps: None,
            probe_steps: None,
            epochs_from: EpochsFrom::default(),
        }
    }
}

impl Recipe for RandomSettings {
    const SUMMARY: &'static str =
        "cold start, then probe some configurations at random and choose among them";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let groups = space::groups(knowledge.configurations);
        Ok(Box::new(Random {
            probes: (self.probes.get() as usize).min(knowledge.configurations.len()),
            start: space::start(&groups, self.start).unwrap_or(0),
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

struct Random {
    probes: usize,
    start: usize,
    cold_start_steps: u64,
    probe_steps: u64,
    epochs: EpochLine,
    configurations: Vec<Configuration>,
    samples_per_epoch: f64,
}

impl Strategy for Random {
    fn search(
        &self,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        testbed.cold_start(self.start, self.cold_start_steps)?;
        // A partial shuffle: the first `probes` places hold a sample without repetition.
        let mut order: Vec<usize> = (0..self.configurations.len()).collect();
        for place in 0..self.probes {
            let other = place + stream.below(order.len() - place);
            order.swap(place, other);
            let index = order[place];
            let seen = testbed.probe(index, self.probe_steps)?;
            let epochs = self.epochs.epochs(seen.noise_normalised);
            let steps =
                epochs * self.samples_per_epoch / f64::from(self.configurations[index].batch);
            forecast.predict(index, steps * seen.step_s);
        }
        Ok(())
    }
}
