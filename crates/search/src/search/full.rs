//! Full search: probe every configuration.

use std::collections::BTreeSet;

use super::prober::{Prober, UNREAD};
use super::settings::{NoiseBy, OWN_SHARE, probing_settings};
use super::{BuildResult, Depends, Past, Recipe, Task, ready, space};
use crate::testbed::Target;
use scavsim_base::stats::Welford;
use scavsim_read::input::checked::Fraction;

probing_settings! {
    /// Settings of full search.
    pub struct FullSettings {
        /// Whose noise tells the epochs of a configuration: what was read there alone, or the average over worker counts with
        /// its batch.
        pub noise_by: NoiseBy,
        /// Whether earlier runs of the workload give the epoch line; without, epochs are θ·(γ/K) with θ of its own run.
        pub earlier_runs: bool,
        /// Share of the way to the target that is trained to learn θ.
        pub progress: Fraction = Fraction::new(OWN_SHARE).expect("it is a fraction"),
    }

    name: "full",
    what: "cold start, then probe every configuration; epochs in proportion to the noise, their scale from the run itself",
    formula: "probes: every configuration, and a hundredth of the way to the target in the last of them; epochs: e = θ·(γ/K), θ from its own run; noise, averaged over K, and step: read",
    source: "Tyagi & Sharma, Scavenger, CCGrid 2023",
    example: "search.strategies = [\"full\"]",
}

impl Recipe for FullSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let groups = space::groups(task.space);
        // All configurations, so that the cluster only grows.
        let order: Vec<usize> = groups.into_iter().flat_map(|g| g.members).collect();
        let probes = self.probes();
        let probing = if self.earlier_runs {
            Prober::new(task, past, probes)
        } else {
            let probes = probes.without_earlier_runs()?;
            // Where noise tells nothing, every configuration is run.
            Prober::by_noise_alone(task, probes).unwrap_or_else(|_| Prober::to_target(task, probes))
        };
        let own_share = (!self.earlier_runs).then(|| self.progress.get());
        let noise_by = self.noise_by;
        let each = || (0..task.space.len()).map(|at| task.space.batch(at));
        let batches: Vec<Option<u32>> = each().collect::<BTreeSet<_>>().into_iter().collect();
        let place = |batch| batches.partition_point(|other| *other < batch);
        let batch_of: Vec<usize> = each().map(place).collect();
        ready(Depends::NOTHING, move |_, testbed, _, forecast| {
            probing.cold_start(testbed)?;
            let mut readings: Vec<(usize, f64, f64)> = Vec::with_capacity(order.len());
            for &at in &order {
                let seen = probing.probe(testbed, at)?;
                let noise = if probing.reads_noise() {
                    seen.noise_normalised
                } else {
                    Some(UNREAD)
                };
                if let Target::Reached(time_s) = seen.target {
                    forecast.predict(at, time_s);
                } else if let Some((noise, step_s)) = noise.zip(seen.step_s) {
                    readings.push((at, noise, step_s));
                }
            }
            let mut by_batch = vec![Welford::default(); batches.len()];
            for &(at, noise, _) in &readings {
                by_batch[batch_of[at]].add(noise);
            }
            for &(at, own, step_s) in &readings {
                let noise = match noise_by {
                    NoiseBy::Average => by_batch[batch_of[at]].mean(),
                    NoiseBy::Workers => own,
                };
                probing.predict(at, noise, step_s, forecast);
            }
            match own_share.zip(readings.last()) {
                Some((share, &(here, ..))) => {
                    let mut all = readings.iter().map(|reading| reading.0);
                    probing.scale_by_own_run(testbed, here, share, &mut all, forecast)
                }
                None => Ok(()),
            }
        })
    }
}
