//! What one replica deals to one configuration.

use std::borrow::Cow;

use super::groups::MOST_GROUPS;
use super::truth::Truth;
use super::whole_steps::round_up_steps;
use super::{Cluster, Size};
use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::training::variation::Variation;
use scavsim_base::rng::{Purpose, Streams, UnitLogNormal, VmTypeKey};

#[derive(Debug, Clone)]
pub struct RandomEffects {
    pub steps_to_target: u64,
    pub stepping: Stepping,
    /// Seconds until the batches of its own size suit its machines.
    settle_s: f64,
    /// Factor on the whole step, by placement.
    whole_step: f64,
    /// How its machines are, where they differ.
    machines: Option<Machines>,
}

/// How fast machines are in one replica: the n-th of a type the same in every shape and kind of cluster.
#[derive(Debug, Clone)]
struct Machines(Vec<(VmTypeKey, Vec<f64>)>);

impl Machines {
    /// Machines for as many VMs of each type as `cluster` may have.
    fn draw(cluster: &Cluster, sigma: f64, streams: &Streams, replica: u64) -> Machines {
        let factor = UnitLogNormal::from_sigma(sigma);
        let mut most = [0; MOST_GROUPS];
        for (most, group) in most.iter_mut().zip(&cluster.groups) {
            *most = group.most;
        }
        let mut counts: Vec<(VmTypeKey, u32)> = Vec::new();
        for (vm_type, number) in cluster.machines(&most) {
            match counts.iter_mut().find(|(known, _)| *known == vm_type) {
                Some((_, count)) => *count = (*count).max(number + 1),
                None => counts.push((vm_type, number + 1)),
            }
        }
        let draw = |(vm_type, count): (VmTypeKey, u32)| {
            let mut stream = streams.stream(replica, Purpose::Machines(vm_type));
            let factors = (0..count).map(|_| factor.sample(&mut stream));
            (vm_type, factors.collect())
        };
        Machines(counts.into_iter().map(draw).collect())
    }

    fn factor(&self, (vm_type, number): (VmTypeKey, u32)) -> f64 {
        let of_type = self.0.iter().find(|(known, _)| *known == vm_type);
        let factor = of_type.and_then(|(_, factors)| factors.get(number as usize));
        factor.copied().unwrap_or(1.0)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct RandomEffectLaws {
    placement: UnitLogNormal,
    length: UnitLogNormal,
    vm_sigma: f64,
}

impl RandomEffectLaws {
    pub fn from_variation(variation: &Variation) -> RandomEffectLaws {
        RandomEffectLaws {
            placement: UnitLogNormal::from_sigma(variation.placement_sigma),
            length: UnitLogNormal::from_cv(variation.epoch_cv),
            vm_sigma: variation.vm_sigma,
        }
    }
}

impl RandomEffects {
    /// Draws placement, machines and length of the run: equal for every strategy, and for the oracle.
    pub fn draw(
        truth: &Truth,
        laws: &RandomEffectLaws,
        streams: &Streams,
        replica: u64,
    ) -> RandomEffects {
        let cluster = &truth.cluster;
        let mut steps = truth.steps_to_target;
        let mut whole_step = 1.0;
        if laws.placement.sigma() > 0.0 || laws.length.sigma() > 0.0 {
            let mut stream = streams.stream(replica, Purpose::Luck(truth.key));
            whole_step = laws.placement.sample(&mut stream);
            steps *= laws.length.sample(&mut stream);
        }
        let sigma = laws.vm_sigma;
        let mut luck = RandomEffects {
            steps_to_target: round_up_steps(steps),
            stepping: placed(&cluster.whole.stepping, whole_step),
            settle_s: cluster.whole.settle_s,
            whole_step,
            machines: (sigma > 0.0).then(|| Machines::draw(cluster, sigma, streams, replica)),
        };
        if luck.machines.is_some() {
            (luck.stepping, luck.settle_s) =
                luck.stepping_and_settling(cluster, cluster.usual, &cluster.whole);
        }
        luck
    }

    /// The steps of the same configuration in the size at a place, as they turn out in this replica.
    pub fn stepping_at(&self, cluster: &Cluster, place: usize, size: &Size) -> Cow<'_, Stepping> {
        if place == cluster.usual {
            Cow::Borrowed(&self.stepping)
        } else {
            Cow::Owned(self.stepping_and_settling(cluster, place, size).0)
        }
    }

    pub fn settle_s(&self, cluster: &Cluster, place: usize, size: &Size) -> f64 {
        match place == cluster.usual {
            true => self.settle_s,
            false if size.levelling.is_some() => self.stepping_and_settling(cluster, place, size).1,
            false => size.settle_s,
        }
    }

    fn stepping_and_settling(
        &self,
        cluster: &Cluster,
        place: usize,
        size: &Size,
    ) -> (Stepping, f64) {
        let mut stepping = placed(&size.stepping, self.whole_step);
        let Some(machines) = &self.machines else {
            return (stepping, size.settle_s);
        };
        let on = cluster.machines(&cluster.vms_at(place));
        let mut factors: Box<[f64]> = on
            .into_iter()
            .map(|machine| machines.factor(machine))
            .collect();
        let mut settle_s = size.settle_s;
        if let Some(levelling) = &size.levelling {
            let (times, seconds) = levelling.settled(&factors);
            for (factor, time_s) in factors.iter_mut().zip(times) {
                *factor = time_s / size.stepping.worker_s;
            }
            settle_s = seconds;
        } else if let Some(types) = &stepping.machines {
            for (factor, by_type) in factors.iter_mut().zip(types) {
                *factor *= by_type;
            }
        }
        stepping.slowest = slowest::moments_unequal(&factors, stepping.time);
        stepping.machines = Some(factors);
        (stepping, settle_s)
    }
}

fn placed(stepping: &Stepping, whole_step: f64) -> Stepping {
    let mut placed = stepping.clone();
    placed.worker_s *= whole_step;
    placed.communication_s *= whole_step;
    placed
}
