//! VM types of a measured grid: from the scenario, the grid, or the catalogue.

use std::sync::Arc;

use crate::complaints::Complaints;
use crate::file::{ScenarioFile, VmTable};
use crate::scale_axis::ScaleAxis;
use scavsim_grids::types::{not_whole, run_on};
use scavsim_grids::{Job, StatedType};

/// The scenario's types, before those of the grid.
pub(super) fn types(
    file: &ScenarioFile,
    mut of_grid: Vec<StatedType>,
    jobs: &[Arc<Job>],
    complaints: &mut Complaints<'_>,
) -> Vec<StatedType> {
    let run = run_on(jobs.iter().map(|job| &**job));
    for (name, table) in &file.vm {
        let word = name.get_ref().as_str();
        if !run.contains(word) && !jobs.is_empty() {
            let legal: Vec<&str> = run.iter().copied().collect();
            let title = format!("no run of this grid was on a VM `{word}`");
            complaints.unknown(title, name, &legal, "list grids");
            continue;
        }
        if let Some(key) = unread(table) {
            let title = format!("`vm.{word}`: `{key}` says nothing of a measured grid");
            let help = "`vcpu`, `memory_gib` and `gpus` say what its VMs have";
            complaints.refuse(name.span(), title, "was measured as it is", help);
        }
        let memory = table.memory_gib.as_ref().map(|axis| &axis.get_ref().0[..]);
        let memory_gib = match memory {
            None => None,
            Some([one]) if *one > 0.0 && one.is_finite() => Some(*one),
            Some(_) => {
                let title = format!("`vm.{word}`: its VMs have one `memory_gib`, above 0");
                complaints.error_at(name.span(), title, "not possible");
                continue;
            }
        };
        let place = of_grid.iter().position(|stated| &*stated.vm == word);
        let place = place.unwrap_or_else(|| {
            of_grid.push(StatedType {
                vm: word.into(),
                vcpu: None,
                memory_gib: None,
                gpus: None,
            });
            of_grid.len() - 1
        });
        let stated = &mut of_grid[place];
        stated.vcpu = table.vcpu.map(|v| v.get()).or(stated.vcpu);
        stated.memory_gib = memory_gib.or(stated.memory_gib);
        stated.gpus = table.gpus.or(stated.gpus);
        if let Some(help) = not_whole(stated) {
            let title = format!("what a VM of the type `{word}` has is not known");
            complaints.refuse(name.span(), title, "not in the catalogue", help);
        }
    }
    of_grid
}

/// A key without effect on measured VMs.
fn unread(table: &VmTable) -> Option<&'static str> {
    let is = |axis: &Option<ScaleAxis>| axis.is_some();
    let keys = [
        ("like", table.like.is_some()),
        ("compute_scale", is(&table.compute_scale)),
        ("network_scale", is(&table.network_scale)),
        ("size", table.size.is_some()),
        ("knee", table.knee.is_some()),
        ("usd_per_hour", is(&table.usd_per_hour)),
    ];
    keys.into_iter().find(|(_, is)| *is).map(|(key, _)| key)
}
