//! Partial search: probes the corners of (workers, batch), with a line for the noise and a plane for the step through them.
//!
//! Epochs are proportional to the noise, e = θ·(γ/K), read with the steps while the job trains. No choice by time, cost or knee
//! depends on θ, which the steps of a first share of the way tell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::models::{NoiseLine, StepPlane, StepReading};
use super::prober::{Prober, UNREAD};
use super::settings::{NoiseBy, OWN_SHARE, StepFit, probing_settings};
use super::space::Group;
use super::{BuildResult, Depends, Forecast, Past, Recipe, Task, ready, space};
use crate::testbed::{Stop, Target, Testbed};
use scavsim_read::input::checked::Fraction;

probing_settings! {
    /// Settings of partial search.
    pub struct PartialSettings {
        /// Which extreme points are probed.
        pub extremes: Extremes,
        /// At which of them the noise is read.
        pub noise_at: NoiseAt,
        /// One noise line for all worker counts, or one per worker count.
        pub noise_by: NoiseBy,
        /// How the step plane is put through the probes.
        pub step_fit: StepFit,
        /// Whether earlier runs of the workload give the epoch line; without, epochs are θ·(γ/K) with θ of its own run.
        pub earlier_runs: bool,
        /// Share of the way to the target that is trained, where the last probe was, to learn θ.
        pub progress: Fraction = Fraction::new(OWN_SHARE).expect("it is a fraction"),
    }

    name: "partial",
    what: "cold start, then probe the corners; models for step and noise through them; epochs in proportion to the noise, their scale from the run itself",
    formula: "probes: the corners of (K, B), and a hundredth of the way to the target in the last of them; epochs: e = θ·(γ/K), θ from its own run; noise: γ/K = a + s/√B, step: τ = c + c_b·b + c_K·K, through the probes",
    source: "Tyagi & Sharma, Scavenger, CCGrid 2023",
    example: "strategy.partial = { extremes = \"corners\" }",
}

/// Which extreme points are probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extremes {
    /// All four corners of (workers, batch).
    #[default]
    Corners,
    /// Three: fewest workers with both batches, most workers with the largest batch.
    Three,
    /// Two: the smallest and the largest configuration. Local batch and workers then move
    /// together, and the lines cannot tell them apart.
    Diagonal,
}

/// At which of the probed points the noise is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseAt {
    /// At every probed point.
    #[default]
    Probes,
    /// At those with the fewest workers.
    FewestWorkers,
    /// At those with the most workers.
    MostWorkers,
}

impl Recipe for PartialSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let probing = if self.earlier_runs {
            Prober::by_epochs(task, past, self.probes())?
        } else {
            Prober::by_noise_alone(task, self.probes().without_earlier_runs()?)?
        };
        let partial = Partial {
            groups: corners(task, self.extremes),
            noise_at: probing.reads_noise().then_some(self.noise_at),
            probing,
            noise_by: self.noise_by,
            step_fit: self.step_fit,
        };
        partial.ready((!self.earlier_runs).then(|| self.progress.get()))
    }
}

/// Groups of configurations with those of their corners that are probed.
pub(super) fn corners(task: &Task<'_>, extremes: Extremes) -> Vec<Group> {
    let mut groups = space::groups(task.space);
    for group in &mut groups {
        if let [a, b, c, d] = group.corners[..] {
            group.corners = match extremes {
                Extremes::Corners => vec![a, b, c, d],
                Extremes::Three => vec![a, b, d],
                Extremes::Diagonal => vec![a, d],
            };
        }
    }
    groups
}

pub(super) struct Partial {
    pub(super) groups: Vec<Group>,
    pub(super) probing: Prober,
    /// `None` where noise tells nothing.
    pub(super) noise_at: Option<NoiseAt>,
    pub(super) noise_by: NoiseBy,
    pub(super) step_fit: StepFit,
}

impl Partial {
    /// A search with its cold start; with `own_share`, θ is learned from that share of its own run.
    pub(super) fn ready(self, own_share: Option<f64>) -> BuildResult {
        ready(Depends::NOTHING, move |task, testbed, _, forecast| {
            self.probing.cold_start(testbed)?;
            let mut modelled = Vec::new();
            for group in &self.groups {
                if self.search_group(task, group, testbed, forecast)? {
                    modelled.push(group);
                }
            }
            let here = modelled.last().and_then(|group| group.corners.last());
            match own_share.zip(here) {
                Some((share, &here)) => {
                    let mut all = modelled
                        .iter()
                        .flat_map(|group| group.members.iter().copied());
                    let probing = &self.probing;
                    probing.scale_by_own_run(testbed, here, share, &mut all, forecast)
                }
                None => Ok(()),
            }
        })
    }

    /// Probes the corners of one VM type and predicts its configurations; whether they gave models, and not only times.
    pub(super) fn search_group(
        &self,
        task: &Task<'_>,
        group: &Group,
        testbed: &mut dyn Testbed,
        forecast: &mut Forecast,
    ) -> Result<bool, Stop> {
        let mut steps: Vec<StepReading> = Vec::with_capacity(4);
        let mut noises: Vec<(u32, u32, f64)> = Vec::with_capacity(4);
        for &corner in &group.corners {
            let seen = self.probing.probe(testbed, corner)?;
            if let Target::Reached(time_s) = seen.target {
                forecast.predict(corner, time_s);
                continue;
            }
            let (Some(workers), Some(batch)) =
                (task.space.workers(corner), task.space.batch(corner))
            else {
                continue;
            };
            steps.extend(StepReading::from_observation(task.space, corner, &seen));
            noises.extend(seen.noise_normalised.map(|noise| (workers, batch, noise)));
        }
        let Some(step) = StepPlane::fit(&steps, self.step_fit) else {
            return Ok(false); // without corners nothing is predicted
        };
        let counts = || noises.iter().map(|n| n.0);
        let only = match self.noise_at {
            None | Some(NoiseAt::Probes) => None,
            Some(NoiseAt::FewestWorkers) => counts().min(),
            Some(NoiseAt::MostWorkers) => counts().max(),
        };
        noises.retain(|n| only.is_none_or(|k| n.0 == k));
        let line = match self.noise_at {
            None => None,
            Some(_) => match NoiseLine::fit(&noises, self.noise_by) {
                Some(line) => Some(line),
                None => return Ok(false), // nor without noise
            },
        };
        for &index in &group.members {
            let (Some(workers), Some(batch)) = (task.space.workers(index), task.space.batch(index))
            else {
                continue;
            };
            let noise = line
                .as_ref()
                .map_or(UNREAD, |line| line.noise(workers, batch));
            let step_s = step.step_s(workers, batch);
            self.probing.predict(index, noise, step_s, forecast);
        }
        Ok(true)
    }
}
