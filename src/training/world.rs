//! Everything about a workload's configurations that is computed once, before any run.

use std::sync::Arc;

use crate::configuration::Configuration;
use crate::rng;
use crate::workload::{Constants, NoiseCurve, OutsideHull, Provenance, StepMeasured, Workload};

use super::slowest::{self, Moments};
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
    /// VM types, in the order in which the list names them first.
    pub vms: Vec<Arc<str>>,
    /// The truth per configuration, in the order of the list given.
    pub truths: Vec<Truth>,
    /// What varies at random.
    pub variation: Variation,
    /// Noise over training; flat unless the variation replays it.
    pub noise_curve: NoiseCurve,
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
    /// Normalised SGD noise γ/K at the target.
    pub noise_normalised: f64,
    /// Measured, or interpolated between measurements.
    pub provenance: Provenance,
}

impl Truth {
    /// Expected seconds from the start to the target, without search.
    pub fn expected_time_s(&self) -> f64 {
        self.steps_to_target * self.expected_step_s
    }
}

impl World {
    /// Replays `workload` at each of `configurations`.
    ///
    /// A step that was measured at the barrier already holds the wait for the slowest worker, so
    /// one worker's mean is the measured compute time divided by the expected slowest of K: the
    /// expected step equals the measured one whatever the variation.
    ///
    /// # Errors
    /// One [`OutsideHull`] per configuration that no measurements surround.
    pub fn new(
        workload: &Workload,
        configurations: &[Configuration],
        variation: &Variation,
    ) -> Result<World, Vec<OutsideHull>> {
        let (mut truths, mut refused) = (Vec::with_capacity(configurations.len()), Vec::new());
        let mut vms: Vec<Arc<str>> = Vec::new();
        let name = rng::identity(&workload.name);
        let time = variation.worker_time();
        for configuration in configurations {
            let replay = match workload.replay(configuration) {
                Ok(replay) => replay,
                Err(outside) => {
                    refused.push(outside);
                    continue;
                }
            };
            let vm = match vms.iter().position(|vm| *vm == configuration.vm) {
                Some(known) => known,
                None => {
                    vms.push(Arc::clone(&configuration.vm));
                    vms.len() - 1
                }
            };
            let slowest = slowest::moments(configuration.workers, time);
            // Machines that differ and steps that vary are, over all replicas, one log-normal.
            let waited = slowest::moments(
                configuration.workers,
                WorkerTime {
                    sigma: libm::hypot(time.sigma, variation.vm_sigma),
                    ..time
                },
            );
            let worker_s = match workload.steps.measured {
                StepMeasured::Barrier => replay.step.compute_s / waited.mean,
                StepMeasured::Worker => replay.step.compute_s,
            };
            truths.push(Truth {
                identity: rng::mix(name, configuration.identity()),
                vm: vm as u16,
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
            constants: workload.constants.clone(),
            truths,
            variation: variation.clone(),
            noise_curve: if variation.noise_curve {
                workload.noise_curve.clone()
            } else {
                NoiseCurve::default()
            },
        })
    }
}
