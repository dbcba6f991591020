//! What a newcomer can do: one earlier run of the job, or none, and the corners. The paper takes the line of epochs against
//! noise from one earlier run; but one run is one point. Here its epochs are taken for every configuration, an assumption,
//! and probes tell only the step; noise then tells nothing, so there is no cold start. Without that run the corners are run
//! to the target, and one of them is chosen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::partial::{Extremes, Partial, corners};
use super::prober::Prober;
use super::settings::{NoiseBy, Probes, StepFit};
use super::{BuildResult, Past, Recipe, Task};
use scavsim_base::settings;
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of a search by a newcomer.
    pub struct OneRunSettings {
        /// Which earlier run of the job there is.
        pub earlier_run: EarlierRun,
        /// Steps per probe; the workload's own figure when absent.
        pub probe_steps: Option<Count>,
        /// Which extreme points are probed.
        pub extremes: Extremes,
        /// How the step plane is put through the probes.
        pub step_fit: StepFit,
    }

    name: "one-run",
    what: "what a newcomer has: epochs as in one earlier run, taken to be the same everywhere; probe the corners for the step",
    formula: "probes: the corners of (K, B), without a cold start; epochs: those of one earlier run, everywhere; noise: not used; step: plane through the probes",
    source: "Tyagi & Sharma, Scavenger, CCGrid 2023; equal epochs everywhere are our assumption",
    example: "strategy.one-run = { earlier_run = \"smallest\" }",
}

/// Which earlier run of its job a newcomer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlierRun {
    /// One to the target, in the smallest configuration; where that was not run, the first that was.
    #[default]
    Smallest,
    /// None: what is tried is run to the target.
    None,
}

impl Recipe for OneRunSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let probes = Probes::of_steps(self.probe_steps);
        let partial = Partial {
            groups: corners(task, self.extremes),
            probing: match self.earlier_run {
                EarlierRun::Smallest => Prober::by_one_run(task, past, probes),
                EarlierRun::None => Prober::to_target(task, probes),
            },
            noise_at: None,
            noise_by: NoiseBy::default(),
            step_fit: self.step_fit,
        };
        partial.ready(None)
    }
}
