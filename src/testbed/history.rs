//! What an earlier run of a workload left behind: the records a search service keeps.

use std::sync::Arc;

use crate::configuration::{Configuration, Shape};
use crate::workload::{Origin, Reach, StepCost, Workload};

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
    /// VM shape.
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
    fn of(workload: &Workload, at: &Configuration, cost: StepCost) -> PastRun {
        let (workers, batch) = (at.workers, at.batch);
        let epochs =
            (workload.epochs.measured(workers, batch)).filter(|row| row.origin != Origin::Derived);
        let noise = match workload.noise.measured(workers, batch) {
            Some(row) => (row.origin != Origin::Derived).then_some(row.noise_normalised),
            // The noise scale tells it for every batch; of those, the ones that ran to the target.
            None if workload.noise.rows().is_empty() && epochs.is_some() => {
                let noise = workload.noise.at(workers, batch);
                noise.or_else(|| workload.noise.by_law(workers, batch))
            }
            None => None,
        };
        PastRun {
            vm: Arc::clone(&at.vm),
            workers,
            batch,
            compute_s: cost.compute_s,
            communication_s: cost.communication_s,
            noise_normalised: noise,
            epochs: epochs.map(|row| row.epochs),
        }
    }

    /// Seconds of a step.
    pub fn step_s(&self) -> f64 {
        self.compute_s + self.communication_s
    }
}

impl History {
    /// The stored measurements behind `workload`. Figures that were derived from others are left
    /// out of noise and epochs: a line through them would fit its own origin. A VM type that
    /// stands in for a measured one has the latter's runs: the nearest that a service has stored.
    pub fn of(workload: &Workload, reach: &Reach) -> History {
        let mut runs: Vec<PastRun> = Vec::new();
        for shape in workload.steps.shapes() {
            let own: Vec<PastRun> = (workload.steps.points_of(shape).iter())
                .map(|(at, cost)| PastRun::of(workload, at, *cost))
                .collect();
            if let Ok(parsed) = Shape::parse(shape) {
                let alike = (reach.stand_ins.values()).filter(|s| *s.like == *parsed.vm_type);
                for stand_in in alike {
                    let vm: Arc<str> = parsed.on(&stand_in.vm).into();
                    runs.extend(own.iter().map(|run| PastRun {
                        vm: Arc::clone(&vm),
                        ..run.clone()
                    }));
                }
            }
            runs.extend(own);
        }
        History {
            workload: workload.name.clone(),
            samples_per_epoch: workload.constants.samples_per_epoch.value,
            runs,
        }
    }
}
