//! What earlier runs left behind: the records that a search service keeps, and what they cost.

use std::sync::Arc;

use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::{Origin, Reach, StepCost, Workload};

/// Stored measurements of one workload.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::History;
///
/// /// Epochs to the target of the fastest earlier run that knows them.
/// fn epochs_of_fastest(history: &History) -> Option<f64> {
///     let known = history.runs.iter().filter(|run| run.epochs.is_some());
///     let fastest = known.min_by(|a, b| a.price.seconds.total_cmp(&b.price.seconds))?;
///     fastest.epochs
/// }
/// assert_eq!(epochs_of_fastest(&History::default()), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Name of the workload.
    pub workload: String,
    /// The program that it runs, where that is named: workloads of one program on other inputs tell more of each other than those of
    /// two.
    pub program: Option<String>,
    /// Parameters of its model, where they are stated.
    pub parameters: Option<f64>,
    /// One per configuration that was run.
    pub runs: Vec<PastRun>,
}

/// Stored measurements of one configuration. What was not measured is `None`.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::PastRun;
///
/// /// Share of a step that its workers compute.
/// fn computing(run: &PastRun) -> Option<f64> {
///     Some(run.step?.compute_s / run.step_s()?)
/// }
/// # let _ = computing;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PastRun {
    /// VM shape.
    pub vm: Option<Arc<str>>,
    /// Worker count K.
    pub workers: Option<u32>,
    /// Global batch B.
    pub batch: Option<u32>,
    /// What it was on all other axes, as records have it.
    pub other: Option<Arc<str>>,
    /// What a step took.
    pub step: Option<StepCost>,
    /// Normalised noise γ/K; `None` also where the table only derives it.
    pub noise_normalised: Option<f64>,
    /// Epochs to the target; `None` also where the table only derives it.
    pub epochs: Option<f64>,
    /// Seconds to the target.
    pub time_s: Option<f64>,
    /// Whether it ended without having reached the target.
    pub has_failed: bool,
    /// What it was and cost.
    pub price: RunPrice,
}

/// What a past run was and cost: known before anything else of it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunPrice {
    /// Number of the run among all of its workload: one that is listed for several VM types was paid once.
    pub number: usize,
    pub ran_on: Option<Arc<str>>,
    pub is_whole: bool,
    pub seconds: f64,
    /// USD that it cost, where that is known whatever the prices now.
    pub usd: Option<f64>,
}

impl PastRun {
    /// A run of the cluster `at`.
    fn new(workload: &Workload, at: &Configuration, cost: StepCost, number: usize) -> PastRun {
        let (workers, batch) = (at.workers, at.batch);
        // It waited for its disk, too.
        let cost = workload.with_disk(cost, batch);
        let epochs =
            (workload.epochs.measured(workers, batch)).filter(|row| row.origin != Origin::Derived);
        let noise = match workload.noise.measured(workers, batch) {
            Some(row) => (row.origin != Origin::Derived).then_some(row.noise_normalised),
            // The noise scale tells it for every batch; of those, the ones that ran to the target.
            None if workload.noise.rows().is_empty() && epochs.is_some() => {
                let noise = workload.noise.noise_at(workers, batch);
                noise.or_else(|| workload.noise.by_law(workers, batch))
            }
            None => None,
        };
        let epochs = epochs.map(|row| row.epochs);
        let step_s = cost.compute_s + cost.communication_s;
        let time_s = epochs.map(|epochs| workload.steps_to_target(epochs, batch) * step_s);
        // A step without epochs was seen in a probe, the noise after the steps in which it settles.
        let constants = &workload.constants;
        let settling = noise.map_or(0.0, |_| constants.cold_start_steps.value);
        let probe_s = (settling + constants.probe_steps.value) * step_s;
        PastRun {
            vm: Some(Arc::clone(&at.vm)),
            workers: Some(workers),
            batch: Some(batch),
            step: Some(cost),
            noise_normalised: noise,
            epochs,
            time_s,
            price: RunPrice {
                number,
                ran_on: Some(Arc::clone(&at.vm)),
                is_whole: time_s.is_some(),
                seconds: time_s.unwrap_or(probe_s),
                usd: None,
            },
            ..PastRun::default()
        }
    }

    /// Seconds of a step.
    pub fn step_s(&self) -> Option<f64> {
        self.step.map(|step| step.compute_s + step.communication_s)
    }

    /// VM shape, workers and batch, where all three are known.
    pub fn cluster(&self) -> Option<(&Arc<str>, u32, u32)> {
        Some((self.vm.as_ref()?, self.workers?, self.batch?))
    }
}

impl History {
    /// The stored measurements behind `workload`. Figures that were derived from others are left
    /// out of noise and epochs: a line through them would fit its own origin. A VM type that
    /// stands in for a measured one has the latter's runs: the nearest that a service has stored.
    pub fn from_workload(workload: &Workload, reach: &Reach) -> History {
        let mut runs: Vec<PastRun> = Vec::new();
        let mut number = 0;
        for shape in workload.steps.shapes() {
            let own: Vec<PastRun> = (workload.steps.points_of(shape).iter())
                .map(|(at, cost)| {
                    number += 1;
                    PastRun::new(workload, at, *cost, number)
                })
                .collect();
            if let Ok(parsed) = Shape::parse(shape) {
                let alike = (reach.stand_ins.values()).filter(|s| *s.like == *parsed.vm_type);
                for stand_in in alike {
                    let vm: Arc<str> = parsed.on(&stand_in.vm).into();
                    runs.extend(own.iter().map(|run| PastRun {
                        vm: Some(Arc::clone(&vm)),
                        ..run.clone()
                    }));
                }
            }
            runs.extend(own);
        }
        History {
            workload: workload.name.clone(),
            program: None,
            parameters: workload.constants.parameters.as_ref().map(|p| p.value),
            runs,
        }
    }
}
