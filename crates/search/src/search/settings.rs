//! Settings that several strategies share: points that the paper leaves open. Defaults are what it does, as far as it says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::UnusableStrategy;
use scavsim_read::input::checked::Count;

/// Share of the way to the target after which a run tells how long the whole takes.
pub(super) const OWN_SHARE: f64 = 0.01;

/// Where a search starts and settles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Fewest workers, smallest batch.
    #[default]
    Smallest,
    /// Fewest workers, largest batch.
    LargestBatch,
}

/// Which earlier runs the line epochs = e* + θ·(γ/K) is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EpochsFrom {
    /// All stored runs together.
    #[default]
    Pooled,
    /// Only the stored runs with the fewest workers.
    FewestWorkers,
    /// Only the stored runs with the most workers.
    MostWorkers,
}

impl EpochsFrom {
    /// The only worker count to use, of those that there are.
    pub(super) fn only(self, workers: impl Iterator<Item = u32>) -> Option<u32> {
        match self {
            EpochsFrom::Pooled => None,
            EpochsFrom::FewestWorkers => workers.min(),
            EpochsFrom::MostWorkers => workers.max(),
        }
    }
}

/// How the noise line γ/K = a + s/√B treats the worker count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseBy {
    /// One line through the averages over K.
    #[default]
    Average,
    /// One line per worker count, linear in K between.
    Workers,
}

/// How the step time is put through measured steps: τ = c + c_b·(B/K) + c_K·K.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepFit {
    /// Whole steps against local batch and workers together.
    #[default]
    Whole,
    /// Compute against the local batch and communication against the workers, each by itself.
    Split,
}

/// What all strategies that probe can be told: the table of one has these keys beside its own.
#[derive(Debug, Clone, Copy)]
pub struct Probes {
    pub start: Start,
    /// Steps before the first probe; the workload's own figure when absent.
    pub cold_start_steps: Option<u32>,
    /// Steps per probe; the workload's own figure when absent.
    pub probe_steps: Option<Count>,
    pub epochs_from: EpochsFrom,
}

impl Probes {
    /// From the smallest configuration, without a cold start.
    pub(super) fn of_steps(probe_steps: Option<Count>) -> Probes {
        Probes {
            start: Start::Smallest,
            cold_start_steps: None,
            probe_steps,
            epochs_from: EpochsFrom::default(),
        }
    }

    /// The settings of a strategy that uses no earlier runs.
    ///
    /// # Errors
    /// That `epochs_from` chooses among them.
    pub(super) fn without_earlier_runs(self) -> Result<Probes, UnusableStrategy> {
        if self.epochs_from == EpochsFrom::default() {
            return Ok(self);
        }
        let why = "`epochs_from` chooses among earlier runs: it needs `earlier_runs = true`";
        Err(UnusableStrategy(why.to_owned()))
    }
}

/// Settings of a strategy that probes: its own fields, and before them those of [`Probes`].
macro_rules! probing_settings {
    ($(#[$about:meta])* pub struct $name:ident { $($own:tt)* } $($declared:tt)*) => {
        scavsim_base::settings! {
            $(#[$about])*
            pub struct $name {
                /// Where the search starts and settles.
                pub start: $crate::search::settings::Start,
                /// Steps before the first probe; the workload's own figure when absent.
                pub cold_start_steps: Option<u32>,
                /// Steps per probe; the workload's own figure when absent.
                pub probe_steps: Option<scavsim_read::input::checked::Count>,
                /// Which earlier runs give the epoch line.
                pub epochs_from: $crate::search::settings::EpochsFrom,
                $($own)*
            }
            $($declared)*
        }

        impl $name {
            fn probes(&self) -> $crate::search::settings::Probes {
                $crate::search::settings::Probes {
                    start: self.start,
                    cold_start_steps: self.cold_start_steps,
                    probe_steps: self.probe_steps,
                    epochs_from: self.epochs_from,
                }
            }
        }
    };
}
pub(super) use probing_settings;
