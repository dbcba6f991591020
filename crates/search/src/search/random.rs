//! Random search: probe some configurations drawn at random, choose among them.

use super::prober::Prober;
use super::settings::probing_settings;
use super::trials::none_reached;
use super::{BuildResult, Depends, Forecast, Past, Recipe, Task, ready};
use scavsim_read::input::checked::Count;

probing_settings! {
    /// Settings of random search.
    pub struct RandomSettings {
        /// Configurations probed, all different; at most as many as there are.
        // As many as partial search probes, so that the two compare.
        pub probes: Count = Count::new(4).expect("4 is at least 1"),
    }

    name: "random",
    what: "cold start, then probe some configurations at random and choose among them",
    formula: "probes: some, drawn at random; epochs: line of earlier runs; noise and step: read",
    source: "usual baseline",
    example: "search.strategies = [\"random@6\"]",
}

impl Recipe for RandomSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let probes = self.probes.get() as usize;
        let probing = Prober::new(task, past, self.probes());
        ready(Depends::NOTHING, move |task, testbed, stream, forecast| {
            probing.cold_start(testbed)?;
            let is_found = |forecast: &Forecast| forecast.time_s.iter().any(Option::is_some);
            let mut order: Vec<usize> = (0..task.space.len()).collect();
            // A partial shuffle: the first places hold a sample without repetition.
            for place in 0..order.len() {
                // What fails is charged, and others are tried.
                let goes_on = probing.is_to_target() && !is_found(forecast);
                if place >= probes && !goes_on {
                    break;
                }
                let other = place + stream.below(order.len() - place);
                order.swap(place, other);
                probing.probe_and_predict(testbed, order[place], forecast)?;
            }
            if probing.is_to_target() && !is_found(forecast) {
                Err(none_reached(order.len()))
            } else {
                Ok(())
            }
        })
    }
}
