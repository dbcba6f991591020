//! Random search: probe some configurations drawn at random, choose among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::probing::Probing;
use super::settings::{EpochsFrom, Start};
use super::{Forecast, Knowledge, Recipe, Strategy, Unusable};
use crate::input::checked::Count;
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
        Ok(Box::new(Random {
            probes: (self.probes.get() as usize).min(knowledge.configurations.len()),
            probing: Probing::new(
                knowledge,
                self.start,
                self.cold_start_steps,
                self.probe_steps,
                self.epochs_from,
            )?,
        }))
    }
}

struct Random {
    probes: usize,
    probing: Probing,
}

impl Strategy for Random {
    fn search(
        &self,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        self.probing.cold_start(testbed)?;
        // A partial shuffle: the first `probes` places hold a sample without repetition.
        let mut order: Vec<usize> = (0..self.probing.configurations.len()).collect();
        for place in 0..self.probes {
            let other = place + stream.below(order.len() - place);
            order.swap(place, other);
            self.probing
                .probe_and_predict(testbed, order[place], forecast)?;
        }
        Ok(())
    }
}
