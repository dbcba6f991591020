//! The configurations that a profile supports.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::machines::Machines;
use scavsim_data::configuration::{Configuration, Shape, vm_type};
use scavsim_data::workload::{Reach, Workload};

/// Maximum workers, relative to the most measured ones: a law is a guess above that.
pub(crate) const FURTHER: u32 = 2;
/// Minimum samples of a worker, relative to the fewest measured ones. The maximum is the most measured ones, which fit into memory.
pub(crate) const FEWER: f64 = 0.5;

/// Every number of full VMs up to this is a candidate; above it, powers of two and measured numbers.
const EVERY_COUNT: u32 = 16;

/// Workers that fill 1 to [`EVERY_COUNT`] VMs.
fn full_vms(per_vm: u32) -> impl Iterator<Item = u32> {
    (1..=EVERY_COUNT).map(move |vms| per_vm.saturating_mul(vms))
}

/// The limits within which a profile predicts a VM shape.
#[derive(Debug, Clone)]
pub struct Bounds<'s> {
    shape: Option<Shape<'s>>,
    /// Maximum number of workers.
    most: u32,
    local: [f64; 2],
    measured: Vec<(u32, u32)>,
}

impl<'s> Bounds<'s> {
    pub fn for_shape(workload: &Workload, shape: &'s str) -> Bounds<'s> {
        let points = workload.steps.points_of(shape);
        // All shapes of a VM type are one machine.
        let of_type = || {
            let points = workload.steps.points().map(|(c, _)| c);
            points.filter(|c| vm_type(&c.vm) == vm_type(shape))
        };
        let local = || of_type().map(Configuration::local_batch);
        Bounds {
            shape: Shape::parse(shape).ok(),
            most: (of_type().map(|c| c.workers).max()).map_or(0, |k| k.saturating_mul(FURTHER)),
            local: [
                FEWER * local().fold(f64::INFINITY, f64::min),
                local().fold(0.0, f64::max),
            ],
            measured: points.iter().map(|(c, _)| (c.workers, c.batch)).collect(),
        }
    }

    pub fn hold(&self, workers: u32, batch: u32) -> bool {
        let is_measured = self.measured.contains(&(workers, batch));
        // Uneven placements exist only as they were measured.
        if is_measured || !self.shape.is_some_and(|shape| shape.is_even()) {
            return is_measured;
        }
        let each = f64::from(batch) / f64::from(workers.max(1));
        workers <= self.most
            && batch >= workers
            && each >= self.local[0] * (1.0 - 1e-9)
            && each <= self.local[1] * (1.0 + 1e-9)
            && self.fills(workers)
    }

    fn fills(&self, workers: u32) -> bool {
        let vms = self.shape.and_then(|shape| shape.vms(workers));
        let layout = self.shape.map(|shape| shape.layout(workers));
        let used = layout.map(|all| {
            all.iter()
                .filter(|(each, vms)| *each > 0 && *vms > 0)
                .count()
        });
        vms == Some(1) || used == Some(1)
    }

    /// Workers on a full VM.
    fn per_vm(&self) -> u32 {
        let layout = self.shape.map(|shape| shape.layout(u32::MAX));
        layout.map_or(1, |all| all.first().map_or(1, |(each, _)| *each))
    }

    /// The measured counts, every count on a single VM, powers of two, and counts that fill up to [`EVERY_COUNT`] VMs, within the maximum.
    fn counts(&self) -> BTreeSet<u32> {
        let per_vm = self.per_vm();
        let powers = (1..=per_vm.min(self.most)).chain((0..32).map(|n| 1u32 << n));
        let all = powers.chain(full_vms(per_vm));
        let measured = self.measured.iter().map(|(workers, _)| *workers);
        all.filter(|k| *k <= self.most).chain(measured).collect()
    }
}

/// Measured global batches, and those of `workers` workers with local batches measured on a VM type.
fn batches(workload: &Workload, vm: &str, workers: u32) -> BTreeSet<u32> {
    let measured = || workload.steps.points().map(|(c, _)| c);
    let own = measured().filter(|c| vm_type(&c.vm) == vm);
    let scaled = own.map(|c| c.local_batch() * f64::from(workers));
    let whole = scaled.filter(|b| b.fract() == 0.0 && *b <= f64::from(u32::MAX));
    let epochs = workload.epochs.rows().iter().map(|row| row.batch);
    let global = measured().map(|c| c.batch).chain(epochs);
    global.chain(whole.map(|batch| batch as u32)).collect()
}

/// Every worker count and batch on each measured shape that measurements, or laws within bounds, support.
pub fn candidates(workload: &Workload, reach: &Reach) -> Vec<Configuration> {
    let mut all = Vec::new();
    for shape in workload.steps.shapes() {
        let bounds = Bounds::for_shape(workload, shape);
        for workers in bounds.counts() {
            let batches = batches(workload, vm_type(shape), workers).into_iter();
            let held = batches.filter(|batch| bounds.hold(workers, *batch));
            let held = held.map(|batch| Configuration {
                vm: Arc::clone(shape),
                workers,
                batch,
            });
            all.extend(held.filter(|c| workload.answers(c, reach)));
        }
    }
    all
}

/// Every combination on unmeasured machines, as in [`candidates`]: full VMs with up to twice the workers that were measured on
/// its counterpart, down to one VM; as many samples per worker as were measured there, and up to twice as many with more memory.
pub fn on_machines(workload: &Workload, machines: &Machines, reach: &Reach) -> Vec<Configuration> {
    let mut all = Vec::new();
    for machine in &machines.all {
        let own = || (workload.steps.points()).filter(|(c, _)| vm_type(&c.vm) == machine.like);
        let local = || own().map(|(c, _)| c.local_batch());
        let least = FEWER * local().fold(f64::INFINITY, f64::min) * (1.0 - 1e-9);
        let memory = machine.memory.min(f64::from(FURTHER));
        let most = local().fold(0.0, f64::max) * memory * (1.0 + 1e-9);
        let workers = || own().map(|(c, _)| c.workers);
        let most_workers = workers().max().unwrap_or(0).saturating_mul(FURTHER);
        let each = machine.per_vm.max(1);
        let vm: Arc<str> = match each {
            1 => machine.vm.as_str().into(),
            each => format!("{}/{each}", machine.vm).into(),
        };
        let powers = (0..32).map(|n| each.saturating_mul(1 << n));
        let full = (powers.chain(full_vms(each))).filter(|k| *k <= most_workers);
        let measured = workers().filter(|k| k % each == 0);
        for workers in full.chain(measured).collect::<BTreeSet<u32>>() {
            let batches = batches(workload, &machine.like, workers).into_iter();
            let held = batches.filter(|batch| {
                let local = f64::from(*batch) / f64::from(workers);
                *batch >= workers && (least..=most).contains(&local)
            });
            let held = held.map(|batch| Configuration {
                vm: Arc::clone(&vm),
                workers,
                batch,
            });
            all.extend(held.filter(|c| workload.answers(c, reach)));
        }
    }
    all
}
