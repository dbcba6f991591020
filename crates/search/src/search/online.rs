//! Partial search without earlier runs, by its name in the slides of Scavenger.

use super::partial::{Extremes, NoiseAt, PartialSettings};
use super::settings::{EpochsFrom, NoiseBy, OWN_SHARE, Start, StepFit};
use super::{BuildResult, Past, Recipe, Task};
use scavsim_base::settings;
use scavsim_read::input::checked::{Count, Fraction};

settings! {
    /// Settings of a search without any earlier run.
    pub struct OnlineSettings {
        /// Where the search starts and settles.
        pub start: Start,
        /// Steps before the first probe; the workload's own figure when absent.
        pub cold_start_steps: Option<u32>,
        /// Steps per probe; the workload's own figure when absent.
        pub probe_steps: Option<Count>,
        /// Which extreme points are probed.
        pub extremes: Extremes,
        /// At which of them the noise is read.
        pub noise_at: NoiseAt,
        /// One noise line for all worker counts, or one per worker count.
        pub noise_by: NoiseBy,
        /// How the step plane is put through the probes.
        pub step_fit: StepFit,
        /// Share of the way to the target that is trained, where the last probe was, to learn how long the way is.
        pub progress: Fraction = Fraction::new(OWN_SHARE).expect("it is a fraction"),
    }

    name: "online",
    what: "partial search without any earlier run, whatever the settings of `partial`",
    formula: "as `partial` with `earlier_runs = false`",
    source: "slides of Tyagi & Sharma, Scavenger, CCGrid 2023",
    example: "strategy.online = { progress = 0.01 }",
}

impl Recipe for OnlineSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let partial = PartialSettings {
            start: self.start,
            cold_start_steps: self.cold_start_steps,
            probe_steps: self.probe_steps,
            epochs_from: EpochsFrom::default(),
            extremes: self.extremes,
            noise_at: self.noise_at,
            noise_by: self.noise_by,
            step_fit: self.step_fit,
            earlier_runs: false,
            progress: self.progress,
        };
        partial.build(task, past)
    }
}
