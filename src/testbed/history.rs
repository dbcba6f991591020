//! What an earlier run of a workload left behind: the records a search service keeps.

use std::sync::Arc;

use crate::workload::{Origin, Workload};

/// Stored measurements of one workload.
#[derive(Debug, Clone)]
pub struct History {
    /// Its name.
    pub workload: String,
    /// Samples in one epoch, D.
    pub samples_per_epoch: f64,
    /// One per configuration that was run.
    pub runs: Vec<PastRun>,
}

/// Stored measurements of one configuration.
#[derive(Debug, Clone)]
pub struct PastRun {
    /// VM type.
    pub vm: Arc<str>,
    /// Worker count K.
    pub workers: u32,
    /// Global batch B.
    pub batch: u32,
    /// Seconds of compute in a step.
    pub compute_s: f64,
    /// Seconds of exposed communication in a step.
    pub communication_s: f64,
    /// Normalised noise γ/K; `None` where the table only derives it.
    pub noise_normalised: Option<f64>,
    /// Epochs to the target; `None` where the table only derives it.
    pub epochs: Option<f64>,
}

impl PastRun {
    /// Seconds of a step.
    pub fn step_s(&self) -> f64 {
        self.compute_s + self.communication_s
    }
}

impl History {
    /// The stored measurements behind `workload`. Figures that were derived from others are left
    /// out of noise and epochs: a line through them would fit its own origin.
    pub fn of(workload: &Workload) -> History {
        let runs = workload
            .steps
            .points()
            .map(|(at, cost)| {
                let same = |workers, batch| (workers, batch) == (at.workers, at.batch);
                PastRun {
                    vm: Arc::clone(&at.vm),
                    workers: at.workers,
                    batch: at.batch,
                    compute_s: cost.compute_s,
                    communication_s: cost.communication_s,
                    noise_normalised: (workload.noise.rows().iter())
                        .find(|r| same(r.workers, r.batch) && r.origin != Origin::Derived)
                        .map(|r| r.noise_normalised),
                    epochs: (workload.epochs.rows().iter())
                        .find(|r| same(r.workers, r.batch) && r.origin != Origin::Derived)
                        .map(|r| r.epochs),
                }
            })
            .collect();
        History {
            workload: workload.name.clone(),
            samples_per_epoch: workload.constants.samples_per_epoch.value,
            runs,
        }
    }
}
