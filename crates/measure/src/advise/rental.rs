//! What can be rented for a job, with measured or predicted steps: the input of plans for deadlines.

use serde_json::{Map, Value, json};

use super::advice::{Advice, Choice};
use super::machines::Basis;
use super::model::{self, ModelAdvice, PlanChoice};
use super::offers::Offer;
use super::{json, text};

/// A configuration on demand.
#[derive(Debug, Clone)]
pub struct RentalChoice {
    /// Rank among the choices of its advice.
    pub at: usize,
    /// Workers, batch and VMs; or GPUs, VMs and plan.
    pub name: String,
    /// `name` without its VMs.
    pub form: String,
    pub vms: u32,
    pub offer: Offer,
    /// Hours and their 90 % interval.
    pub time_h: [f64; 3],
    /// Seconds of a checkpoint, and of a restore.
    pub checkpoint_s: f64,
    /// Probability of missing a limit; 0 without one.
    pub miss: f64,
    /// Measured, interpolated, extrapolated, or from another machine.
    pub evidence: &'static str,
    /// Whether steps on its GPU are predicted from those on another GPU, although some were measured.
    pub is_other_gpu: bool,
    /// Columns of its kind in JSON.
    pub columns: Map<String, Value>,
}

/// The parts of an advice that a deadline needs.
#[derive(Debug, Clone)]
pub struct RentalAdvice {
    pub name: String,
    /// The evidence of the advice: titles and sentences.
    pub sections: Vec<(&'static str, Vec<String>)>,
    /// Heading of [`RentalChoice::form`].
    pub form: &'static str,
    /// Configurations that meet the limits, the best first.
    pub choices: Vec<RentalChoice>,
    /// If none does, the one that most likely does.
    pub nearest: Option<RentalChoice>,
    /// The whole advice.
    pub json: Value,
}

impl RentalAdvice {
    /// `checkpoint_s`: seconds of a checkpoint, and of a restore.
    pub fn from_measurements(advice: &Advice, checkpoint_s: f64) -> RentalAdvice {
        let choices = advice.choices.iter().enumerate();
        RentalAdvice {
            name: advice.name.clone(),
            sections: vec![
                (text::EVIDENCE, text::evidence_clauses(advice)),
                (text::CAVEATS, text::caveats(advice)),
            ],
            form: "K × B",
            choices: choices
                .map(|(at, choice)| of_measurements(at, choice, checkpoint_s))
                .collect(),
            nearest: (advice.nearest.as_ref()).map(|one| of_measurements(0, one, checkpoint_s)),
            json: json::value(advice),
        }
    }

    /// The best plan of every number of GPUs.
    pub fn from_model(advice: &ModelAdvice) -> RentalAdvice {
        let goal = &advice.question.goal;
        let (within, beyond): (Vec<&PlanChoice>, Vec<&PlanChoice>) =
            (advice.of_each_size.iter()).partition(|choice| choice.is_within(goal));
        let likeliest = beyond
            .into_iter()
            .max_by(|a, b| a.keeps.unwrap_or(0.0).total_cmp(&b.keeps.unwrap_or(0.0)));
        let within = within.into_iter().enumerate();
        RentalAdvice {
            name: advice.title(),
            sections: vec![("Assumptions", model::text::basis(advice))],
            form: "GPUs",
            choices: within.map(|(at, choice)| of_model(at, choice)).collect(),
            nearest: likeliest.map(|choice| of_model(0, choice)),
            json: model::json::value(advice),
        }
    }
}

fn of_measurements(at: usize, choice: &Choice, checkpoint_s: f64) -> RentalChoice {
    let c = &choice.configuration;
    let counterpart = choice.stands.as_ref();
    RentalChoice {
        at,
        name: choice.named(),
        form: format!("{} × {}", c.workers, c.batch),
        vms: choice.vms,
        offer: choice.offer.clone(),
        time_h: choice.time_h,
        checkpoint_s,
        miss: choice.miss,
        evidence: counterpart.map_or(choice.provenance.name(), |known| known.basis.label()),
        is_other_gpu: counterpart.is_some_and(|known| known.basis == Basis::OtherGpu),
        columns: columns(json!({
            "vm": &*c.vm,
            "workers": c.workers,
            "batch": c.batch,
            "provenance": choice.provenance.name(),
            "vm_measured": counterpart.is_none(),
        })),
    }
}

fn of_model(at: usize, choice: &PlanChoice) -> RentalChoice {
    let form = format!("{} {}", choice.gpus, choice.gpu);
    RentalChoice {
        at,
        name: format!("{form} on {} {}: {}", choice.vms, choice.vm, choice.plan),
        form,
        vms: choice.vms,
        offer: choice.offer.clone(),
        time_h: choice.time_h,
        checkpoint_s: choice.checkpoint_s,
        miss: choice.keeps.map_or(0.0, |keeps| 1.0 - keeps),
        evidence: "predicted",
        is_other_gpu: false,
        columns: columns(json!({
            "vm": choice.vm,
            "gpu": &*choice.gpu,
            "gpus": choice.gpus,
            "plan": choice.plan,
            "provenance": "predicted",
        })),
    }
}

fn columns(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(columns) => columns,
        _ => Map::new(),
    }
}
