//! Errors of predicted steps of plans under a runtime, from its measurements.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gpu;

/// How far predicted steps are off: standard deviations of ln(measured / predicted), from runs that were left out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Errors {
    /// Deviation of a run on GPUs, with as many of them and of a precision that were measured.
    pub step: f64,
    /// What is added in the square on a GPU that was not measured, of a generation that was.
    pub gpu: f64,
    /// What is added on a GPU of a generation of which none was measured.
    pub generation: f64,
    /// What is added with more GPUs than were measured, per doubling.
    pub doubling: f64,
    /// What is added at a precision that was not measured.
    pub precision: f64,
    /// What is added at 8 bits where 16 were measured, or the other way.
    pub fp8: f64,
    /// What is added at a tensor degree that was not measured.
    pub tensor: f64,
    /// What is added on a cluster that no run is from.
    pub cluster: f64,
    /// What is added where replicas run on unlike nodes.
    pub unlike: f64,
    /// What is added with virtual stages, split backward passes or compressed messages that were not measured.
    pub form: f64,
    /// What is added where replicas share sequences, which was not measured.
    pub context: f64,
    /// What is added for a model with experts, of which none was measured.
    pub experts: f64,
    /// Forms that were measured: virtual-stages, context, experts, compressed.
    pub forms: Vec<PlanForm>,
    /// GPUs that were measured.
    pub gpus: Vec<String>,
    /// Most GPUs of a run that was measured.
    pub most_gpus: u32,
    /// Precisions that were measured.
    pub precisions: Vec<String>,
    /// Tensor degrees that were measured.
    pub tensors: Vec<u32>,
}

/// The properties of a plan that determine its prediction error.
#[derive(Debug, Clone, Copy)]
pub struct PredictedPlan<'a> {
    /// GPUs by their data sheets.
    pub gpus: &'a [&'a str],
    pub count: u32,
    pub precision: &'a str,
    pub tensor: u32,
    pub is_unlike: bool,
    pub forms: &'a [PlanForm],
}

/// What a plan or its model has that a runtime may never have been measured with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PlanForm {
    /// Stages in several parts, or backward passes in two.
    VirtualStages,
    /// Sequences that replicas share.
    Context,
    /// Experts of which a token goes through some.
    Experts,
    /// Messages that are compressed on their way.
    Compressed,
}

scavsim_base::named! {
    PlanForm:
    VirtualStages = "virtual stages", Context = "shared sequences", Experts = "experts",
    Compressed = "compressed messages",
}

impl PlanForm {
    /// The forms for which `has` is true, in the order of [`PlanForm::ALL`].
    pub fn with(has: [bool; 4]) -> Vec<PlanForm> {
        let all = PlanForm::ALL.into_iter().zip(has);
        all.filter_map(|(form, is_so)| is_so.then_some(form))
            .collect()
    }
}

/// A property of a plan without a known run, and the deviation that it adds in squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmeasured {
    pub what: String,
    pub variance: f64,
}

#[derive(Debug, Clone, Default)]
pub struct PredictionUncertainty {
    pub errors: Errors,
    pub precision: String,
    /// GPU of each kind of node, by its data sheet.
    pub gpus: Vec<Arc<str>>,
    pub has_experts: bool,
}

const SIXTEEN_BITS: [&str; 2] = ["fp16", "bf16"];
const EIGHT_BITS: &str = "fp8";

impl Errors {
    pub(super) fn rounded(&self) -> Errors {
        Errors {
            step: digits(self.step),
            gpu: digits(self.gpu),
            generation: digits(self.generation),
            doubling: digits(self.doubling),
            precision: digits(self.precision),
            fp8: digits(self.fp8),
            tensor: digits(self.tensor),
            cluster: digits(self.cluster),
            unlike: digits(self.unlike),
            form: digits(self.form),
            context: digits(self.context),
            experts: digits(self.experts),
            ..self.clone()
        }
    }

    /// Standard deviation of ln(measured / predicted) of a plan.
    pub fn log_sd(&self, of: &PredictedPlan<'_>) -> f64 {
        let unmeasured = self.unmeasured(of);
        let added: f64 = unmeasured.iter().map(|one| one.variance).sum();
        (self.step * self.step + self.cluster * self.cluster + added).sqrt()
    }

    /// The properties of a plan without a known run.
    pub fn unmeasured(&self, of: &PredictedPlan<'_>) -> Vec<Unmeasured> {
        let mut all = Vec::new();
        let mut add = |what: String, deviation: f64| {
            let variance = deviation * deviation;
            all.push(Unmeasured { what, variance });
        };
        if let Some((name, deviation)) = self.least_known_gpu(of.gpus) {
            add(format!("on {name}"), deviation);
        }
        // Both 16-bit formats run on one kind of unit at one peak.
        let is_seen = |known: &String| {
            known == of.precision
                || [known, of.precision]
                    .iter()
                    .all(|one| SIXTEEN_BITS.contains(one))
        };
        if !self.precisions.iter().any(is_seen) {
            let is_near = |known: &String| {
                [(known.as_str(), of.precision), (of.precision, known)]
                    .iter()
                    .any(|(one, other)| SIXTEEN_BITS.contains(one) && *other == EIGHT_BITS)
            };
            let deviation = if self.precisions.iter().any(is_near) && self.fp8 > 0.0 {
                self.fp8
            } else {
                self.precision
            };
            add(format!("in {}", of.precision), deviation);
        }
        if !self.tensors.contains(&of.tensor) {
            let what = format!("with layers shared by {}", of.tensor);
            add(what, self.tensor);
        }
        if of.is_unlike {
            add("with unlike replicas".to_owned(), self.unlike);
        }
        for form in of.forms {
            let deviation = match form {
                PlanForm::VirtualStages | PlanForm::Compressed => self.form,
                PlanForm::Context => self.context,
                PlanForm::Experts => self.experts,
            };
            if !self.forms.contains(form) {
                add(format!("with {}", form.name()), deviation);
            }
        }
        let beyond = f64::from(of.count) / f64::from(self.most_gpus.max(1));
        if beyond > 1.0 {
            let what = format!("on more than {} GPUs", self.most_gpus);
            add(what, libm::log2(beyond).sqrt() * self.doubling);
        }
        all
    }

    /// The GPU that adds most, with the deviation that it adds; `None` if all were measured.
    fn least_known_gpu<'g>(&self, gpus: &[&'g str]) -> Option<(&'g str, f64)> {
        let generation = |name: &str| gpu::named(name).map(|sheet| sheet.generation);
        let unseen = gpus
            .iter()
            .filter(|gpu| !self.gpus.iter().any(|known| known == *gpu));
        let added = unseen.map(|gpu| {
            let own = generation(gpu);
            let is_kin = own.is_some() && self.gpus.iter().any(|known| generation(known) == own);
            let is_first = self.gpus.is_empty();
            let deviation = if is_kin || is_first {
                self.gpu
            } else {
                self.generation.max(self.gpu)
            };
            (*gpu, deviation)
        });
        added.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Four digits, more than the precision of any constant.
pub(super) fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("a number")
}
