//! What one replica deals to one configuration.

use super::world::Truth;
use crate::rng::{Purpose, Streams, UnitLogNormal, identity};
use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::training::variation::Variation;

/// A configuration as it turns out in one replica.
#[derive(Debug, Clone)]
pub struct Luck {
    /// Steps to the target in this replica, at least 1.
    pub steps_to_target: u64,
    /// Its steps.
    pub stepping: Stepping,
    /// Factor on the whole step, by placement.
    whole_step: f64,
}

impl Luck {
    /// Draws placement, machines and length of the run for `truth` in `replica`. The same for
    /// every strategy, and for the oracle.
    pub fn draw(truth: &Truth, variation: &Variation, streams: &Streams, replica: u64) -> Luck {
        let mut stepping = Stepping {
            machines: None,
            ..truth.cluster.whole.stepping.clone()
        };
        let mut steps = truth.steps_to_target;
        let (placement, luck) = (
            UnitLogNormal::from_sigma(variation.placement_sigma),
            UnitLogNormal::from_cv(variation.epoch_cv),
        );
        let mut whole_step = 1.0;
        if placement.sigma() > 0.0 || luck.sigma() > 0.0 {
            let mut stream = streams.stream(Purpose::Luck, replica, truth.identity);
            whole_step = placement.sample(&mut stream);
            steps *= luck.sample(&mut stream);
            stepping.worker_s *= whole_step;
            stepping.communication_s *= whole_step;
        }
        if variation.vm_sigma > 0.0 {
            // The same machines whatever the configuration: a cluster that grows keeps its own.
            let vm = identity(&truth.configuration.vm);
            let mut stream = streams.stream(Purpose::Machines, replica, vm);
            let machine = UnitLogNormal::from_sigma(variation.vm_sigma);
            let factors: Box<[f64]> = (0..stepping.workers)
                .map(|_| machine.sample(&mut stream))
                .collect();
            stepping.slowest = slowest::moments_unequal(&factors, stepping.time);
            stepping.machines = Some(factors);
        }
        Luck {
            // One step at least, and rounded up: the target is reached during the last step. The
            // tiny relief keeps a whole number that came out a rounding error too high.
            steps_to_target: ((steps * (1.0 - 1e-12)).ceil() as u64).max(1),
            stepping,
            whole_step,
        }
    }

    /// The steps of the same configuration in another size, as they turn out in this replica.
    pub fn at(&self, size: &Stepping) -> Stepping {
        let mut stepping = size.clone();
        stepping.worker_s *= self.whole_step;
        stepping.communication_s *= self.whole_step;
        let Some(own) = &self.stepping.machines else {
            return stepping;
        };
        let mut factors: Box<[f64]> = (0..size.workers as usize)
            // A cluster that has grown finds machines like those before.
            .map(|worker| own.get(worker % own.len().max(1)).copied().unwrap_or(1.0))
            .collect();
        if let Some(types) = &size.machines {
            for (factor, by_type) in factors.iter_mut().zip(types) {
                *factor *= by_type;
            }
        }
        if factors[..] == own[..] {
            stepping.slowest = self.stepping.slowest;
        } else {
            stepping.slowest = slowest::moments_unequal(&factors, stepping.time);
        }
        stepping.machines = Some(factors);
        stepping
    }
}
