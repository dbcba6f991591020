//! A fixed configuration: what a user does who does not search.

use super::settings::{Start, strategy_settings};
use super::{BuildResult, Forecast, Past, Recipe, Strategy, Task, UnusableStrategy, space};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_read::input::checked::Count;

strategy_settings! {
    /// Settings of the strategy `default`. Absent fields are the smallest of the first VM type.
    pub struct DefaultSettings {
        /// Worker count K.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub workers: Option<Count>,
        /// Global batch B.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub batch: Option<Count>,
    }

    name: "default",
    what: "a fixed configuration, the smallest unless said otherwise",
    formula: "probes: none",
    source: "usual baseline",
    example: "strategy.default = { workers = 8, batch = 512 }",
}

impl DefaultSettings {
    pub fn index(&self, task: &Task<'_>) -> Result<usize, UnusableStrategy> {
        let space = task.space;
        let groups = space::groups(space);
        let smallest = space::start(&groups, Start::Smallest).unwrap_or(0);
        if self.workers.is_none() && self.batch.is_none() {
            return Ok(smallest);
        }
        let workers = (self.workers.map(Count::get)).or_else(|| space.workers(smallest));
        let batch = (self.batch.map(Count::get)).or_else(|| space.batch(smallest));
        (0..space.len())
            .find(|&at| (space.workers(at), space.batch(at)) == (workers, batch))
            .ok_or_else(|| {
                let said = |value: Option<u32>| value.map_or("no".to_owned(), |v| v.to_string());
                UnusableStrategy(format!(
                    "{} workers with batch {} is not among the configurations of `{}`",
                    said(workers),
                    said(batch),
                    task.workload
                ))
            })
    }
}

impl Recipe for DefaultSettings {
    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        Ok(Box::new(FixedConfiguration(self.index(task)?)))
    }
}

struct FixedConfiguration(usize);

impl Strategy for FixedConfiguration {
    fn search(
        &self,
        _: &Task<'_>,
        _: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        forecast.decided = Some(self.0);
        Ok(())
    }
}
