//! Choices in words, and what the oracle's is.

use super::places::Places;
use scavsim_base::text::words::{hours, usd};
use scavsim_lab::experiment::{Chosen, Group};
use scavsim_search::search::{CLAIRVOYANT, ORACLE, Objective};

/// Marks of choices that were not measured.
pub(super) const MARKS: [(&str, &str, &str); 2] = [
    ("interpolated", "(i)", "interpolated between measurements"),
    ("extrapolated", "(e)", "extrapolated by laws"),
];

/// The oracle's choice in a block, with its time and cost.
pub(super) fn oracle(block: &[Group], places: &Places) -> Option<String> {
    let first = &block[0];
    let mean = |metric| block.iter().find_map(|g| g.mean(metric)).map(|m| m.mean);
    let (time, cost) = mean("oracle_time_h").zip(mean("oracle_cost_usd"))?;
    let (time, cost) = (hours(time), usd(cost));
    Some(match &first.oracle {
        Some(oracle) => {
            let same = block.iter().find(|g| g.choice.as_ref() == Some(oracle));
            let provenance = same.and_then(|g| g.provenance.as_deref());
            let oracle = marked(place(oracle, places, " on "), provenance);
            format!("{oracle} ({time}, {cost})")
        }
        None => format!("{time}, {cost} in the mean, each VM type by itself"),
    })
}

/// Whether it is told the truth.
pub fn is_all_knowing(group: &Group) -> bool {
    [ORACLE, CLAIRVOYANT].contains(&group.strategy.as_str())
}

/// What a block is about, as an objective.
pub fn objective(group: &Group) -> Option<Objective> {
    [Objective::Time, Objective::Cost, Objective::Knee]
        .into_iter()
        .find(|objective| objective.name() == group.objective)
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
        text.push_str(&places.held(vm, workers));
    }
    if let Some(other) = &chosen.other {
        let comma = if text.is_empty() { "" } else { ", " };
        text.push_str(&format!("{comma}{}", other.replace(';', ", ")));
    }
    text
}

/// With a mark where it was not measured.
pub(super) fn marked(place: String, provenance: Option<&str>) -> String {
    match MARKS.iter().find(|(word, ..)| Some(*word) == provenance) {
        Some((_, mark, _)) => format!("{place} {mark}"),
        None => place,
    }
}
