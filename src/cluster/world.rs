//! Everything about a workload's configurations that is computed once, before any run.

use std::sync::Arc;

use crate::configuration::{Configuration, Shape};
use crate::rng;
use crate::training::waits::Waits;
use crate::usage::RentedVm;
use crate::workload::{
    Constants, NoiseOverTraining, OutsideHull, Pace, Provenance, Reach, StepMeasured, Workload,
};

use super::build::{Builder, Built};
use super::{LiveCluster, Setup, Spot};
use crate::training::Stepping;
use crate::training::slowest::Moments;
use crate::training::variation::{Variation, WorkerTime};

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
    pub vms: Vec<RentedVm>,
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
    /// The cluster, where it is more than workers that step together on VMs that stay.
    pub live: Option<Box<LiveCluster>>,
}

impl Truth {
    /// VM types and how many of each it holds, parameter servers of its own included.
    pub fn held(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        let groups = self.live.as_ref().map_or(&[][..], |live| &live.groups);
        let beside = groups.iter().skip(1).map(|group| (group.vm, group.vms));
        std::iter::once((self.vm, self.vms)).chain(beside)
    }

    /// The configuration is this cluster.
    fn live_in(&mut self, built: Built) {
        let cluster = built.cluster;
        if let Some(first) = cluster.groups.first() {
            (self.vm, self.vms) = (first.vm, first.vms);
        }
        if let Some(whole) = cluster.size(cluster.whole) {
            (self.worker_s, self.slowest) = (whole.stepping.worker_s, whole.stepping.slowest);
            self.communication_s = whole.stepping.communication_s;
            self.expected_step_s = whole.step_s;
        }
        self.steps_to_target *= built.steps_factor;
        self.provenance = self.provenance.max(built.provenance);
        self.live = Some(Box::new(cluster));
    }

    /// Its step process without luck.
    pub fn stepping(&self) -> Stepping {
        Stepping {
            workers: self.configuration.workers,
            worker_s: self.worker_s,
            communication_s: self.communication_s,
            time: self.worker_time,
            slowest: self.slowest,
            machines: None,
        }
    }

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

impl World {
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
        let setup = Setup::default();
        World::with(workload, configurations, reach, variation, &waits, &setup)
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
        setup: &Setup,
    ) -> Result<World, Vec<OutsideHull>> {
        let (mut truths, mut refused) = (Vec::with_capacity(configurations.len()), Vec::new());
        let mut vms: Vec<RentedVm> = Vec::new();
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
            let mut built = None;
            if setup.is_live(&configuration.vm) {
                let builder = Builder {
                    workload,
                    reach,
                    variation,
                    waits,
                    setup,
                };
                match builder.build(configuration, &mut vms) {
                    Ok(cluster) => built = Some(cluster),
                    Err(outside) => {
                        refused.push(outside);
                        continue;
                    }
                }
            }
            let workers = configuration.workers;
            let (slowest, waited) = waits.at(variation, workers);
            let worker_s = match workload.steps.measured {
                StepMeasured::Barrier => replay.step.compute_s / waited.mean,
                StepMeasured::Worker => replay.step.compute_s,
            };
            let mut truth = Truth {
                identity: rng::mix(name, configuration.identity()),
                vm: 0,
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
                live: None,
            };
            match built {
                Some(built) => truth.live_in(built),
                None => {
                    let is_it = |vm: &RentedVm| &*vm.name == vm_type;
                    let known = vms.iter().position(is_it).unwrap_or_else(|| {
                        vms.push(RentedVm {
                            name: vm_type.into(),
                            on_spot: None,
                        });
                        vms.len() - 1
                    });
                    truth.vm = known as u16;
                }
            }
            truths.push(truth);
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(World {
            workload: workload.name.clone(),
            vms,
            identity: name,
            spot: setup.spot.clone(),
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
