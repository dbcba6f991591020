//! Everything about a workload's configurations that is computed once, before any run.

use std::sync::Arc;

use crate::engine::Hands;
use crate::training::waits::Waits;
use scavsim_base::rng::{ConfigurationKey, WorkloadKey};
use scavsim_data::configuration::Configuration;
use scavsim_data::usage::{RentedVm, RentedVms};
use scavsim_data::workload::{
    Constants, NoiseOverTraining, OutsideHull, Pace, Provenance, Reach, Spread, Workload,
};

use super::sizes::{Builder, Built};
use super::whole_steps::expected_steps;
use super::{Cluster, Setup, Spot};
use crate::training::variation::Variation;

/// A workload on a list of configurations under a given variation.
#[derive(Debug, Clone)]
pub struct World {
    /// Name of the workload.
    pub workload: String,
    /// Key of the random streams that all its configurations share.
    pub key: WorkloadKey,
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
    /// Key of its random streams.
    pub key: ConfigurationKey,
    /// VMs of the configuration and its step process.
    pub cluster: Cluster,
    /// Steps to the target without luck, n = e·D/B; not rounded.
    pub steps_to_target: f64,
    /// Expected seconds of a step, over all variation.
    pub expected_step_s: f64,
    /// How steps turn into progress; `None` for evenly.
    pub pace: Option<Pace>,
    /// Normalised SGD noise γ/K at the target, where it is known.
    pub noise_normalised: Option<f64>,
    /// Measured, interpolated between measurements, or extrapolated.
    pub provenance: Provenance,
    /// How far off that may be.
    pub spread: Spread,
}

impl Truth {
    /// What is true of a cluster that was built for `configuration` of `workload`.
    fn of(workload: &Workload, configuration: &Configuration, built: Built) -> Truth {
        let Built {
            cluster, replay, ..
        } = built;
        let steps = workload.steps_to_target(replay.epochs, configuration.batch);
        Truth {
            key: WorkloadKey::of(&workload.name).configuration(configuration.identity()),
            steps_to_target: steps * built.steps_factor,
            expected_step_s: cluster.whole.step_s,
            pace: replay.pace,
            noise_normalised: replay.noise_normalised,
            provenance: built.provenance,
            spread: replay.spread,
            configuration: configuration.clone(),
            cluster,
        }
    }

    /// VM types and how many of each it holds, parameter servers of its own included.
    pub fn held(&self) -> impl Iterator<Item = (u16, u32)> + Clone + '_ {
        self.cluster.held()
    }

    /// Expected seconds from the start to the target, without search, where training takes longer or shorter by `epoch_cv`.
    pub fn expected_time_s(&self, epoch_cv: f64) -> f64 {
        let of_update = self.cluster.whole.per_update;
        expected_steps(self.steps_to_target, epoch_cv, of_update) * self.expected_step_s
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

/// Parts of the configurations that a thread builds, so that all are busy to the end.
const PARTS_PER_THREAD: usize = 8;

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

    /// Replays `workload` with `waits` computed before, for the worker counts of `configurations` at least.
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
        let terms = (variation, waits, setup);
        World::by(Hands::One, workload, configurations, reach, terms)
    }

    /// Replays `workload` on the threads of `hands`, with `waits` computed before.
    ///
    /// # Errors
    /// As [`World::with`].
    pub fn by(
        hands: Hands,
        workload: &Workload,
        configurations: &[Configuration],
        reach: &Reach,
        (variation, waits, setup): (&Variation, &Waits, &Setup),
    ) -> Result<World, Vec<OutsideHull>> {
        let builder = Builder {
            workload,
            reach,
            variation,
            waits,
            setup,
        };
        let parts = match hands {
            Hands::One => 1,
            Hands::Pool => PARTS_PER_THREAD * hands.count(),
        };
        let size = configurations.len().div_ceil(parts).max(1);
        // There may be a million of them: each is put where it stays.
        let mut truths: Vec<Option<Truth>> = Vec::new();
        truths.resize_with(configurations.len(), || None);
        let mut parts: Vec<_> = (configurations.chunks(size))
            .zip(truths.chunks_mut(size))
            .collect();
        let built = hands.map(&mut parts, |_, (configurations, truths)| {
            // Each part has numbers of its own for its VM types.
            let (mut vms, mut refused) = (RentedVms::default(), Vec::new());
            for (configuration, truth) in configurations.iter().zip(truths.iter_mut()) {
                match builder.build(configuration, &mut vms) {
                    Ok(built) => *truth = Some(Truth::of(workload, configuration, built)),
                    Err(outside) => refused.push(outside),
                }
            }
            (vms, refused)
        });
        let (mut vms, mut refused) = (RentedVms::default(), Vec::new());
        for ((own, outside), truths) in built.into_iter().zip(truths.chunks_mut(size)) {
            let numbers = vms.extend(own);
            let groups = truths
                .iter_mut()
                .flatten()
                .flat_map(|t| &mut t.cluster.groups);
            groups.for_each(|group| group.vm = numbers[usize::from(group.vm)]);
            refused.extend(outside);
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        #[expect(
            clippy::filter_map_identity,
            reason = "in place, which `flatten` is not"
        )]
        let truths: Vec<Truth> = truths.into_iter().filter_map(|truth| truth).collect();
        Ok(World {
            workload: workload.name.clone(),
            vms: vms.into_all(),
            key: WorkloadKey::of(&workload.name),
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
