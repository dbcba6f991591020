//! Choices in words, and the oracle's choice.

use std::borrow::Cow;

use super::places::Places;
use scavsim_base::text::words::{hours, usd};
use scavsim_data::configuration::Shape;
use scavsim_experiment::{Chosen, Group};
use scavsim_search::search::{CLAIRVOYANT, ORACLE, Objective};

/// Marks of choices that were not measured.
pub(super) const MARKS: [(&str, &str, &str); 2] = [
    ("interpolated", "(i)", "interpolated between measurements"),
    ("extrapolated", "(e)", "extrapolated by laws"),
];

/// Hours and USD of the oracle's choice in a block, if it has one.
pub(crate) fn oracle_figures(block: &[Group]) -> Option<(f64, f64)> {
    let mean = |metric| block.iter().find_map(|g| g.mean(metric)).map(|m| m.mean);
    mean("oracle_time_h").zip(mean("oracle_cost_usd"))
}

/// The oracle's choice in a block, with its VMs after `between` on request; `None` if each VM type is searched separately.
pub(super) fn oracle_place(
    block: &[Group],
    places: &Places,
    with_vm: bool,
    between: &str,
) -> Option<String> {
    let oracle = block[0].oracle.as_ref()?;
    let same = block.iter().find(|g| g.choice.as_ref() == Some(oracle));
    let provenance = same.and_then(|g| g.provenance.as_deref());
    let told = place(&shown(oracle, with_vm), places, between);
    Some(marked(told, provenance))
}

pub(super) fn oracle(block: &[Group], places: &Places, with_vm: bool) -> Option<String> {
    let (time, cost) = oracle_figures(block)?;
    let (time, cost) = (hours(time), usd(cost));
    Some(match oracle_place(block, places, with_vm, " on ") {
        Some(oracle) => format!("{oracle} ({time}, {cost})"),
        None => format!("{time}, {cost} in the mean, each VM type by itself"),
    })
}

/// A choice as it is shown: without its VMs if the title names them.
pub(super) fn shown(chosen: &Chosen, with_vm: bool) -> Cow<'_, Chosen> {
    if with_vm {
        return Cow::Borrowed(chosen);
    }
    Cow::Owned(Chosen {
        vm: None,
        ..chosen.clone()
    })
}

/// The VM type that all choices share, and the workers on each: the number of VMs follows, and the title names the type once.
pub(super) fn shared_vm<'c>(
    choices: impl Iterator<Item = &'c Chosen>,
    places: &Places,
) -> Option<&'c str> {
    let mut shared: Option<&str> = None;
    for chosen in choices {
        let (vm, workers) = (chosen.vm.as_deref()?, chosen.workers?);
        // If each type is searched separately, the choice of several types is one entry.
        if vm.is_empty() {
            return None;
        }
        let vms = Shape::parse(vm).ok()?.vms(workers)?;
        let is_plain = places.vms_label(vm, Some(workers)) == format!("{vms} {vm}");
        if !is_plain || shared.is_some_and(|other| other != vm) {
            return None;
        }
        shared = Some(vm);
    }
    shared
}

pub(super) fn all_on(vm: &str) -> String {
    match vm.split_once('/') {
        None => format!("all on {vm}, one worker on each"),
        Some((name, each)) => format!("all on {name}, {each} workers on each"),
    }
}

/// Whether a strategy knows earlier runs.
pub fn builds_on_runs(group: &Group) -> bool {
    (group.mean("known_time_h")).is_some_and(|known| known.mean > 0.0)
}

pub fn is_all_knowing(group: &Group) -> bool {
    [ORACLE, CLAIRVOYANT].contains(&group.strategy.as_str())
}

pub fn objective(group: &Group) -> Option<Objective> {
    Objective::named(&group.objective)
}

/// A configuration in words: workers × batch, `between`, its VMs.
pub fn place(chosen: &Chosen, places: &Places, between: &str) -> String {
    let (workers, batch) = (chosen.workers, chosen.batch);
    let counts: Vec<String> = [workers, batch]
        .iter()
        .flatten()
        .map(u32::to_string)
        .collect();
    let mut text = counts.join(" × ");
    if let Some(vm) = chosen.vm.as_deref().filter(|vm| !vm.is_empty()) {
        text.push_str(if text.is_empty() { "" } else { between });
        text.push_str(&places.vms_label(vm, workers));
    }
    if let Some(other) = &chosen.other {
        let comma = if text.is_empty() { "" } else { ", " };
        text.push_str(&format!("{comma}{}", other.replace(';', ", ")));
    }
    text
}

pub(super) fn marked(place: String, provenance: Option<&str>) -> String {
    match MARKS.iter().find(|(word, ..)| Some(*word) == provenance) {
        Some((_, mark, _)) => format!("{place} {mark}"),
        None => place,
    }
}
