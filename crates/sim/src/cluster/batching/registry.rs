//! All policies by name. A new one is one file, a variant and a line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cluster::batching::BatchPolicy;
use crate::cluster::batching::dynamic::Dynamic;
use crate::cluster::batching::omnilearn::Omnilearn;
use crate::cluster::batching::proportional::Proportional;
use crate::cluster::batching::uniform::Uniform;

/// How the batches of unequal workers are set.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Batching {
    /// Equal batches.
    Uniform,
    /// In proportion to size, set once; in a scenario to the speed measured on equal batches.
    Static,
    /// In proportion to cores or FLOPS, set once, as ACSOS 2020 guesses speeds.
    BySize,
    /// The controller of ACSOS 2020.
    Dynamic(Dynamic),
    /// The controller released with OmniLearn.
    Omnilearn(Omnilearn),
}

impl Batching {
    pub fn policy(&self) -> &dyn BatchPolicy {
        match self {
            Batching::Uniform => &Uniform,
            Batching::Static | Batching::BySize => &Proportional,
            Batching::Dynamic(settings) => settings,
            Batching::Omnilearn(settings) => settings,
        }
    }
}
