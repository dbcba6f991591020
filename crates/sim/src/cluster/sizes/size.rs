//! The step process of a configuration with so many VMs of each group.

use std::sync::Arc;

use super::builder::{Builder, UnknownCluster};
use super::frame::{Frame, Part, Vms};
use crate::cluster::balance::{MOST_LOOKS, PreviousBalance, settle};
use crate::cluster::batching::{Batching, WorkerGroup};
use crate::cluster::groups::Size;
use crate::cluster::levelling::Levelling;
use crate::cluster::trial::trial;
use crate::training::barrier_waits::BarrierWait;
use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::training::sync::Protocol;
use crate::training::sync::fast::Pace;
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::{OutsideHull, Provenance, Replay, StepMeasured};

pub(super) struct SizeConditions {
    /// The level of what is available of its workers.
    pub(super) level: usize,
    /// Batches at the level before.
    before: Option<PreviousBalance>,
}

impl SizeConditions {
    pub(super) fn first() -> SizeConditions {
        SizeConditions {
            level: 0,
            before: None,
        }
    }
}

pub(super) struct SizeReplays<'f> {
    present: Vec<(&'f Part, u32)>,
    replays: Vec<(Replay, u32)>,
    workers: u32,
    samples: f64,
}

impl Builder<'_> {
    /// Answers of the workload for each group's workers, with their numbers; besides, all workers, and samples of an update.
    pub(super) fn found<'f>(
        &self,
        configuration: &Configuration,
        frame: &'f Frame,
        vms: Vms,
        level: usize,
    ) -> Result<SizeReplays<'f>, OutsideHull> {
        let present: Vec<(&Part, u32)> = (frame.parts.iter().zip(vms))
            .map(|(part, vms)| (part, part.workers(vms)))
            .filter(|(_, own)| *own > 0)
            .collect();
        let workers = present.iter().map(|(_, workers)| workers).sum();
        let samples = (self.setup).samples(configuration, frame.protocol, workers);
        let batch = whole_batch(configuration, workers, samples);
        let replays = (present.iter())
            .map(|(part, own)| {
                let share = frame.share(part, level);
                Ok((self.replay(part, workers, batch, share)?, *own))
            })
            .collect::<Result<_, OutsideHull>>()?;
        Ok(SizeReplays {
            present,
            replays,
            workers,
            samples,
        })
    }

    /// A size in which no time to compute is left of a step that holds the service of its update.
    pub(super) fn without_compute(
        &self,
        configuration: &Configuration,
        frame: &Frame,
        vms: Vms,
    ) -> Option<UnknownCluster> {
        let service_s = frame.protocol.service_in_step_s();
        if service_s == 0.0 {
            return None;
        }
        let found = self.found(configuration, frame, vms, 0).ok()?;
        let communication_s =
            communication_s(frame.protocol, &found.replays.first()?.0, &found.replays);
        let waited = self.waited(frame, vms, found.workers).mean;
        let compute_s = (found.replays.iter())
            .map(|(replay, _)| self.worker_s(replay, waited))
            .fold(f64::INFINITY, f64::min);
        let step_s = compute_s + communication_s;
        (step_s <= service_s).then_some(UnknownCluster::Service { step_s, service_s })
    }

    fn waited(&self, frame: &Frame, vms: Vms, workers: u32) -> BarrierWait {
        self.waits.wait_for(self.variation, workers, || {
            (frame.parts.iter().zip(vms))
                .flat_map(|(part, vms)| match part.each {
                    0 => part.layout.clone(),
                    each => vec![(each, vms)],
                })
                .collect()
        })
    }

    pub(super) fn size(
        &self,
        configuration: &Configuration,
        frame: &Frame,
        vms: Vms,
        at: &mut SizeConditions,
    ) -> Result<(BuiltSize, Replay), OutsideHull> {
        let protocol = frame.protocol;
        let found = self.found(configuration, frame, vms, at.level)?;
        let (workers, samples) = (found.workers, found.samples);
        let Some((first, _)) = found.replays.first() else {
            return Err(OutsideHull {
                workload: self.workload.name.clone(),
                what: None,
                configuration: configuration.clone(),
                nearest: None,
            });
        };
        let BarrierWait {
            equal: slowest,
            mean: waited,
        } = self.waited(frame, vms, workers);
        let communication_s = communication_s(protocol, first, &found.replays);
        let in_step_s = protocol.service_in_step_s();
        let of_communication_s = in_step_s.min(communication_s);
        let of_compute_s = in_step_s - of_communication_s;
        let own_s = |replay: &Replay| self.worker_s(replay, waited) - of_compute_s;
        let worker_s = own_s(first);
        let mut stepping = Stepping {
            workers,
            worker_s,
            communication_s: communication_s - of_communication_s,
            time: self.variation.worker_time(),
            slowest,
            machines: None,
        };
        let mut expected = worker_s * waited + stepping.communication_s;
        let (mut settle_s, mut levelling) = (0.0, None);
        let batching = frame.kind.as_ref().and_then(|k| k.batching.as_ref());
        let batching = batching.filter(|_| protocol.has_barrier());
        let is_unlike = (found.replays.iter()).any(|(replay, _)| own_s(replay) != worker_s);
        // Batches that suited other levels stay until their policy changes them.
        let by_luck = self.variation.vm_sigma > 0.0;
        let by_luck = by_luck && batching.is_some_and(|b| b.policy().looks_every().is_some());
        if is_unlike || by_luck || (batching.is_some() && frame.levels() > 1) {
            let times = (found.replays.iter())
                .flat_map(|(replay, own)| std::iter::repeat_n(own_s(replay), *own as usize));
            unlike(&mut stepping, worker_s, times);
            if let Some(batching) = batching {
                let shared: Vec<(&Part, f64)> = (found.present.iter())
                    .flat_map(|(part, own)| {
                        let share = frame.share(part, at.level);
                        std::iter::repeat_n((*part, share), *own as usize)
                    })
                    .collect();
                (settle_s, levelling) =
                    self.balance(batching, &shared, samples, waited, at, &mut stepping)?;
                levelling = levelling.filter(|_| by_luck);
            }
            let law = (found.present.first())
                .and_then(|(part, _)| self.workload.worker_law(&part.shape, self.reach));
            if let Some(law) = law.filter(|_| protocol.has_barrier()) {
                let means = stepping.machines.iter().flatten().copied();
                stepping.communication_s += law.waiting_step_s(means);
            }
            expected = stepping.mean_step_s(1.0);
        }
        let (replay, provenance) = self.replay_of_all(configuration, protocol, &found, first);
        let steps = replay.epochs * self.workload.constants.samples_per_epoch.value / samples;
        let gradient = samples / f64::from(workers) / f64::from(configuration.batch);
        let pace = if vms == frame.all_vms() {
            Pace::new(protocol, &stepping)
        } else {
            Pace::in_passing(protocol, &stepping)
        };
        let mut made = self.measure(pace, stepping, expected, gradient, steps, provenance);
        made.size.settle_s = settle_s;
        made.size.levelling = levelling.map(Arc::new);
        Ok((made, replay))
    }

    /// What the workload says of the first group, with what all its groups together make of it, and where that is from.
    fn replay_of_all(
        &self,
        configuration: &Configuration,
        protocol: Protocol,
        found: &SizeReplays<'_>,
        first: &Replay,
    ) -> (Replay, Provenance) {
        let replays = || found.replays.iter().map(|(replay, _)| replay);
        let mut provenance = (replays().map(|r| r.provenance)).fold(Provenance::Measured, Ord::max);
        let mut replay = first.clone();
        // Groups share a law: the one that is known least tells how far off all are.
        replay.spread.step = replays().filter_map(|r| r.spread.step).reduce(f64::max);
        let effective = protocol.effective_batch(found.samples, found.workers);
        if effective < found.samples {
            let at = Configuration {
                vm: (found.present.first())
                    .map_or(&configuration.vm, |(part, _)| &part.shape)
                    .clone(),
                workers: found.workers,
                batch: whole_batch(configuration, found.workers, found.samples),
            };
            let part = effective.round() as u32;
            if let Some(epochs) = self.workload.epochs_of_part(&at, part, self.reach) {
                (replay.epochs, replay.pace) = (epochs.epochs, epochs.pace);
                replay.spread.epochs = epochs.deviation;
                provenance = provenance.max(epochs.provenance);
            }
        }
        (replay, provenance)
    }

    /// What the workload says of so many workers on the VMs of a group; their noise is not needed to train.
    fn replay(
        &self,
        part: &Part,
        workers: u32,
        batch: u32,
        share: f64,
    ) -> Result<Replay, OutsideHull> {
        let asked = Configuration {
            vm: Arc::clone(&part.shape),
            workers,
            batch,
        };
        let mut replay = self.workload.replay(&asked, self.reach)?;
        if share != 1.0 {
            replay.step.compute_s *= self.workload.slowed(&asked, self.reach, share);
        }
        Ok(replay)
    }

    /// Mean compute seconds of one worker. A step measured at the barrier already holds the wait for the slowest worker, so
    /// it is divided by the expected slowest of K: the expected step equals the measured one whatever the variation.
    fn worker_s(&self, replay: &Replay, waited: f64) -> f64 {
        match self.workload.steps.measured {
            StepMeasured::Barrier => replay.step.compute_s / waited,
            StepMeasured::Worker => replay.step.compute_s,
        }
    }

    /// Sets the batches of unlike workers, together `samples`; the seconds until they settle, and what is known of the
    /// workers.
    fn balance(
        &self,
        batching: &Batching,
        parts: &[(&Part, f64)],
        samples: f64,
        waited: f64,
        at: &mut SizeConditions,
        stepping: &mut Stepping,
    ) -> Result<(f64, Option<Levelling>), OutsideHull> {
        let workers = stepping.workers;
        let compute_s = |worker: usize, batch: f64| {
            let global = (batch * f64::from(workers)).round().max(1.0) as u32;
            let (part, share) = parts[worker];
            let replay = self.replay(part, workers, global, share)?;
            Ok(self.worker_s(&replay, waited))
        };
        let sizes: Option<Vec<f64>> = match batching {
            Batching::BySize => (parts.iter())
                .map(|(part, share)| Some(share * self.workload.size(&part.shape, self.reach)?))
                .collect(),
            _ => None,
        };
        let group = WorkerGroup::unbounded(parts.len(), sizes.unwrap_or_default(), samples);
        let balance = settle(batching, at.before.as_ref(), group, MOST_LOOKS, compute_s)?;
        unlike(
            stepping,
            balance.times_s[0],
            balance.times_s.iter().copied(),
        );
        let restart_s = self.workload.constants.restore_s.value;
        let levelling = if self.variation.vm_sigma > 0.0 {
            Some(Levelling {
                batching: *batching,
                lines: (balance.batches.iter().enumerate())
                    .map(|(worker, batch)| Levelling::line(*batch, |b| compute_s(worker, b)))
                    .collect::<Result<_, OutsideHull>>()?,
                before: at.before.take(),
                samples,
                restart_s,
            })
        } else {
            None
        };
        let settle_s = balance.settle_s(restart_s);
        at.before = Some(PreviousBalance {
            speeds: balance.speeds,
            batches: balance.batches,
        });
        Ok((settle_s, levelling))
    }

    fn measure(
        &self,
        pace: Pace,
        stepping: Stepping,
        bsp_step_s: f64,
        gradient: f64,
        steps: f64,
        provenance: Provenance,
    ) -> BuiltSize {
        let protocol = pace.protocol();
        let k = f64::from(stepping.workers);
        let fixed = protocol.gradients_per_update(stepping.workers);
        let (step_s, gradients, staleness) = match (protocol.expected_update_s(bsp_step_s), fixed) {
            // All that it sums up are as fresh as at a barrier.
            (Some(update_s), Some(each)) => {
                (update_s / (f64::from(each) / k), f64::from(each), 0.0)
            }
            _ => {
                let trial = trial(&protocol, &pace, &stepping, steps * k);
                let each = trial.gradients;
                (trial.update_s * k / each, each, trial.staleness * gradient)
            }
        };
        let penalty = self.workload.staleness.or(self.setup.staleness);
        let factor = protocol.gradients_factor(staleness, penalty);
        BuiltSize {
            size: Size {
                stepping,
                pace,
                // In steps of this size; made relative to the whole cluster later.
                per_update: fixed.map_or(gradients, f64::from) / k,
                per_gradient: match fixed {
                    Some(_) => None,
                    None => Some(1.0 / k),
                },
                gradient,
                step_s,
                settle_s: 0.0,
                levelling: None,
            },
            steps,
            factor,
            provenance,
        }
    }
}

/// Workers take these seconds each, the first `worker_s`.
fn unlike(stepping: &mut Stepping, worker_s: f64, times: impl Iterator<Item = f64>) {
    let factors: Box<[f64]> = times.map(|time_s| time_s / worker_s).collect();
    stepping.worker_s = worker_s;
    stepping.slowest = slowest::moments_unequal(&factors, stepping.time);
    stepping.machines = Some(factors);
}

/// Seconds of exposed communication: of the slowest group where all wait for it, else the mean of the workers.
fn communication_s(protocol: Protocol, first: &Replay, found: &[(Replay, u32)]) -> f64 {
    if protocol.has_barrier() {
        return (found.iter()).fold(0.0, |most: f64, (r, _)| most.max(r.step.communication_s));
    }
    let sum: f64 = (found.iter())
        .map(|(r, own)| f64::from(*own) * r.step.communication_s)
        .sum();
    match found.iter().map(|(_, own)| own).sum::<u32>() {
        0 => first.step.communication_s,
        all => sum / f64::from(all),
    }
}

pub(super) struct BuiltSize {
    pub(super) size: Size,
    /// Steps of this size to the target, without staleness.
    pub(super) steps: f64,
    /// Factor on them by staleness.
    pub(super) factor: f64,
    pub(super) provenance: Provenance,
}

impl BuiltSize {
    pub(super) fn relative_to(self, nominal: f64) -> Size {
        let mut size = self.size;
        let own = self.steps * self.factor;
        if own > 0.0 && own != nominal {
            let worth = nominal / own;
            size.per_update *= worth;
            size.per_gradient = size.per_gradient.map(|each| each * worth);
            size.step_s /= worth;
        }
        size
    }
}

/// The global batch of so many samples, which is a whole number.
fn whole_batch(configuration: &Configuration, workers: u32, samples: f64) -> u32 {
    if workers == configuration.workers {
        configuration.batch
    } else {
        samples.round().max(1.0) as u32
    }
}
