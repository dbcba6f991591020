//! Everything about a workload's configurations that is computed once, before any run.

use std::sync::Arc;

use crate::training::barrier_waits::BarrierWaits;
use scavsim_base::rng::WorkloadKey;
use scavsim_data::configuration::Configuration;
use scavsim_data::usage::{RentedVm, RentedVms};
use scavsim_data::workload::{Constants, NoiseOverTraining, OutsideHull, Reach, Workload};
use scavsim_engine::Parallelism;

use super::sizes::Builder;
use super::truth::Truth;
use super::truths::{Brief, LazyTruths, Truths, VERY_MANY};
use super::{Setup, Spot};
use crate::training::variation::Variation;

#[derive(Debug, Clone)]
pub struct World {
    pub workload: String,
    /// Key of the random streams that all its configurations share.
    pub key: WorkloadKey,
    pub constants: Constants,
    /// VM types, without their placement, in the order in which the list names them first.
    pub vms: Vec<RentedVm>,
    pub truths: Truths,
    pub variation: Variation,
    pub spot: Option<Arc<Spot>>,
    /// Noise over training; flat unless the variation replays it.
    pub noise: NoiseOverTraining,
}

/// Parts of the configurations that a thread builds, so that all are busy to the end.
const PARTS_PER_THREAD: usize = 8;

impl World {
    pub fn new(
        workload: &Workload,
        configurations: &[Configuration],
        reach: &Reach,
        variation: &Variation,
    ) -> Result<World, Vec<OutsideHull>> {
        let waits = BarrierWaits::new(variation, configurations);
        let setup = Setup::default();
        let terms = (variation, &waits, &setup);
        World::by(Parallelism::One, workload, configurations, reach, terms)
    }

    /// Replays `workload` on the threads of `hands`, with `waits` computed before, for the worker counts of `configurations` at
    /// least; one [`OutsideHull`] per configuration that no measurements surround.
    pub fn by(
        hands: Parallelism,
        workload: &Workload,
        configurations: &[Configuration],
        reach: &Reach,
        (variation, waits, setup): (&Variation, &BarrierWaits, &Setup),
    ) -> Result<World, Vec<OutsideHull>> {
        let builder = Builder {
            workload,
            reach,
            variation,
            waits,
            setup,
        };
        let is_plain = configurations.iter().all(|c| !setup.is_live(&c.vm));
        let (truths, vms) = if configurations.len() > VERY_MANY && is_plain {
            when_asked(hands, &builder, configurations)?
        } else {
            all_at_once(hands, &builder, configurations)?
        };
        Ok(World {
            workload: workload.name.clone(),
            vms: vms.into_all(),
            key: WorkloadKey::from_name(&workload.name),
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

fn part_size(hands: Parallelism, configurations: usize) -> usize {
    let parts = match hands {
        Parallelism::One => 1,
        Parallelism::Pool => PARTS_PER_THREAD * hands.count(),
    };
    configurations.div_ceil(parts).max(1)
}

fn all_at_once(
    hands: Parallelism,
    builder: &Builder<'_>,
    configurations: &[Configuration],
) -> Result<(Truths, RentedVms), Vec<OutsideHull>> {
    let size = part_size(hands, configurations.len());
    // Each is put where it stays.
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
                Ok(built) => *truth = Some(Truth::new(builder.workload, configuration, built)),
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
    Ok((Truths::all(truths), vms))
}

/// Briefs of very many configurations. Each cluster is built once, so that what the workload does not know is reported now.
fn when_asked(
    hands: Parallelism,
    builder: &Builder<'_>,
    configurations: &[Configuration],
) -> Result<(Truths, RentedVms), Vec<OutsideHull>> {
    let size = part_size(hands, configurations.len());
    let epoch_cv = builder.variation.epoch_cv;
    let mut parts: Vec<&[Configuration]> = configurations.chunks(size).collect();
    let built = hands.map(&mut parts, |_, configurations| {
        let mut part = Briefs::default();
        for configuration in *configurations {
            match builder.build(configuration, &mut part.vms) {
                Ok(built) => part.add(
                    &Truth::new(builder.workload, configuration, built),
                    epoch_cv,
                ),
                Err(outside) => part.refused.push(outside),
            }
        }
        part
    });
    let mut all = Briefs::default();
    built.into_iter().for_each(|part| all.append(part));
    if !all.refused.is_empty() {
        return Err(all.refused);
    }
    let asked = LazyTruths::new(builder, all.shapes, all.briefs, all.by_formula);
    Ok((Truths::from_lazy(asked), all.vms))
}

struct Briefs {
    vms: RentedVms,
    shapes: Vec<(Arc<str>, u16)>,
    briefs: Vec<Brief>,
    by_formula: bool,
    refused: Vec<OutsideHull>,
}

impl Default for Briefs {
    fn default() -> Briefs {
        Briefs {
            vms: RentedVms::default(),
            shapes: Vec::new(),
            briefs: Vec::new(),
            by_formula: true,
            refused: Vec::new(),
        }
    }
}

impl Briefs {
    fn add(&mut self, truth: &Truth, epoch_cv: f64) {
        let Configuration { vm, workers, batch } = &truth.configuration;
        // All VMs of a cluster to which nothing can happen are alike.
        let (number, vms) = truth.vm_counts().next().unwrap_or_default();
        // Neighbours are mostly of one shape.
        if self.shapes.last().is_none_or(|(last, _)| last != vm) {
            self.shapes.push((Arc::clone(vm), number));
        }
        self.by_formula = self.by_formula && truth.cluster.is_told_by_formula();
        self.briefs.push(Brief {
            shape: self.shapes.len() as u32 - 1,
            vms,
            workers: *workers,
            batch: *batch,
            expected_time_s: truth.expected_time_s(epoch_cv),
        });
    }

    fn append(&mut self, other: Briefs) {
        if self.briefs.is_empty() && self.refused.is_empty() {
            *self = other;
            return;
        }
        let numbers = self.vms.extend(other.vms);
        let shapes = self.shapes.len() as u32;
        let of_all = |(vm, number): (Arc<str>, u16)| (vm, numbers[usize::from(number)]);
        self.shapes.extend(other.shapes.into_iter().map(of_all));
        self.briefs
            .extend(other.briefs.into_iter().map(|brief| Brief {
                shape: shapes + brief.shape,
                ..brief
            }));
        self.by_formula = self.by_formula && other.by_formula;
        self.refused.extend(other.refused);
    }
}
