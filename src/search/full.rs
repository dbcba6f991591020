//! Full search: probe every configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::probing::Probing;
use super::settings::{EpochsFrom, Start};
use super::{Forecast, Knowledge, Recipe, Strategy, Unusable, space};
use crate::input::checked::Count;
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Settings of full search.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FullSettings {
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

impl Recipe for FullSettings {
    const SUMMARY: &'static str =
        "cold start, then probe every configuration; epochs from the line of an earlier run";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let groups = space::groups(knowledge.configurations);
        Ok(Box::new(Full {
            order: groups.into_iter().flat_map(|g| g.members).collect(),
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

struct Full {
    /// All configurations, so that the cluster only grows.
    order: Vec<usize>,
    probing: Probing,
}

impl Strategy for Full {
    fn search(
        &self,
        testbed: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        self.probing.cold_start(testbed)?;
        for &index in &self.order {
            self.probing.probe_and_predict(testbed, index, forecast)?;
        }
        Ok(())
    }
}
