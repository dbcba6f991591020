//! What the measurements support, and within which limits.

use std::collections::{BTreeMap, BTreeSet};

use super::machines::{Basis, Machine};
use super::repeats::Repeats;
use scavsim_base::stats::{self, normal};
use scavsim_base::text::words::{figure, plural};
use scavsim_data::configuration::{Configuration, Shape, vm_type};
use scavsim_data::workload::{Provenance, Workload};

pub(super) struct PredictionSource<'m> {
    pub(super) provenance: Provenance,
    /// The machine, if it was not measured.
    pub(super) machine: Option<&'m Machine>,
    pub(super) sd: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OnMachines {
    pub basis: Basis,
    pub types: usize,
    pub configurations: usize,
    /// ± that contains 90 % of them, typically.
    pub within: f64,
}

/// Steps with as many samples on each of as many workers per VM: more VMs did not increase the throughput.
#[derive(Debug, Clone, PartialEq)]
pub struct NoGain {
    pub vm_type: String,
    /// VMs and seconds per step: the fewest, and the most.
    pub few: (u32, f64),
    pub many: (u32, f64),
}

impl NoGain {
    pub(super) fn sentence(&self) -> String {
        let NoGain { few, many, .. } = self;
        format!(
            "more VMs did not help here: {} s on {}, {} s on {}",
            figure(few.1),
            plural(u64::from(few.0), "VM"),
            figure(many.1),
            many.0
        )
    }

    /// Whether a configuration has more VMs of the type than were measured.
    pub(super) fn is_further(&self, c: &Configuration) -> bool {
        let vms = Shape::parse(&c.vm).ok().and_then(|s| s.vms(c.workers));
        vm_type(&c.vm) == self.vm_type && vms > Some(self.many.0)
    }
}

/// Minimum ratio of throughputs that is a gain.
const GAIN: f64 = 1.02;
/// A law is poor above this error on held-out measurements.
const POOR: f64 = 0.2;

/// VMs, and seconds of a step on them.
type OnVms = (u32, f64);

/// For each VM type, steps on the fewest and the most VMs, if no number of them was ever faster than the fewest.
pub fn no_gain(workload: &Workload) -> Vec<NoGain> {
    let mut groups: BTreeMap<(&str, u32, u32), Vec<OnVms>> = BTreeMap::new();
    for (c, cost) in workload.steps.points() {
        let vms = Shape::parse(&c.vm).ok().and_then(|s| s.vms(c.workers));
        if let Some(vms) = vms.filter(|vms| c.workers.is_multiple_of(*vms) && *vms > 0) {
            let key = (
                vm_type(&c.vm),
                c.workers / vms,
                c.local_batch().round() as u32,
            );
            groups.entry(key).or_default().push((vms, cost.total_s()));
        }
    }
    let mut found: BTreeMap<&str, Option<NoGain>> = BTreeMap::new();
    for ((vm_type, ..), mut steps) in groups {
        steps.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (Some(&few), Some(&many)) = (steps.first(), steps.last()) else {
            continue;
        };
        if many.0 == few.0 {
            continue;
        }
        let rate = |(vms, step_s): (u32, f64)| f64::from(vms) / step_s;
        let gains = steps.iter().any(|at| rate(*at) > GAIN * rate(few));
        let own = (!gains).then(|| NoGain {
            vm_type: vm_type.to_owned(),
            few,
            many,
        });
        // A gain anywhere counts; among several without, the one on most VMs.
        found
            .entry(vm_type)
            .and_modify(|known| {
                *known = match (known.take(), own.clone()) {
                    (Some(a), Some(b)) => Some(if b.many.0 > a.many.0 { b } else { a }),
                    _ => None,
                }
            })
            .or_insert(own);
    }
    found.into_values().flatten().collect()
}

#[derive(Debug, Clone)]
pub struct MeasurementSummary {
    pub measured: usize,
    /// By provenance: the number of predicted configurations, and the ± that contains 90 % of them, typically.
    pub told: Vec<(Provenance, usize, f64)>,
    /// The numbers and ± on unmeasured machines.
    pub machines: Vec<OnMachines>,
    pub batches: Vec<u32>,
    /// Epochs that the user gave for all batches.
    pub stated_epochs: Option<f64>,
    pub epoch_law: bool,
    pub without_law: Vec<String>,
    pub on_one_vm: Vec<String>,
    pub no_gain: Vec<NoGain>,
    /// VM types whose law has a large error on held-out measurements, and this error.
    pub poor_laws: Vec<(String, f64)>,
    /// Most samples of a worker that were measured, per VM type.
    pub largest_local: BTreeMap<String, f64>,
    pub workers: (u32, u32),
    pub repeats: Repeats,
}

/// The summary of a workload, with the errors of each candidate configuration.
pub(super) fn known(
    workload: &Workload,
    repeats: Repeats,
    stated_epochs: Option<f64>,
    all: &[PredictionSource<'_>],
    configurations: &[Configuration],
    no_gain: Vec<NoGain>,
) -> MeasurementSummary {
    let mut largest_local: BTreeMap<String, f64> = BTreeMap::new();
    for (c, _) in workload.steps.points() {
        let largest = largest_local
            .entry(vm_type(&c.vm).to_owned())
            .or_insert(0.0);
        *largest = largest.max(c.local_batch());
    }
    let by = [
        Provenance::Measured,
        Provenance::Interpolated,
        Provenance::Extrapolated,
    ];
    let told = by.into_iter().filter_map(|provenance| {
        // A configuration in several markets counts once.
        let mut seen: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
        let own = (all.iter().zip(configurations))
            .filter(|(told, _)| told.provenance == provenance && told.machine.is_none())
            .filter(|(_, c)| seen.insert((&c.vm, c.workers, c.batch)));
        let (count, within) = typical(own.map(|(told, _)| told.sd))?;
        Some((provenance, count, within))
    });
    // Some worker shares its VM with another, and no measurement of the type has several VMs.
    let on_one_vm = |vm: &&str| {
        let own = || {
            workload
                .steps
                .points()
                .filter(|(c, _)| vm_type(&c.vm) == *vm)
        };
        let vms = |c: &Configuration| Shape::parse(&c.vm).ok().and_then(|s| s.vms(c.workers));
        own().any(|(c, _)| c.workers > 1) && own().all(|(c, _)| vms(c) == Some(1))
    };
    let types: BTreeSet<&str> = workload.steps.shapes().map(|s| vm_type(s)).collect();
    let on_one_vm = types.into_iter().filter(on_one_vm);
    let without_law = (workload.steps.shapes())
        .filter(|shape| !workload.laws.pooled.contains_key(vm_type(shape)))
        .filter(|shape| !workload.laws.steps.contains_key(&***shape))
        .map(|shape| shape.to_string());
    let workers = || workload.steps.points().map(|(c, _)| c.workers);
    let measured = (workload.epochs.rows().iter()).map(|row| row.batch);
    let mut batches: Vec<u32> = measured.filter(|_| stated_epochs.is_none()).collect();
    batches.sort_unstable();
    batches.dedup();
    MeasurementSummary {
        measured: workload.steps.points().count(),
        told: told.collect(),
        machines: on_machines(all, configurations),
        batches,
        stated_epochs,
        epoch_law: workload.laws.epochs.is_some(),
        without_law: without_law.collect(),
        on_one_vm: on_one_vm.map(str::to_owned).collect(),
        no_gain,
        poor_laws: (workload.laws.pooled.iter())
            .filter(|(_, law)| law.left_out > POOR)
            .map(|(vm, law)| (vm.clone(), law.left_out))
            .collect(),
        largest_local,
        workers: (workers().min().unwrap_or(0), workers().max().unwrap_or(0)),
        repeats,
    }
}

/// The number of values, and the ± that contains 90 % of the middle one.
fn typical(sds: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    let mut all: Vec<f64> = sds.collect();
    let middle = stats::median(&mut all)?;
    Some((all.len(), libm::exp(normal::AT_95 * middle) - 1.0))
}

/// Predictions on unmeasured machines, by what they have in common with measured ones.
fn on_machines(all: &[PredictionSource<'_>], configurations: &[Configuration]) -> Vec<OnMachines> {
    let bases = [Basis::SameGpu, Basis::OtherGpu, Basis::SameFamily];
    let of_basis = bases.into_iter().filter_map(|basis| {
        let mut seen: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
        let mut types: BTreeSet<&str> = BTreeSet::new();
        let own = (all.iter().zip(configurations)).filter_map(|(told, c)| {
            let machine = told.machine.filter(|machine| machine.basis == basis)?;
            types.insert(&machine.vm);
            let is_first = seen.insert((&c.vm, c.workers, c.batch));
            is_first.then_some(told.sd)
        });
        let (configurations, within) = typical(own)?;
        Some(OnMachines {
            basis,
            types: types.len(),
            configurations,
            within,
        })
    });
    of_basis.collect()
}
