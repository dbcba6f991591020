//! Full search: probe every configuration.

use super::prober::Prober;
use super::settings::probing_settings;
use super::{BuildResult, Forecast, Past, Recipe, Strategy, Task, space};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;

probing_settings! {
    /// Settings of full search.
    pub struct FullSettings {}

    name: "full",
    what: "cold start, then probe every configuration; epochs from the line of an earlier run",
    formula: "probes: every configuration; epochs: line of earlier runs; noise and step: read",
    source: "Tyagi & Sharma, Scavenger, CCGrid 2023",
    example: "search.strategies = [\"full\"]",
}

impl Recipe for FullSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let groups = space::groups(task.space);
        Ok(Box::new(Full {
            order: groups.into_iter().flat_map(|g| g.members).collect(),
            probing: Prober::new(task, past, self.probes()),
        }))
    }
}

struct Full {
    /// All configurations, so that the cluster only grows.
    order: Vec<usize>,
    probing: Prober,
}

impl Strategy for Full {
    fn search(
        &self,
        _: &Task<'_>,
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
