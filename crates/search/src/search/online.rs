//! Search without offline profiling, as the slides of Scavenger have it: epochs are proportional to the noise, e = θ·(γ/K),
//! which is read with the steps while the job trains. No choice by time, cost or knee depends on θ. The job's own run tells
//! it: how many steps a first share of the way takes. No earlier run of any job is looked at.

use super::partial::{Extremes, NoiseAt, Partial, corners};
use super::prober::Prober;
use super::settings::{EpochsFrom, NoiseBy, OWN_SHARE, Probes, Start, StepFit};
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
    what: "without any earlier run: cold start, then probe the corners; epochs in proportion to the noise, their scale from the run itself",
    formula: "probes: the corners of (K, B), and a hundredth of the way to the target in the last of them; epochs: e = θ·(γ/K), θ from its own run; noise: line, step: plane through the probes",
    source: "slides of Tyagi & Sharma, Scavenger, CCGrid 2023",
    example: "strategy.online = { progress = 0.01 }",
}

impl Recipe for OnlineSettings {
    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        let probes = Probes {
            start: self.start,
            cold_start_steps: self.cold_start_steps,
            probe_steps: self.probe_steps,
            epochs_from: EpochsFrom::default(),
        };
        let probing = Prober::by_noise_alone(task, probes)?;
        let progress = self.progress.get();
        // It predicts with θ = 1.
        let partial = Partial {
            groups: corners(task, self.extremes),
            noise_at: probing.reads_noise().then_some(self.noise_at),
            probing,
            noise_by: self.noise_by,
            step_fit: self.step_fit,
        };
        partial.ready(Some(progress))
    }
}
