//! Full search: probe every configuration.

use super::prober::Prober;
use super::settings::probing_settings;
use super::{BuildResult, Depends, Past, Recipe, Task, ready, space};

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
        // All configurations, so that the cluster only grows.
        let order: Vec<usize> = groups.into_iter().flat_map(|g| g.members).collect();
        let probing = Prober::new(task, past, self.probes());
        ready(Depends::NOTHING, move |_, testbed, _, forecast| {
            probing.cold_start(testbed)?;
            let mut order = order.iter();
            order.try_for_each(|&at| probing.probe_and_predict(testbed, at, forecast))
        })
    }
}
