//! What planners of parallel training do: profile layers, and predict all configurations by a model that is made from these.
//! Sources: Sailor (SOSP 2025), Piper (NeurIPS 2021), AMP (NeurIPS 2022).

use super::{BuildResult, Depends, Past, Recipe, Task, UnusableStrategy, ready};
use crate::testbed::{Extent, Stop};
use scavsim_base::settings;
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of the strategy `planner`.
    pub struct PlannerSettings {
        /// Passes over every layer, at every degree and micro-batch, on one VM of each type.
        pub passes: Count = Count::new(10).expect("10 is at least 1"),
    }

    name: "planner",
    what: "for parallel plans: profile layers on one VM of each type, then go through all plans on a model",
    formula: "probes: layers on one VM of each type, of parallel plans only; epochs: stated; noise: not read; step: by its model",
    source: "Sailor, SOSP 2025; Piper, NeurIPS 2021; AMP, NeurIPS 2022",
    example: "strategy.planner = { passes = 10 }",
}

impl Recipe for PlannerSettings {
    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        let Some(model) = task.layer_model else {
            let why = format!("`{}` is not cut over GPUs by plans", task.workload);
            return Err(UnusableStrategy(why));
        };
        let passes = u64::from(self.passes.get());
        let profiled = model.profiled();
        ready(Depends::NOTHING, move |task, testbed, _, forecast| {
            let Some(model) = task.layer_model else {
                return Err(Stop::Failed("there are no plans".to_owned()));
            };
            let mut passes_s = Vec::new();
            for &at in &profiled {
                let seen = testbed.probe(at, Extent::Profile(passes))?;
                passes_s.extend(seen.step_s.map(|pass_s| (at, pass_s)));
            }
            model.forecast(&passes_s, forecast);
            Ok(())
        })
    }
}
