//! Universal model: the average over all stored workloads; nothing is probed.
//!
//! How the paper averages three models of very different size is not published. Here every stored
//! workload's models give a *shape*: predicted time at each configuration over predicted time at
//! the smallest one. The shapes are averaged geometrically, and the scale comes from one number
//! that the user is taken to know, the measured time of the own workload at that smallest
//! configuration. The choice under `time`, `cost` and `knee` without limits does not depend on
//! the scale (as long as cost is proportional to time).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::models::{Fits, StoredModel};
use super::no_search::Predetermined;
use super::settings::{EpochsFrom, NoiseBy, Start, StepFit};
use super::{Knowledge, Recipe, Strategy, Unusable, space};
use crate::configuration::Configuration;
use crate::testbed::History;

/// Settings of the universal model over all stored workloads, the own one included.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniversalSettings {
    /// Which runs give each workload's epoch line.
    pub epochs_from: EpochsFrom,
    /// One noise line for all worker counts, or one per worker count.
    pub noise_by: NoiseBy,
    /// How the step plane is put through each workload's stored steps.
    pub step_fit: StepFit,
}

/// Settings of the universal model over all stored workloads but the own one.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LeaveOutSettings {
    /// Which runs give each workload's epoch line.
    pub epochs_from: EpochsFrom,
    /// One noise line for all worker counts, or one per worker count.
    pub noise_by: NoiseBy,
    /// How the step plane is put through each workload's stored steps.
    pub step_fit: StepFit,
}

impl Recipe for UniversalSettings {
    const SUMMARY: &'static str =
        "the average model of all stored workloads, the own one included; nothing is probed";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let fits = Fits {
            epochs_from: self.epochs_from,
            noise_by: self.noise_by,
            step_fit: self.step_fit,
        };
        build(knowledge, false, fits)
    }
}

impl Recipe for LeaveOutSettings {
    const SUMMARY: &'static str =
        "the average model of all stored workloads but the own one; nothing is probed";

    fn build(&self, knowledge: &Knowledge<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let fits = Fits {
            epochs_from: self.epochs_from,
            noise_by: self.noise_by,
            step_fit: self.step_fit,
        };
        build(knowledge, true, fits)
    }
}

fn build(
    knowledge: &Knowledge<'_>,
    leave_out: bool,
    fits: Fits,
) -> Result<Box<dyn Strategy>, Unusable> {
    let own = knowledge.own;
    let used: Vec<&History> = (knowledge.stored.iter())
        .filter(|h| !leave_out || h.workload != own.workload)
        .collect();
    if used.is_empty() {
        return Err(Unusable(format!(
            "no workload other than `{}` is stored, so nothing is left to average",
            own.workload
        )));
    }
    let groups = space::groups(knowledge.configurations);
    let anchor = &knowledge.configurations[space::start(&groups, Start::Smallest).unwrap_or(0)];
    let known = anchor_seconds_per_sample(own, anchor).ok_or_else(|| {
        Unusable(format!(
            "`{}` has no stored run at {anchor}, which gives the universal model its scale",
            own.workload
        ))
    })?;

    let mut log_shape = vec![0.0; knowledge.configurations.len()];
    for history in &used {
        let model = StoredModel::fit(history, fits);
        let predict = |c: &Configuration| {
            (model.as_ref())
                .and_then(|m| m.seconds_per_sample(&c.vm, c.workers, c.batch))
                .filter(|s| *s > 0.0)
                .ok_or_else(|| {
                    Unusable(format!(
                        "the stored model of `{}` predicts nothing for {c}",
                        history.workload
                    ))
                })
        };
        let at_anchor = predict(anchor)?;
        for (sum, configuration) in log_shape.iter_mut().zip(knowledge.configurations) {
            *sum += libm::log(predict(configuration)? / at_anchor);
        }
    }
    let seconds_per_sample = log_shape
        .iter()
        .map(|sum| Some(known * libm::exp(sum / used.len() as f64)))
        .collect();
    Ok(Box::new(Predetermined::new(
        seconds_per_sample,
        knowledge.samples_per_epoch,
    )))
}

fn anchor_seconds_per_sample(own: &History, anchor: &Configuration) -> Option<f64> {
    let run = (own.runs.iter())
        .find(|r| (&r.vm, r.workers, r.batch) == (&anchor.vm, anchor.workers, anchor.batch))?;
    Some(run.epochs? / f64::from(run.batch) * run.step_s())
}
