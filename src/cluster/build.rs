//! From a configuration of a workload to its cluster.

use std::sync::Arc;

use super::balance::settle;
use super::batching::Batching;
use super::checkpoint::Policy;
use super::checkpoint::choice::policy;
use super::groups::{Cluster, Group, Size};
use super::groups::{MOST_GROUPS, vms_at};
use super::setup::{Kind, Setup};
use super::terms::{OnLoss, Spot};
use super::trial::trial;
use crate::configuration::{Configuration, Shape};
use crate::rng::VmTypeKey;
use crate::training::Fidelity;
use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::training::sync::Protocol;
use crate::training::sync::fast::Pace;
use crate::training::variation::Variation;
use crate::training::waits::{Layout, Wait, Waits};
use crate::usage::RentedVm;
use crate::workload::{OutsideHull, Provenance, Reach, Replay, StepMeasured, Workload};

/// Most sizes that a cluster may have.
pub const MOST_SIZES: usize = 4096;

/// A cluster and what it does to its configuration's figures.
pub struct Built {
    /// The cluster.
    pub cluster: Cluster,
    /// What the workload says about the configuration, on the VMs of the first group.
    pub replay: Replay,
    /// Factor on the steps to the target: what staleness costs.
    pub steps_factor: f64,
    /// How the steps of its groups were obtained.
    pub provenance: Provenance,
}

/// All that a cluster is built from.
pub struct Builder<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// How far beyond its measurements it may be asked.
    pub reach: &'a Reach,
    /// What varies at random.
    pub variation: &'a Variation,
    /// The slowest of K workers, for worker counts known before.
    pub waits: &'a Waits,
    /// How clusters live.
    pub setup: &'a Setup,
}

/// What a workload does not know of a configuration's cluster.
#[derive(Debug, Clone)]
pub enum Missing {
    /// The cluster as it is asked for.
    Itself(OutsideHull),
    /// A size that it may come to.
    Size(OutsideHull),
    /// It has more than [`MOST_SIZES`] sizes.
    TooManySizes,
}

/// Workers of a group, for the step process.
struct Part {
    shape: Arc<str>,
    /// Workers per VM; all of the configuration on all VMs where they cannot be told apart.
    each: u32,
    /// Where they cannot: workers on how many VMs.
    layout: Layout,
}

impl Part {
    /// Workers on so many VMs.
    fn workers(&self, vms: u32) -> u32 {
        match self.each {
            0 => self.layout.iter().map(|(each, vms)| each * vms).sum(),
            each => each * vms,
        }
    }
}

/// VMs of each group.
type Vms = [u32; MOST_GROUPS];

/// The VMs of a configuration, and on which terms they are.
struct Frame {
    groups: Vec<Group>,
    parts: Vec<Part>,
    protocol: Protocol,
    spot: Option<Arc<Spot>>,
}

impl Frame {
    /// All VMs that the configuration has.
    fn whole(&self) -> Vms {
        let mut vms = [0; MOST_GROUPS];
        for (vms, group) in vms.iter_mut().zip(&self.groups) {
            *vms = group.vms;
        }
        vms
    }

    /// Numbers of VMs that the groups of workers may have together; `None` where there are too many.
    fn count_of_sizes(&self) -> Option<usize> {
        (self.groups.iter())
            .filter(|g| !g.is_server)
            .try_fold(1usize, |n, g| n.checked_mul(g.most as usize + 1))
            .filter(|n| *n <= MOST_SIZES)
    }
}

/// What a workload says of a cluster in one size.
struct Found<'f> {
    present: Vec<(&'f Part, u32)>,
    replays: Vec<(Replay, u32)>,
    workers: u32,
    samples: f64,
}

impl Builder<'_> {
    /// Builds the cluster of `configuration`; VM types that are not in `vms` are added to it.
    ///
    /// # Errors
    /// [`OutsideHull`] for the first size that the workload does not know, of those that it may shrink or grow to.
    pub fn build(
        &self,
        configuration: &Configuration,
        vms: &mut Vec<RentedVm>,
    ) -> Result<Built, OutsideHull> {
        let frame = self.frame(configuration, vms);
        let protocol = frame.protocol;
        let (whole, replay) = self.size(configuration, &frame, frame.whole())?;
        let not_in = [Fidelity::Step, Fidelity::Fast].map(|fidelity| {
            let valid = protocol.valid(fidelity, &whole.size.stepping, u64::MAX);
            valid.err().map(|why| why.to_string())
        });
        let nominal = whole.steps * whole.factor;
        let mut cluster = Cluster {
            protocol,
            is_static: !self.setup.is_live(&configuration.vm),
            groups: frame.groups.clone(),
            spot: frame.spot.clone(),
            elastic: self.setup.elastic.clone(),
            policy: Policy::None,
            restart_s: self.workload.constants.restore_s.value,
            not_in,
            whole: whole.size,
            sizes: Vec::new(),
            usual: 0,
        };
        if cluster.changes_size() {
            cluster.usual = cluster.place(|group| cluster.groups[group].vms);
            cluster.sizes = self.sizes(configuration, &frame, cluster.usual, nominal)?;
        }
        cluster.policy = policy(&cluster, nominal * cluster.whole.step_s);
        Ok(Built {
            cluster,
            replay,
            steps_factor: whole.factor,
            provenance: whole.provenance,
        })
    }

    /// The step process at every size but the usual one, in steps of a cluster that needs `nominal` of them; none
    /// where there are too many.
    fn sizes(
        &self,
        configuration: &Configuration,
        frame: &Frame,
        usual: usize,
        nominal: f64,
    ) -> Result<Vec<Option<Size>>, OutsideHull> {
        let count = frame.count_of_sizes().unwrap_or(0);
        let mut sizes = Vec::with_capacity(count);
        for place in 0..count {
            let vms = (place != usual).then(|| self.possible(frame, place));
            sizes.push(match vms.flatten() {
                Some(vms) => {
                    let (made, _) = self.size(configuration, frame, vms)?;
                    Some(made.relative_to(nominal))
                }
                None => None,
            });
        }
        Ok(sizes)
    }

    /// Sizes that the cluster of `configuration` may have, besides its own; `None` where there are too many.
    pub fn count_of_sizes(&self, configuration: &Configuration) -> Option<usize> {
        let frame = self.frame(configuration, &mut Vec::new());
        match self.changes_size() {
            true => frame.count_of_sizes(),
            false => Some(0),
        }
    }

    /// What keeps [`build`](Self::build) from building the cluster of `configuration`: found by the same steps, without
    /// what takes long and cannot fail.
    pub fn missing(&self, configuration: &Configuration) -> Option<Missing> {
        let frame = self.frame(configuration, &mut Vec::new());
        let kind = self.setup.kinds.get(&configuration.vm);
        let is_balanced = kind.is_some_and(|k| k.batching.is_some());
        let known = |vms: Vms| match is_balanced {
            true => self.size(configuration, &frame, vms).map(drop),
            false => self.found(configuration, &frame, vms).map(drop),
        };
        if let Err(outside) = known(frame.whole()) {
            return Some(Missing::Itself(outside));
        }
        let loses = (frame.spot.as_ref()).is_some_and(|s| s.on_loss != OnLoss::Wait);
        if !loses && self.setup.elastic.is_none() {
            return None;
        }
        let Some(count) = frame.count_of_sizes() else {
            return Some(Missing::TooManySizes);
        };
        let mut sizes = (0..count).filter_map(|place| self.possible(&frame, place));
        sizes.find_map(|vms| known(vms).err().map(Missing::Size))
    }

    /// VMs of each group at a place of the sizes, if the cluster may come to it and train.
    fn possible(&self, frame: &Frame, place: usize) -> Option<Vms> {
        let vms = vms_at(&frame.groups, place);
        let all = frame.groups.iter().zip(vms).filter(|(g, _)| !g.is_server);
        let workers: u32 = all.clone().map(|(g, vms)| g.workers * vms).sum();
        let is_reached = match (&frame.spot, &self.setup.elastic) {
            (Some(spot), _) => workers >= spot.fewest_workers.max(1),
            // Nobody is lost: only the first group changes, between the two sizes that the price asks for.
            (None, Some(elastic)) => all.enumerate().all(|(index, (g, vms))| match index {
                0 => vms >= elastic.fewest_vms.min(g.vms),
                _ => vms == g.vms,
            }),
            (None, None) => false,
        };
        (is_reached && frame.protocol.check(workers).is_ok()).then_some(vms)
    }

    /// Whether clusters may have another size than their configuration's.
    fn changes_size(&self) -> bool {
        let spot = self.setup.spot.as_ref();
        spot.is_some_and(|s| s.on_loss != OnLoss::Wait) || self.setup.elastic.is_some()
    }

    /// The VMs of a configuration, and on which terms they are.
    fn frame(&self, configuration: &Configuration, vms: &mut Vec<RentedVm>) -> Frame {
        let kind = self.setup.kinds.get(&configuration.vm).map(|k| &**k);
        let (groups, parts) = self.groups(configuration, kind, vms);
        let spot = kind
            .and_then(|k| k.spot.clone())
            .or_else(|| self.setup.spot.clone());
        Frame {
            groups,
            parts,
            protocol: kind.and_then(|k| k.protocol).unwrap_or(self.setup.protocol),
            spot: spot.filter(|_| kind.is_none_or(Kind::has_spot)),
        }
    }

    /// The groups of VMs of a configuration, and what its workers run on.
    fn groups(
        &self,
        configuration: &Configuration,
        kind: Option<&Kind>,
        vms: &mut Vec<RentedVm>,
    ) -> (Vec<Group>, Vec<Part>) {
        let (mut groups, mut parts) = (Vec::new(), Vec::new());
        let single = [(Arc::clone(&configuration.vm), None)];
        let workers_of = kind.map_or(&single[..], |k| &k.workers);
        let on_spot = match kind {
            Some(kind) => kind.on_spot,
            None => self.setup.spot.is_some(),
        };
        // Without kinds all VMs are alike, and the price says on which terms.
        let said = kind.map(|_| on_spot);
        let grown = (self.setup.elastic.as_ref()).map_or(0, |e| e.most_vms);
        let market = |on_spot: bool| match on_spot {
            true => kind.map_or(1, |k| k.market),
            false => 0,
        };
        for (index, (shape, fixed)) in workers_of.iter().take(MOST_GROUPS - 2).enumerate() {
            let parsed = Shape::parse(shape).ok();
            let vm_type = parsed.map_or(&**shape, |s| s.vm_type);
            let workers = fixed.unwrap_or(configuration.workers);
            let count = (parsed.and_then(|s| s.vms(workers))).unwrap_or(workers);
            // A last VM that is not full makes VMs unlike, which matters only where some may be missing.
            let fills = count > 0 && (self.changes_size() || workers % count == 0);
            let each = match parsed.is_some_and(|s| s.is_even()) && fills {
                true => workers / count,
                false => 0,
            };
            let layout = match each {
                0 => parsed.map_or_else(|| vec![(1, workers)], |s| s.layout(workers)),
                _ => Layout::new(),
            };
            let mut add =
                |count: u32, on_spot: bool, said: Option<bool>, grown: u32, layout: Layout| {
                    groups.push(Group {
                        vm: index_of(vms, vm_type, said),
                        vm_type: VmTypeKey::of(vm_type),
                        market: market(on_spot),
                        vms: count,
                        most: count.max(grown),
                        workers: each,
                        layout: layout.clone(),
                        on_spot,
                        is_server: false,
                    });
                    parts.push(Part {
                        shape: Arc::clone(shape),
                        each,
                        layout,
                    });
                };
            let grown = if index == 0 { grown } else { 0 };
            match kind {
                Some(kind) if index == 0 && kind.chief_on_demand && on_spot => {
                    let (chief, others) = without_first(layout);
                    if count > 1 {
                        add(count - 1, true, said, grown.saturating_sub(1), others);
                    }
                    add(1, false, Some(false), 1, chief);
                }
                _ => add(count, on_spot, said, grown, layout),
            }
        }
        if let Some(servers) = kind.and_then(|k| k.servers.as_ref()) {
            groups.push(Group {
                vm: index_of(vms, &servers.vm, Some(servers.on_spot)),
                vm_type: VmTypeKey::of(&servers.vm),
                market: market(servers.on_spot),
                vms: servers.vms,
                most: servers.vms,
                workers: 0,
                layout: Layout::new(),
                on_spot: servers.on_spot,
                is_server: true,
            });
        }
        (groups, parts)
    }

    /// What the workload says of each group's workers with so many VMs, and how many those are; besides, all workers,
    /// and samples of an update.
    fn found<'f>(
        &self,
        configuration: &Configuration,
        frame: &'f Frame,
        vms: Vms,
    ) -> Result<Found<'f>, OutsideHull> {
        let present: Vec<(&Part, u32)> = (frame.parts.iter().zip(vms))
            .map(|(part, vms)| (part, part.workers(vms)))
            .filter(|(_, own)| *own > 0)
            .collect();
        let workers = present.iter().map(|(_, workers)| workers).sum();
        let samples = (self.setup).samples(configuration, frame.protocol, workers);
        let batch = whole_batch(configuration, workers, samples);
        let replays = (present.iter())
            .map(|(part, own)| Ok((self.replay(part, workers, batch)?, *own)))
            .collect::<Result<_, OutsideHull>>()?;
        Ok(Found {
            present,
            replays,
            workers,
            samples,
        })
    }

    /// The step process with so many VMs of each group, and what the workload says of the first.
    fn size(
        &self,
        configuration: &Configuration,
        frame: &Frame,
        vms: Vms,
    ) -> Result<(Made, Replay), OutsideHull> {
        let protocol = frame.protocol;
        let Found {
            present,
            replays: found,
            workers,
            samples,
        } = self.found(configuration, frame, vms)?;
        let Some((first, _)) = found.first() else {
            return Err(OutsideHull {
                workload: self.workload.name.clone(),
                what: None,
                configuration: configuration.clone(),
                nearest: None,
            });
        };
        let Wait {
            equal: slowest,
            mean: waited,
        } = self.waits.at(self.variation, workers, || {
            (frame.parts.iter().zip(vms))
                .flat_map(|(part, vms)| match part.each {
                    0 => part.layout.clone(),
                    each => vec![(each, vms)],
                })
                .collect()
        });
        let worker_s = self.worker_s(first, waited);
        let mut stepping = Stepping {
            workers,
            worker_s,
            communication_s: communication_s(protocol, first, &found),
            time: self.variation.worker_time(),
            slowest,
            machines: None,
        };
        let (mut expected, mut settle_s) = (worker_s * waited + stepping.communication_s, 0.0);
        if (found.iter()).any(|(replay, _)| self.worker_s(replay, waited) != worker_s) {
            let times = (found.iter()).flat_map(|(replay, own)| {
                std::iter::repeat_n(self.worker_s(replay, waited), *own as usize)
            });
            unlike(&mut stepping, worker_s, times);
            let kind = self.setup.kinds.get(&configuration.vm);
            let batching = kind.and_then(|k| k.batching.as_ref());
            if let Some(batching) = batching.filter(|_| protocol.has_barrier()) {
                settle_s = self.balance(batching, &present, samples, waited, &mut stepping)?;
            }
            expected = stepping.mean_step_s(1.0);
        }
        let provenance =
            (found.iter().map(|(r, _)| r.provenance)).fold(Provenance::Measured, Ord::max);
        let (mut replay, mut provenance) = (first.clone(), provenance);
        let effective = protocol.effective_batch(samples, workers);
        let at = Configuration {
            vm: (present.first())
                .map_or(&configuration.vm, |(part, _)| &part.shape)
                .clone(),
            workers,
            batch: whole_batch(configuration, workers, samples),
        };
        let part = (effective < samples).then_some(effective.round() as u32);
        let of_part = part.and_then(|part| self.workload.epochs_of_part(&at, part, self.reach));
        if let Some(epochs) = of_part {
            (replay.epochs, replay.pace) = (epochs.epochs, epochs.pace);
            provenance = provenance.max(epochs.provenance);
        }
        let steps = replay.epochs * self.workload.constants.samples_per_epoch.value / samples;
        let gradient = samples / f64::from(workers) / f64::from(configuration.batch);
        let mut made = self.measure(protocol, stepping, (expected, gradient), steps, provenance);
        made.size.settle_s = settle_s;
        Ok((made, replay))
    }

    /// What the workload says of so many workers on the VMs of a group; their noise is not needed to train.
    fn replay(&self, part: &Part, workers: u32, batch: u32) -> Result<Replay, OutsideHull> {
        let asked = Configuration {
            vm: Arc::clone(&part.shape),
            workers,
            batch,
        };
        self.workload.replay(&asked, self.reach)
    }

    /// Mean compute seconds of one worker, where all wait for the slowest as `waited` says.
    ///
    /// A step that was measured at the barrier already holds the wait for the slowest worker, so
    /// one worker's mean is the measured compute time divided by the expected slowest of K: the
    /// expected step equals the measured one whatever the variation.
    fn worker_s(&self, replay: &Replay, waited: f64) -> f64 {
        match self.workload.steps.measured {
            StepMeasured::Barrier => replay.step.compute_s / waited,
            StepMeasured::Worker => replay.step.compute_s,
        }
    }

    /// Sets the batches of unlike workers as `batching` does, together `samples`; the seconds until they are set.
    fn balance(
        &self,
        batching: &Batching,
        present: &[(&Part, u32)],
        samples: f64,
        waited: f64,
        stepping: &mut Stepping,
    ) -> Result<f64, OutsideHull> {
        let parts: Vec<&Part> = (present.iter())
            .flat_map(|(part, own)| std::iter::repeat_n(*part, *own as usize))
            .collect();
        let workers = stepping.workers;
        let compute_s = |worker: usize, batch: f64| {
            let global = (batch * f64::from(workers)).round().max(1.0) as u32;
            let replay = self.replay(parts[worker], workers, global)?;
            Ok(self.worker_s(&replay, waited))
        };
        let balance = settle(batching, parts.len(), samples, compute_s)?;
        let times: Vec<f64> = (balance.batches.iter().enumerate())
            .map(|(worker, batch)| compute_s(worker, *batch))
            .collect::<Result<_, OutsideHull>>()?;
        unlike(stepping, times[0], times.iter().copied());
        let restart_s = self.workload.constants.restore_s.value;
        Ok(f64::from(balance.changes) * restart_s + balance.unbalanced_s)
    }

    /// Times of an update, and what it is worth.
    fn measure(
        &self,
        protocol: Protocol,
        stepping: Stepping,
        (bsp_step_s, gradient): (f64, f64),
        steps: f64,
        provenance: Provenance,
    ) -> Made {
        let pace = Pace::of(protocol, Fidelity::Fast, &stepping);
        let k = f64::from(stepping.workers);
        let fixed = protocol.gradients_per_update(stepping.workers);
        let (step_s, gradients, staleness) = match (protocol.expected_update_s(bsp_step_s), fixed) {
            // All that it sums up are as fresh as at a barrier.
            (Some(update_s), Some(each)) => {
                (update_s / (f64::from(each) / k), f64::from(each), 0.0)
            }
            _ => {
                let trial = trial(&protocol, &pace, &stepping);
                let each = trial.gradients;
                (trial.update_s * k / each, each, trial.staleness * gradient)
            }
        };
        let penalty = self.workload.staleness.or(self.setup.staleness);
        let factor = protocol.gradients_factor(staleness, penalty);
        Made {
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

/// A size in its own steps.
struct Made {
    size: Size,
    /// Steps of this size to the target, without staleness.
    steps: f64,
    /// Factor on them by staleness.
    factor: f64,
    provenance: Provenance,
}

impl Made {
    /// The size in steps of a cluster that needs `nominal` of them.
    fn relative_to(self, nominal: f64) -> Size {
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
    match workers == configuration.workers {
        true => configuration.batch,
        false => samples.round().max(1.0) as u32,
    }
}

/// The first VM of a layout, and the others.
fn without_first(mut layout: Layout) -> (Layout, Layout) {
    let Some((each, vms)) = layout.first_mut() else {
        return (Layout::new(), Layout::new());
    };
    let first = vec![(*each, 1)];
    *vms -= 1;
    layout.retain(|(_, vms)| *vms > 0);
    (first, layout)
}

fn index_of(vms: &mut Vec<RentedVm>, vm_type: &str, on_spot: Option<bool>) -> u16 {
    let is_it = |vm: &RentedVm| &*vm.name == vm_type && vm.on_spot == on_spot;
    let known = vms.iter().position(is_it);
    known.unwrap_or_else(|| {
        vms.push(RentedVm {
            name: vm_type.into(),
            on_spot,
        });
        vms.len() - 1
    }) as u16
}
