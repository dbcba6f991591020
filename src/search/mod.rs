//! Strategies: how a configuration is searched for.
//!
//! A strategy is built once per workload from what it may know beforehand ([`Knowledge`]), then
//! searches many times on a testbed and leaves a forecast of the time to the target per
//! configuration. The objective picks from the forecast.
//!
//! - [`registry`]: all strategies by name. A new one is a file here and a line there.
//!   The oracle is not a search: the experiment gives it the truth.
//! - [`full`], [`partial`], [`no_search`], [`universal`]: the strategies of the Scavenger paper.
//! - [`random`], [`fixed`]: baselines.
//! - `probing`: what strategies that probe have in common; [`models`]: what they fit;
//!   [`settings`]: the choices that the paper leaves open.
//! - [`space`]: corners and starting points of a list of configurations.
//! - [`objective`]: time, cost, knee.

pub mod fixed;
pub mod full;
pub mod models;
pub mod no_search;
pub mod objective;
pub mod partial;
mod probing;
pub mod random;
pub mod registry;
pub mod settings;
pub mod space;
pub mod universal;

pub use objective::{Limits, Objective, Point};
pub use registry::{ORACLE, Settings};

use crate::configuration::Configuration;
use crate::rng::Stream;
use crate::testbed::{History, Stop, Testbed};
use crate::workload::Workload;

/// What a strategy may know before it starts.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge<'a> {
    /// The configurations to choose from; results refer to their order.
    pub configurations: &'a [Configuration],
    /// Samples in one epoch, D.
    pub samples_per_epoch: f64,
    /// Steps after which this workload's noise is said to settle.
    pub cold_start_steps: u64,
    /// Steps that a probe of this workload takes.
    pub probe_steps: u64,
    /// Stored measurements of earlier runs of this workload.
    pub own: &'a History,
    /// Stored measurements of all workloads that the service has seen, this one included.
    pub stored: &'a [History],
}

impl<'a> Knowledge<'a> {
    /// What may be known of `workload` on `configurations`, given stored measurements.
    pub fn of(
        workload: &Workload,
        configurations: &'a [Configuration],
        own: &'a History,
        stored: &'a [History],
    ) -> Self {
        let constants = &workload.constants;
        Knowledge {
            configurations,
            samples_per_epoch: constants.samples_per_epoch.value,
            // Both were checked to be whole when the workload was loaded.
            cold_start_steps: constants.cold_start_steps.value as u64,
            probe_steps: constants.probe_steps.value as u64,
            own,
            stored,
        }
    }
}

/// Why a strategy cannot be used on a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);

/// Settings of a strategy: they say what it is and build it for a workload.
pub trait Recipe {
    /// One line for people.
    const SUMMARY: &'static str;

    /// The strategy, ready for one workload.
    ///
    /// # Errors
    /// [`Unusable`] when the workload lacks what the strategy needs to know.
    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable>;
}

/// A search strategy, ready for one workload.
pub trait Strategy: Send + Sync {
    /// Searches: probes on `testbed` as it likes and fills `forecast`. `stream` is for choices
    /// that the strategy makes at random.
    ///
    /// # Errors
    /// [`Stop`] when the testbed ends the search.
    fn search(
        &self,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop>;
}

/// What a strategy expects of each configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forecast {
    /// Predicted seconds to the target from the start; `None` without a prediction.
    pub time_s: Vec<Option<f64>>,
    /// A choice that the strategy makes whatever the objective.
    pub decided: Option<usize>,
}

impl Forecast {
    /// Empty, for `count` configurations, keeping the memory.
    pub fn reset(&mut self, count: usize) {
        self.time_s.clear();
        self.time_s.resize(count, None);
        self.decided = None;
    }

    /// Predicts `time_s` for a configuration. A model that leaves its range can produce a time
    /// that is not above zero: that is no prediction.
    pub fn predict(&mut self, configuration: usize, time_s: f64) {
        if time_s.is_finite() && time_s > 0.0 {
            self.time_s[configuration] = Some(time_s);
        }
    }
}
