//! Laws of step time and epochs that a workload may name, for what was not measured: synthetic
//! VM types, gaps and extrapolation. Pure functions with their parameters; no tables.
//!
//! - [`compute`]: one worker's seconds by its local batch; [`worker`]: by its size, too.
//! - [`communication`]: seconds of communication by the worker count.
//! - [`overlap`]: how much of it compute hides.
//! - [`step`]: seconds of a step for one VM shape.
//! - [`pooled`]: one law for all shapes of a VM type; [`free_pooled`]: its coefficients as a fit sees them; [`prior`]: what is
//!   expected of them; [`growth`]: how its
//!   communication grows.
//! - [`epochs`]: passes over the data by the global batch.
//! - [`goodput`]: the same from a noise scale over training; [`noise`]: that noise scale.
//!
//! A new law is a variant in its file, with its formula there.

mod bounds;
pub mod communication;
pub mod compute;
pub mod epochs;
pub mod free_pooled;
pub mod goodput;
pub mod growth;
pub mod noise;
pub mod overlap;
pub mod pooled;
pub mod prior;
pub mod step;
pub mod worker;

pub use bounds::OutOfBounds;
pub use communication::CommunicationLaw;
pub use compute::{ComputeLaw, SizedWorker};
pub use epochs::EpochLaw;
pub use noise::NoiseLaw;
pub use overlap::Overlap;
pub use pooled::PooledLaw;
pub use step::StepLaw;
pub use worker::{Speed, WorkerLaw};

use std::collections::BTreeMap;

/// Formulae for what was not measured.
#[derive(Debug, Clone, Default)]
pub struct Laws {
    /// Seconds of a step, per VM shape.
    pub steps: BTreeMap<String, StepLaw>,
    /// Seconds of a step on any shape of a VM type; it comes before those per shape.
    pub pooled: BTreeMap<String, PooledLaw>,
    /// Epochs to the target.
    pub epochs: Option<EpochLaw>,
}
