//! A fixed configuration: what a user does who does not search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::Start;
use super::{Forecast, Knowledge, Recipe, Strategy, Unusable, space};
use crate::input::checked::Count;
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Settings of the strategy `default`. Absent fields are the smallest of the first VM type.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DefaultSettings {
    /// Worker count K.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<Count>,
    /// Global batch B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<Count>,
}

impl DefaultSettings {
    /// The index of the fixed configuration.
    ///
    /// # Errors
    /// [`Unusable`] when it is not among the configurations.
    pub fn index(&self, knowledge: &Knowledge<'_>) -> Result<usize, Unusable> {
        let configurations = knowledge.configurations;
        let groups = space::groups(configurations);
        let smallest = &configurations[space::start(&groups, Start::Smallest).unwrap_or(0)];
        let workers = self.workers.map_or(smallest.workers, Count::get);
        let batch = self.batch.map_or(smallest.batch, Count::get);
        configurations
            .iter()
            .position(|c| (c.workers, c.batch) == (workers, batch))
            .ok_or_else(|| {
                Unusable(format!(
                    "{workers} workers with batch {batch} is not among the configurations of `{}`",
                    knowledge.own.workload
                ))
            })
    }
}

impl Recipe for DefaultSettings {
    const SUMMARY: &'static str = "a fixed configuration, the smallest unless said otherwise";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        Ok(Box::new(Fixed(self.index(knowledge)?)))
    }
}

struct Fixed(usize);

impl Strategy for Fixed {
    fn search(
        &self,
        _: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        forecast.decided = Some(self.0);
        Ok(())
    }
}
