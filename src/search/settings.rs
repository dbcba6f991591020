//! Settings that several strategies share. Each is a point that the paper leaves open; the
//! default is what the paper does, as far as it says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
