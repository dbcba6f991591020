//! Random search: probe some configurations drawn at random, choose among them.

use super::prober::Prober;
use super::settings::probing_settings;
use super::trials::none_reached;
use super::{BuildResult, Forecast, Past, Recipe, Strategy, Task};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
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
        Ok(Box::new(Random {
            probes: (self.probes.get() as usize).min(task.space.len()),
            probing: Prober::new(task, past, self.probes()),
        }))
    }
}

struct Random {
    probes: usize,
    probing: Prober,
}

impl Strategy for Random {
    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        self.probing.cold_start(testbed)?;
        let mut order: Vec<usize> = (0..task.space.len()).collect();
        let is_found = |forecast: &Forecast| forecast.time_s.iter().any(Option::is_some);
        // A partial shuffle: the first places hold a sample without repetition.
        for place in 0..order.len() {
            // What fails is charged, and others are tried.
            let goes_on = self.probing.is_to_target() && !is_found(forecast);
            if place >= self.probes && !goes_on {
                break;
            }
            let other = place + stream.below(order.len() - place);
            order.swap(place, other);
            self.probing
                .probe_and_predict(testbed, order[place], forecast)?;
        }
        if self.probing.is_to_target() && !is_found(forecast) {
            Err(none_reached(order.len()))
        } else {
            Ok(())
        }
    }
}
