//! All policies by name. A new one is one file, a variant and a line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cluster::batching::Policy;
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
    /// In proportion to size, set once.
    Static,
    /// The controller of ACSOS 2020.
    Dynamic(Dynamic),
    /// The controller released with OmniLearn.
    Omnilearn(Omnilearn),
}

impl Batching {
    /// The policy.
    pub fn policy(&self) -> &dyn Policy {
        match self {
            Batching::Uniform => &Uniform,
            Batching::Static => &Proportional,
            Batching::Dynamic(settings) => settings,
            Batching::Omnilearn(settings) => settings,
        }
    }
}
