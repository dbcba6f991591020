//! Everything about a workload's configurations that is computed once, before any run.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::configuration::Configuration;
use crate::rng;
use crate::shape::Shape;
use crate::workload::{
    Constants, NoiseOverTraining, OutsideHull, Pace, Provenance, Reach, StepMeasured, Workload,
};

use super::slowest::{self, Moments};
use super::spot::Spot;
use super::variation::{Variation, WorkerTime};

/// A workload on a list of configurations under a given variation.
#[derive(Debug, Clone)]
pub struct World {
    /// Name of the workload.
    pub workload: String,
    /// Key of the random streams that all its configurations share.
    pub identity: u64,
    /// Figures that hold for every configuration.
    pub constants: Constants,
    /// VM types, without their placement, in the order in which the list names them first.
    pub vms: Vec<Arc<str>>,
    /// The truth per configuration, in the order of the list given.
    pub truths: Vec<Truth>,
    /// What varies at random.
    pub variation: Variation,
    /// The terms of its VMs, where the provider may take them away.
    pub spot: Option<Arc<Spot>>,
    /// Noise over training; flat unless the variation replays it.
    pub noise: NoiseOverTraining,
}

/// The truth about one configuration: what an oracle knows.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The configuration.
    pub configuration: Configuration,
    /// Key of its random streams, over workload and configuration.
    pub identity: u64,
    /// Index of its VM type in [`World::vms`].
    pub vm: u16,
    /// VMs that it runs on.
    pub vms: u32,
    /// Key of what is drawn for the VMs of its type.
    pub vm_key: u64,
    /// Steps to the target without luck, n = e·D/B; not rounded.
    pub steps_to_target: f64,
    /// Mean compute seconds of one worker.
    pub worker_s: f64,
    /// Seconds of exposed communication.
    pub communication_s: f64,
    /// Shape of one worker's compute time.
    pub worker_time: WorkerTime,
    /// The slowest of equal workers, relative to one worker's mean.
    pub slowest: Moments,
    /// Expected seconds of a step, over all variation.
    pub expected_step_s: f64,
    /// How steps turn into progress; `None` for evenly.
    pub pace: Option<Pace>,
    /// Normalised SGD noise γ/K at the target, where it is known.
    pub noise_normalised: Option<f64>,
    /// Measured, interpolated between measurements, or extrapolated.
    pub provenance: Provenance,
}

impl Truth {
    /// Expected seconds from the start to the target, without search.
    pub fn expected_time_s(&self) -> f64 {
        self.steps_to_target * self.expected_step_s
    }

    /// The share of all steps behind when the share `progress` of the way is done.
    pub fn steps_at(&self, progress: f64) -> f64 {
        (self.pace.as_ref()).map_or(progress, |pace| pace.steps_at(progress))
    }

    /// The progress after `steps` of all steps more than at `progress`.
    pub fn progress_after(&self, progress: f64, steps: f64) -> f64 {
        match &self.pace {
            None => progress + steps,
            Some(pace) => pace.progress_at(pace.steps_at(progress) + steps),
        }
    }
}

/// The slowest of K workers relative to one worker's mean, per worker count: the same for all
/// workloads and VM types of a scenario, and dear to compute.
#[derive(Debug, Clone, Default)]
pub struct Waits {
    /// On equal machines, and on machines that differ.
    by_workers: BTreeMap<u32, (Moments, Moments)>,
}

impl Waits {
    /// For the worker counts of `configurations`.
    pub fn new<'c>(
        variation: &Variation,
        configurations: impl IntoIterator<Item = &'c Configuration>,
    ) -> Waits {
        let time = variation.worker_time();
        // Machines that differ and steps that vary are, over all replicas, one log-normal.
        let over_all = WorkerTime {
            sigma: libm::hypot(time.sigma, variation.vm_sigma),
            ..time
        };
        let mut by_workers = BTreeMap::new();
        for configuration in configurations {
            let workers = configuration.workers;
            by_workers.entry(workers).or_insert_with(|| {
                let equal = slowest::moments(workers, time);
                let over_all = match variation.vm_sigma {
                    0.0 => equal,
                    _ => slowest::moments(workers, over_all),
                };
                (equal, over_all)
            });
        }
        Waits { by_workers }
    }
}

impl World {
    /// The same world on VMs that can be taken away.
    pub fn on_spot(mut self, spot: Option<&Arc<Spot>>) -> World {
        self.spot = spot.cloned();
        self
    }

    /// Replays `workload` at each of `configurations`, and within `reach` beyond them.
    ///
    /// # Errors
    /// As [`World::with`].
    pub fn new(
        workload: &Workload,
        configurations: &[Configuration],
        reach: &Reach,
        variation: &Variation,
    ) -> Result<World, Vec<OutsideHull>> {
        let waits = Waits::new(variation, configurations);
        World::with(workload, configurations, reach, variation, &waits)
    }

    /// The same with `waits` computed before, for the worker counts of `configurations` at least.
    ///
    /// A step that was measured at the barrier already holds the wait for the slowest worker, so
    /// one worker's mean is the measured compute time divided by the expected slowest of K: the
    /// expected step equals the measured one whatever the variation.
    ///
    /// # Errors
    /// One [`OutsideHull`] per configuration that no measurements surround.
    pub fn with(
        workload: &Workload,
        configurations: &[Configuration],
        reach: &Reach,
        variation: &Variation,
        waits: &Waits,
    ) -> Result<World, Vec<OutsideHull>> {
        let (mut truths, mut refused) = (Vec::with_capacity(configurations.len()), Vec::new());
        let mut vms: Vec<Arc<str>> = Vec::new();
        let name = rng::identity(&workload.name);
        let time = variation.worker_time();
        for configuration in configurations {
            let replay = match workload.replay(configuration, reach) {
                Ok(replay) => replay,
                Err(outside) => {
                    refused.push(outside);
                    continue;
                }
            };
            // Shapes are checked with the scenario; one that cannot be read is a type of its own.
            let shape = Shape::parse(&configuration.vm).ok();
            let vm_type = shape.map_or(&*configuration.vm, |s| s.vm_type);
            let vm = match vms.iter().position(|vm| **vm == *vm_type) {
                Some(known) => known,
                None => {
                    vms.push(vm_type.into());
                    vms.len() - 1
                }
            };
            let workers = configuration.workers;
            let (slowest, waited) = match waits.by_workers.get(&workers) {
                Some(known) => *known,
                // The map holds just this worker count.
                None => Waits::new(variation, [configuration]).by_workers[&workers],
            };
            let worker_s = match workload.steps.measured {
                StepMeasured::Barrier => replay.step.compute_s / waited.mean,
                StepMeasured::Worker => replay.step.compute_s,
            };
            truths.push(Truth {
                identity: rng::mix(name, configuration.identity()),
                vm: vm as u16,
                vm_key: rng::identity(vm_type),
                vms: (shape.and_then(|s| s.vms(configuration.workers)))
                    .unwrap_or(configuration.workers),
                pace: replay.pace,
                steps_to_target: workload.steps_to_target(replay.epochs, configuration.batch),
                worker_s,
                communication_s: replay.step.communication_s,
                worker_time: time,
                slowest,
                expected_step_s: worker_s * waited.mean + replay.step.communication_s,
                noise_normalised: replay.noise_normalised,
                provenance: replay.provenance,
                configuration: configuration.clone(),
            });
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(World {
            workload: workload.name.clone(),
            vms,
            identity: name,
            spot: None,
            constants: workload.constants.clone(),
            truths,
            variation: variation.clone(),
            noise: if variation.noise_curve {
                workload.noise_over_training()
            } else {
                NoiseOverTraining::Flat
            },
        })
    }
}
