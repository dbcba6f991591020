//! The configurations that a profile supports.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::machines::{Machine, Machines};
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

/// Every worker count and batch on each measured shape that measurements, or laws within bounds, support.
pub fn candidates(workload: &Workload, reach: &Reach) -> Vec<Configuration> {
    let epochs = workload.epochs.rows().iter().map(|row| row.batch);
    let global: BTreeSet<u32> = (workload.steps.points().map(|(c, _)| c.batch))
        .chain(epochs)
        .collect();
    let mut all = Vec::new();
    for shape in workload.steps.shapes() {
        let bounds = Bounds::for_shape(workload, shape);
        let own = || (workload.steps.points()).filter(|(c, _)| vm_type(&c.vm) == vm_type(shape));
        let local = || own().map(|(c, _)| c.local_batch());
        for workers in bounds.counts() {
            let scaled = local().map(|each| each * f64::from(workers));
            let scaled =
                scaled.filter(|batch| batch.fract() == 0.0 && *batch <= f64::from(u32::MAX));
            let batches: BTreeSet<u32> = (global.iter().copied())
                .chain(scaled.map(|batch| batch as u32))
                .collect();
            for batch in batches.into_iter().filter(|b| bounds.hold(workers, *b)) {
                let configuration = Configuration {
                    vm: Arc::clone(shape),
                    workers,
                    batch,
                };
                if workload.answers(&configuration, reach) {
                    all.push(configuration);
                }
            }
        }
    }
    all
}

struct MachineBounds {
    counts: BTreeSet<u32>,
    local: [f64; 2],
    shape: String,
}

impl MachineBounds {
    /// Full VMs with up to twice the workers that were measured on its counterpart, down to one VM; as many samples per
    /// worker as were measured there, and up to twice as many with more memory.
    fn for_machine(workload: &Workload, machine: &Machine) -> MachineBounds {
        let own = || (workload.steps.points()).filter(|(c, _)| vm_type(&c.vm) == machine.like);
        let local = || own().map(|(c, _)| c.local_batch());
        let most = own().map(|(c, _)| c.workers).max().unwrap_or(0);
        let each = machine.per_vm.max(1);
        let powers = (0..32).map(|n| each.saturating_mul(1 << n));
        let counts: BTreeSet<u32> = powers.chain(full_vms(each)).collect();
        let measured = own().map(|(c, _)| c.workers).filter(|k| k % each == 0);
        let suffix = match each {
            1 => String::new(),
            each => format!("/{each}"),
        };
        MachineBounds {
            counts: (counts
                .into_iter()
                .take_while(|k| *k <= most.saturating_mul(FURTHER)))
            .chain(measured)
            .collect(),
            local: [
                FEWER * local().fold(f64::INFINITY, f64::min),
                local().fold(0.0, f64::max) * machine.memory.min(f64::from(FURTHER)),
            ],
            shape: format!("{}{suffix}", machine.vm),
        }
    }
}

/// Every combination on unmeasured machines, as in [`candidates`].
pub fn on_machines(workload: &Workload, machines: &Machines, reach: &Reach) -> Vec<Configuration> {
    let epochs = workload.epochs.rows().iter().map(|row| row.batch);
    let global: BTreeSet<u32> = (workload.steps.points().map(|(c, _)| c.batch))
        .chain(epochs)
        .collect();
    let mut all = Vec::new();
    for machine in &machines.all {
        let bounds = MachineBounds::for_machine(workload, machine);
        let vm: Arc<str> = bounds.shape.into();
        let own = || (workload.steps.points()).filter(|(c, _)| vm_type(&c.vm) == machine.like);
        for &workers in &bounds.counts {
            let scaled = own().map(|(c, _)| c.local_batch() * f64::from(workers));
            let whole = scaled.filter(|b| b.fract() == 0.0 && *b <= f64::from(u32::MAX));
            let batches: BTreeSet<u32> = (global.iter().copied())
                .chain(whole.map(|batch| batch as u32))
                .collect();
            for batch in batches {
                let each = f64::from(batch) / f64::from(workers);
                let [least, most] = bounds.local;
                let configuration = Configuration {
                    vm: Arc::clone(&vm),
                    workers,
                    batch,
                };
                if batch >= workers
                    && each >= least * (1.0 - 1e-9)
                    && each <= most * (1.0 + 1e-9)
                    && workload.answers(&configuration, reach)
                {
                    all.push(configuration);
                }
            }
        }
    }
    all
}
