//! VM types of the scenario that were not measured.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::complaints::Complaints;
use super::file::{ScenarioFile, VmTable};
use super::scale_axis::ScaleAxis;
use scavsim_clusters::SearchGrouping;
use scavsim_clusters::machine::Machine;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::{Reach, SubstituteVm, Workload};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::range::digits;
use scavsim_read::input::{Spanned, listed};

/// The part after a slash is the number of workers on each VM.
pub(super) const NO_SLASH: &str = "this name has no `/`";

const MOST_TYPES: usize = 200_000;
const MOST_IN_ONE_SEARCH: usize = 60_000;

/// VM types of the scenario: all combinations of each table's values.
pub(super) fn read(
    file: &ScenarioFile,
    workloads: &[Option<Workload>],
    complaints: &mut Complaints<'_>,
) -> Vec<Machine> {
    let measured: BTreeSet<&str> = (workloads.iter().flatten())
        .flat_map(|w| w.steps.shapes())
        .filter_map(|shape| Some(Shape::parse(shape).ok()?.vm_type))
        .collect();
    // Without any workload every name would seem unknown.
    let all_read = workloads.iter().all(Option::is_some);
    let mut machines = Vec::new();
    let most = match file.cluster.search {
        SearchGrouping::All => MOST_IN_ONE_SEARCH,
        SearchGrouping::EachVm => MOST_TYPES,
    };
    for (name, table) in &file.vm {
        let word = name.get_ref();
        if let Some(why) = not_a_name(word).or(word.contains('/').then_some(NO_SLASH)) {
            complaints.error_at(name.span(), "this cannot be the name of a VM type", why);
        }
        if measured.contains(word.as_str()) {
            let title = format!("`{word}` was measured");
            complaints.error_at(name.span(), title, "give the VM type another name");
        }
        let Some(asked) = &table.like else {
            let title = format!("`vm.{word}` does not say which measured VM type it is like");
            let help = format!("measured here: {}", listed(measured.iter().copied()));
            complaints.refuse(name.span(), title, "missing key `like`", help);
            continue;
        };
        let like = asked.get_ref();
        if all_read && !measured.contains(like.as_str()) {
            let legal: Vec<&str> = measured.iter().copied().collect();
            let title = format!("`{like}` was not measured on any workload here");
            complaints.unknown(title, asked, &legal, "list vms");
        }
        possible(name, table, complaints);
        let has_law = |w: &Workload| {
            (w.laws.steps.get(like.as_str())).is_some_and(|l| l.compute.sized().is_some())
        };
        for (key, place) in [("size", &table.size), ("knee", &table.knee)] {
            if let Some(place) = place
                && let Some(without) = workloads.iter().flatten().find(|w| !has_law(w))
            {
                let title = format!(
                    "`{key}`: no law of `{}` says how the time on `{like}` goes with it",
                    without.name
                );
                let help = "give `[laws.steps.TYPE]` with `compute.worker` in its workload.toml; or `compute_scale` here";
                complaints.refuse(place.span(), title, "means nothing here", help);
            }
        }
        match combinations(table, word, like) {
            Some(all) if machines.len() + all.len() <= most => machines.extend(all),
            _ => {
                let title = format!("`vm.{word}` makes more than {most} VM types");
                complaints.error_at(name.span(), title, "too many combinations");
            }
        }
    }
    machines
}

/// Maximum ratio of the speeds of a VM type and its measured one.
const MOST_SCALE: f64 = 1000.0;
const MOST_MEMORY_GIB: f64 = 1e6;
/// Highest price in USD of a VM and hour.
const MOST_USD: f64 = 1e6;

fn possible(name: &Spanned<String>, table: &VmTable, complaints: &mut Complaints<'_>) {
    let scales = 1.0 / MOST_SCALE..=MOST_SCALE;
    let axes = [
        ("compute_scale", &table.compute_scale, scales.clone()),
        ("network_scale", &table.network_scale, scales),
        ("usd_per_hour", &table.usd_per_hour, 0.0..=MOST_USD),
    ];
    let memory = table.memory_gib.as_ref().map(Spanned::get_ref);
    let memory = ("memory_gib", memory, 1e-3..=MOST_MEMORY_GIB);
    let axes = axes
        .into_iter()
        .map(|(key, axis, range)| (key, axis.as_ref(), range));
    for (key, axis, range) in axes.chain([memory]) {
        let mut values = axis.iter().flat_map(|axis| &axis.0);
        if let Some(value) = values.find(|value| !range.contains(value)) {
            let title = format!(
                "`vm.{}`: no machine has a `{key}` of {value}",
                name.get_ref()
            );
            let legal = format!("`{key}` is from {} to {}", range.start(), range.end());
            complaints.refuse(name.span(), title, "not possible", legal);
        }
    }
}

/// One machine per combination of values, with distinct names.
fn combinations(table: &VmTable, name: &str, like: &str) -> Option<Vec<Machine>> {
    let one = [1.0];
    let values = |axis: &Option<ScaleAxis>| axis.as_ref().map(|a| a.0.clone());
    let scale = |axis: &Option<ScaleAxis>| values(axis).unwrap_or_else(|| one.to_vec());
    let maybe = |axis: Option<Vec<f64>>| -> Vec<Option<f64>> {
        axis.map_or(vec![None], |all| all.into_iter().map(Some).collect())
    };
    let computes = scale(&table.compute_scale);
    let networks = scale(&table.network_scale);
    let memories = maybe(table.memory_gib.as_ref().map(|m| m.get_ref().0.clone()));
    let prices = maybe(values(&table.usd_per_hour));
    let count = [computes.len(), networks.len(), memories.len(), prices.len()]
        .into_iter()
        .try_fold(1usize, usize::checked_mul)?;
    if count > MOST_TYPES {
        return None;
    }
    let mut all = Vec::with_capacity(count);
    for &compute_scale in &computes {
        for &network_scale in &networks {
            for &memory_gib in &memories {
                for &usd_per_hour in &prices {
                    let mut vm = name.to_owned();
                    let parts = [
                        ("compute", computes.len(), Some(compute_scale)),
                        ("network", networks.len(), Some(network_scale)),
                        ("GiB", memories.len(), memory_gib),
                        ("USD", prices.len(), usd_per_hour),
                    ];
                    for (what, several, value) in parts {
                        if let (2.., Some(value)) = (several, value) {
                            vm.push_str(&format!(" {what} {}", digits(value)));
                        }
                    }
                    all.push(Machine {
                        stand_in: SubstituteVm {
                            vm: Arc::from(vm),
                            like: like.into(),
                            compute_scale,
                            network_scale,
                            link_scale: None,
                            size: table.size.as_ref().map(|s| s.get_ref().get()),
                            knee: table.knee.as_ref().map(|k| k.get_ref().get()),
                            is_same: false,
                        },
                        table: name.to_owned(),
                        memory_gib,
                        vcpu: table.vcpu.map(|v| v.get()),
                        gpus: table.gpus,
                        usd_per_hour,
                    });
                }
            }
        }
    }
    Some(all)
}

pub(super) fn reach(machines: &[Machine], extrapolate: bool) -> Reach {
    Reach {
        extrapolate,
        stand_ins: (machines.iter())
            .map(|m| (Arc::clone(&m.stand_in.vm), m.stand_in.clone()))
            .collect(),
    }
}

pub(super) fn tables(file: &ScenarioFile) -> HashMap<&str, &VmTable> {
    let tables = file.vm.iter();
    tables
        .map(|(name, table)| (name.get_ref().as_str(), table))
        .collect()
}

/// Machines by name: their own, or their table's.
pub(super) struct MachinesByName<'m>(HashMap<&'m str, Vec<&'m Machine>>);

impl<'m> MachinesByName<'m> {
    pub(super) fn new(machines: &'m [Machine]) -> Self {
        let mut named: HashMap<&str, Vec<&Machine>> = HashMap::new();
        for machine in machines {
            let own: &str = &machine.stand_in.vm;
            named.entry(own).or_default().push(machine);
            if own != machine.table {
                named.entry(&machine.table).or_default().push(machine);
            }
        }
        MachinesByName(named)
    }

    pub(super) fn machines_named(&self, name: &str) -> &[&'m Machine] {
        self.0.get(name).map_or(&[], |machines| machines)
    }
}

/// Whether the local batch fits into memory; a mistake if the workload does not know.
pub(super) fn fits(
    machine: &Machine,
    workload: &Workload,
    table: &VmTable,
    configuration: &Configuration,
    complaints: &mut Complaints<'_>,
) -> bool {
    let (Some(memory_gib), Some(asked)) = (machine.memory_gib, &table.memory_gib) else {
        return true;
    };
    match machine.largest_local_batch(workload, memory_gib, configuration) {
        Some(most) => configuration.local_batch() <= most * (1.0 + 1e-12),
        None => {
            if !complaints.is_reported(&asked.span()) {
                let title = format!("nothing is known about the memory of `{}`", workload.name);
                let help = "give `worker_memory_gib`, or `sample_memory_gib`, in its workload.toml";
                complaints.refuse(asked.span(), title, "cannot be checked", help);
            }
            true
        }
    }
}
