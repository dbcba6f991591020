//! WHAT is trained: measured step costs, epochs and SGD noise, replayed.
//!
//! In: a data folder (embedded or on disk). Out: a [`Workload`] that answers for every
//! configuration inside the measured hull and refuses all others. It knows no cloud, no price and
//! no strategy.
//!
//! - [`origin`]: where a figure comes from, and how a result was obtained from figures.
//! - [`load`]: a folder of tables → a checked [`Workload`].
//! - [`library`]: the workloads embedded in the binary, and folders on disk.
//! - [`grid`]: interpolation over measured (workers, batch) points.
//! - [`step_cost`], [`epochs`], [`noise`], [`noise_curve`]: the four measured tables.
//! - [`law`]: formulae for what was not measured.

pub mod epochs;
pub mod grid;
pub mod law;
pub mod library;
pub mod load;
pub mod noise;
pub mod noise_curve;
pub mod origin;
pub mod step_cost;

pub use epochs::Epochs;
pub use noise::Noise;
pub use noise_curve::NoiseCurve;
pub use origin::{Origin, Provenance, Sourced};
pub use step_cost::{StepCost, StepCosts, StepMeasured};

use crate::configuration::Configuration;

/// One training job as it was measured.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Name under which scenarios and results refer to it.
    pub name: String,
    /// What it is, for people.
    pub description: Description,
    /// Figures that hold for every configuration.
    pub constants: Constants,
    /// Seconds per step.
    pub steps: StepCosts,
    /// Passes over the data set to the target.
    pub epochs: Epochs,
    /// Normalised SGD noise at the target.
    pub noise: Noise,
    /// SGD noise over training relative to its end; flat where none was measured.
    pub noise_curve: NoiseCurve,
    /// Times and costs as published, for validation only: nothing in the simulation reads them.
    pub published: Vec<Published>,
    /// BLAKE3 hash of the folder's files, for the manifest.
    pub hash: String,
}

/// What a workload is, for people.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// The model trained.
    pub model: String,
    /// The data set.
    pub data_set: String,
    /// When training is finished.
    pub target: String,
    /// Who measured it.
    pub citation: String,
    /// How exact the figures are.
    pub accuracy: String,
    /// Terms under which the tables may be used.
    pub licence: String,
}

/// Figures of a workload that hold for every configuration.
#[derive(Debug, Clone)]
pub struct Constants {
    /// Samples in one epoch, D.
    pub samples_per_epoch: Sourced,
    /// Steps until the noise reading settles.
    pub cold_start_steps: Sourced,
    /// Steps that one probe takes.
    pub probe_steps: Sourced,
    /// Seconds to restore a checkpoint in a new configuration.
    pub restore_s: Sourced,
}

/// One measured cell as its authors printed it.
#[derive(Debug, Clone)]
pub struct Published {
    /// The configuration.
    pub configuration: Configuration,
    /// Hours to the target.
    pub time_h: f64,
    /// USD to the target.
    pub cost_usd: f64,
}

/// The truth about one configuration, before any random variation.
#[derive(Debug, Clone, Copy)]
pub struct Replay {
    /// Cost of a step.
    pub step: StepCost,
    /// Passes over the data to the target.
    pub epochs: f64,
    /// Normalised SGD noise γ/K at the target.
    pub noise_normalised: f64,
    /// Measured, or interpolated between measurements.
    pub provenance: Provenance,
}

impl Workload {
    /// What the measurements say about `configuration`.
    ///
    /// # Errors
    /// [`OutsideHull`] when no measurements surround it.
    pub fn replay(&self, configuration: &Configuration) -> Result<Replay, OutsideHull> {
        let Configuration { workers, batch, .. } = *configuration;
        let (k, b) = (f64::from(workers), f64::from(batch));
        let refuse = || OutsideHull {
            workload: self.name.clone(),
            configuration: configuration.clone(),
            nearest: self.steps.nearest(configuration),
        };
        Ok(Replay {
            step: self.steps.at(configuration).ok_or_else(refuse)?,
            epochs: self.epochs.at(k, b).ok_or_else(refuse)?,
            noise_normalised: self.noise.at(workers, b).ok_or_else(refuse)?,
            provenance: if self.steps.is_measured(configuration) {
                Provenance::Measured
            } else {
                Provenance::Interpolated
            },
        })
    }

    /// Steps to the target without luck, n = e·D/B.
    pub fn steps_to_target(&self, epochs: f64, batch: u32) -> f64 {
        epochs * self.constants.samples_per_epoch.value / f64::from(batch)
    }
}

/// A configuration that no measurements surround.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{workload}` was not measured around {configuration}{}", nearest_hint(.nearest))]
pub struct OutsideHull {
    /// The workload asked.
    pub workload: String,
    /// The configuration asked for.
    pub configuration: Configuration,
    /// The measured configuration closest to it, in relative distance; `None` when the VM type
    /// was never measured.
    pub nearest: Option<Configuration>,
}

fn nearest_hint(nearest: &Option<Configuration>) -> String {
    match nearest {
        Some(at) => format!("; the nearest measured point is {at}"),
        None => "; this VM type was never measured".to_owned(),
    }
}
