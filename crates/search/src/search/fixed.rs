//! A fixed configuration: what a user does who does not search.

use super::settings::Start;
use super::{BuildResult, Depends, Past, Recipe, Task, UnusableStrategy, ready, space};
use scavsim_base::settings;
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of the strategy `default`. Absent fields are the smallest of the first VM type.
    pub struct DefaultSettings {
        /// Worker count K.
        pub workers: Option<Count>,
        /// Global batch B.
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
        let at = self.index(task)?;
        ready(Depends::NOTHING, move |_, _, _, forecast| {
            forecast.decided = Some(at);
            Ok(())
        })
    }
}
