//! How far foretold steps of plans are off under a runtime, by what was measured of it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far predicted steps are off: standard deviations of ln(measured / predicted), from runs that were left out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Errors {
    /// Deviation of a run on GPUs, with as many of them and of a precision that were measured.
    pub step: f64,
    /// What is added in the square on a GPU that was not measured.
    pub gpu: f64,
    /// What is added with more GPUs than were measured, per doubling.
    pub doubling: f64,
    /// What is added at a precision that was not measured.
    pub precision: f64,
    /// What is added at a tensor degree that was not measured.
    pub tensor: f64,
    /// What is added on a cluster that no run is from.
    pub cluster: f64,
    /// What is added where replicas run on unlike nodes.
    pub unlike: f64,
    /// What is added with virtual stages, split backward passes, shared sequences or shared experts, which were not measured.
    pub form: f64,
    /// GPUs that were measured.
    pub gpus: Vec<String>,
    /// Most GPUs of a run that was measured.
    pub most_gpus: u32,
    /// Precisions that were measured.
    pub precisions: Vec<String>,
    /// Tensor degrees that were measured.
    pub tensors: Vec<u32>,
}

/// A plan as far as it decides how well it is foretold.
#[derive(Debug, Clone, Copy)]
pub struct PredictedPlan<'a> {
    /// GPUs by their data sheets.
    pub gpus: &'a [&'a str],
    /// How many.
    pub count: u32,
    pub precision: &'a str,
    pub tensor: u32,
    pub is_unlike: bool,
    pub is_unusual: bool,
}

#[derive(Debug, Clone, Default)]
pub struct PredictionUncertainty {
    pub errors: Errors,
    pub precision: String,
    /// GPU of each kind of node, by its data sheet.
    pub gpus: Vec<Arc<str>>,
}

const SIXTEEN_BITS: [&str; 2] = ["fp16", "bf16"];

impl Errors {
    pub(super) fn rounded(&self) -> Errors {
        Errors {
            step: digits(self.step),
            gpu: digits(self.gpu),
            doubling: digits(self.doubling),
            precision: digits(self.precision),
            tensor: digits(self.tensor),
            cluster: digits(self.cluster),
            unlike: digits(self.unlike),
            form: digits(self.form),
            ..self.clone()
        }
    }

    /// Standard deviation of ln(measured / foretold) of a plan.
    pub fn log_sd(&self, of: &PredictedPlan<'_>) -> f64 {
        let is_unseen = |gpu: &&str| !self.gpus.iter().any(|known| known == gpu);
        let mut variance = self.step * self.step + self.cluster * self.cluster;
        if of.gpus.iter().any(is_unseen) {
            variance += self.gpu * self.gpu;
        }
        // Both of 16 bits run on the same units at the same peak.
        let is_seen = |known: &String| {
            known == of.precision
                || [known, of.precision]
                    .iter()
                    .all(|one| SIXTEEN_BITS.contains(one))
        };
        if !self.precisions.iter().any(is_seen) {
            variance += self.precision * self.precision;
        }
        if !self.tensors.contains(&of.tensor) {
            variance += self.tensor * self.tensor;
        }
        for (is_so, spread) in [(of.is_unlike, self.unlike), (of.is_unusual, self.form)] {
            if is_so {
                variance += spread * spread;
            }
        }
        let beyond = f64::from(of.count) / f64::from(self.most_gpus.max(1));
        if beyond > 1.0 {
            let doublings = libm::log2(beyond);
            variance += doublings * self.doubling * self.doubling;
        }
        variance.sqrt()
    }
}

/// Four digits, which is more than any constant is known to.
pub(super) fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("a number")
}
