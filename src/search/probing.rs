//! What all strategies that probe have in common: a start, a cold start, probes of a given length,
//! and the epoch line of an earlier run.

use super::models::EpochLine;
use super::settings::{EpochsFrom, Start};
use super::{Forecast, Knowledge, Unusable, space};
use crate::configuration::Configuration;
use crate::input::checked::Count;
use crate::testbed::{Observation, Stop, Testbed};

/// The complaint of every strategy that needs the epoch line of an earlier run.
pub(super) fn no_epoch_line(knowledge: &Knowledge<'_>) -> Unusable {
    Unusable(format!(
        "`{}` has no run with both noise and epochs to fit the epoch line to",
        knowledge.own.workload
    ))
}

/// How a strategy probes one workload.
#[derive(Debug, Clone)]
pub(super) struct Probing {
    start: usize,
    cold_start_steps: u64,
    probe_steps: u64,
    epochs: EpochLine,
    samples_per_epoch: f64,
    /// The configurations to choose from.
    pub(super) configurations: Vec<Configuration>,
}

impl Probing {
    /// From settings; absent step counts are the workload's own.
    pub(super) fn new(
        knowledge: &Knowledge<'_>,
        start: Start,
        cold_start_steps: Option<u32>,
        probe_steps: Option<Count>,
        epochs_from: EpochsFrom,
    ) -> Result<Self, Unusable> {
        let groups = space::groups(knowledge.configurations);
        Ok(Probing {
            start: space::start(&groups, start).unwrap_or(0),
            cold_start_steps: cold_start_steps.map_or(knowledge.cold_start_steps, u64::from),
            probe_steps: probe_steps.map_or(knowledge.probe_steps, |s| u64::from(s.get())),
            epochs: EpochLine::fit(knowledge.own, epochs_from)
                .ok_or_else(|| no_epoch_line(knowledge))?,
            samples_per_epoch: knowledge.samples_per_epoch,
            configurations: knowledge.configurations.to_vec(),
        })
    }

    /// Runs the starting configuration until its noise has settled.
    pub(super) fn cold_start(&self, testbed: &mut dyn Testbed) -> Result<(), Stop> {
        testbed.cold_start(self.start, self.cold_start_steps)
    }

    /// Looks at a configuration.
    pub(super) fn probe(
        &self,
        testbed: &mut dyn Testbed,
        configuration: usize,
    ) -> Result<Observation, Stop> {
        testbed.probe(configuration, self.probe_steps)
    }

    /// Looks at a configuration and predicts it from what was seen.
    pub(super) fn probe_and_predict(
        &self,
        testbed: &mut dyn Testbed,
        configuration: usize,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let seen = self.probe(testbed, configuration)?;
        if let Some(noise) = seen.noise_normalised {
            self.predict(configuration, noise, seen.step_s, forecast);
        }
        Ok(())
    }

    /// Predicts a configuration: T = e(γ/K)·D/B·τ.
    pub(super) fn predict(
        &self,
        configuration: usize,
        noise_normalised: f64,
        step_s: f64,
        forecast: &mut Forecast,
    ) {
        let batch = f64::from(self.configurations[configuration].batch);
        let steps = self.epochs.epochs(noise_normalised) * self.samples_per_epoch / batch;
        forecast.predict(configuration, steps * step_s);
    }
}
