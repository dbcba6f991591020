//! Partial search: probe the corners of (workers, batch) and put lines through them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::full::no_epoch_line;
use super::models::{EpochLine, NoiseLine, StepLines, StepReading};
use super::registry::Recipe;
use super::settings::{EpochsFrom, NoiseBy, Start};
use super::space::Group;
use super::{Forecast, Knowledge, Strategy, Unusable, space};
use crate::checked::Count;
use crate::configuration::Configuration;
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Settings of partial search.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PartialSettings {
    /// Where the search starts and settles.
    pub start: Start,
    /// Steps before the first probe; the workload's own figure when absent.
    #[serde(rename = "cold_start_steps", skip_serializing_if = "Option::is_none")]
    pub cold_start_steps: Option<u32>,
    /// Steps per probe; the workload's own figure when absent.
    #[serde(rename = "probe_steps", skip_serializing_if = "Option::is_none")]
    pub probe_steps: Option<Count>,
    /// Which earlier runs give the epoch line.
    #[serde(rename = "epochs_from")]
    pub epochs_from: EpochsFrom,
    /// Which extreme points are probed.
    pub extremes: Extremes,
    /// At which of them the noise is read.
    #[serde(rename = "noise_at")]
    pub noise_at: NoiseAt,
    /// One noise line for all worker counts, or one per worker count.
    #[serde(rename = "noise_by")]
    pub noise_by: NoiseBy,
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
    const SUMMARY: &'static str =
        "cold start, then probe the corners; lines for compute, communication and noise";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let mut groups = space::groups(knowledge.configurations);
        let start = space::start(&groups, self.start).unwrap_or(0);
        for group in &mut groups {
            if let [a, b, c, d] = group.corners[..] {
                group.corners = match self.extremes {
                    Extremes::Corners => vec![a, b, c, d],
                    Extremes::Three => vec![a, b, d],
                    Extremes::Diagonal => vec![a, d],
                };
            }
        }
        Ok(Box::new(Partial {
            start,
            groups,
            cold_start_steps: self
                .cold_start_steps
                .map_or(knowledge.cold_start_steps, u64::from),
            probe_steps: self
                .probe_steps
                .map_or(knowledge.probe_steps, |s| u64::from(s.get())),
            epochs: EpochLine::fit(knowledge.own, self.epochs_from)
                .ok_or_else(|| no_epoch_line(knowledge))?,
            noise_at: self.noise_at,
            noise_by: self.noise_by,
            configurations: Arc::from(knowledge.configurations),
            samples_per_epoch: knowledge.samples_per_epoch,
        }))
    }
}

struct Partial {
    start: usize,
    groups: Vec<Group>,
    cold_start_steps: u64,
    probe_steps: u64,
    epochs: EpochLine,
    noise_at: NoiseAt,
    noise_by: NoiseBy,
    configurations: Arc<[Configuration]>,
    samples_per_epoch: f64,
}

impl Strategy for Partial {
    fn search(
        &self,
        testbed: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        testbed.cold_start(self.start, self.cold_start_steps)?;
        for group in &self.groups {
            self.search_group(group, testbed, forecast)?;
        }
        Ok(())
    }
}

impl Partial {
    /// Probes the corners of one VM type and predicts all its configurations.
    fn search_group(
        &self,
        group: &Group,
        testbed: &mut dyn Testbed,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let mut steps: Vec<StepReading> = Vec::with_capacity(4);
        let mut noises: Vec<(u32, u32, f64)> = Vec::with_capacity(4);
        for &corner in &group.corners {
            let Configuration { workers, batch, .. } = self.configurations[corner];
            let seen = testbed.probe(corner, self.probe_steps)?;
            steps.push((workers, batch, seen.compute_s, seen.communication_s));
            noises.push((workers, batch, seen.noise_normalised));
        }
        let counts = || noises.iter().map(|n| n.0);
        let only = match self.noise_at {
            NoiseAt::Probes => None,
            NoiseAt::FewestWorkers => counts().min(),
            NoiseAt::MostWorkers => counts().max(),
        };
        noises.retain(|n| only.is_none_or(|k| n.0 == k));
        let (Some(step), Some(noise)) = (
            StepLines::fit(&steps),
            NoiseLine::fit(&noises, self.noise_by),
        ) else {
            return Ok(()); // a group without corners predicts nothing
        };
        for &index in &group.members {
            let Configuration { workers, batch, .. } = self.configurations[index];
            let epochs = self.epochs.epochs(noise.noise(workers, batch));
            let count = epochs * self.samples_per_epoch / f64::from(batch);
            forecast.predict(index, count * step.step_s(workers, batch));
        }
        Ok(())
    }
}
