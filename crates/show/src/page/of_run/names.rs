//! Names of configurations in a list: parts that all of them share are left out.

use std::collections::BTreeSet;

use crate::figure::material::Cloud;
use crate::figure::place::Place;

/// The axis whose values need no name before them.
const MARKET: &str = "market";

pub(super) struct Names<'c> {
    /// The VM type that all configurations share, if there is one.
    pub(super) common_vm: Option<&'c str>,
    has_batches: bool,
    axes: BTreeSet<&'c str>,
}

/// The axes of a configuration other than VM, workers and batch, each with its value.
fn axes(place: &Place) -> impl Iterator<Item = (&str, &str)> {
    let all = place.other.iter().flat_map(|other| other.split(';'));
    all.map(|axis| axis.split_once('=').unwrap_or((axis, "")))
}

fn axis((name, value): (&str, &str)) -> String {
    match (name, value) {
        (MARKET, value) => value.to_owned(),
        (name, "") => name.to_owned(),
        (name, value) => format!("{} {value}", name.replace('_', " ")),
    }
}

/// All axes other than VM, workers and batch, in words.
pub(super) fn other_axes(other: &str) -> String {
    let all = other
        .split(';')
        .map(|own| axis(own.split_once('=').unwrap_or((own, ""))));
    all.collect::<Vec<_>>().join(", ")
}

impl<'c> Names<'c> {
    pub(super) fn from_clouds(clouds: &'c [Cloud]) -> Names<'c> {
        let places = || clouds.iter().flat_map(|cloud| &cloud.places);
        let vm = places().next().and_then(|place| place.vm.as_deref());
        let batch = places().next().and_then(|place| place.batch);
        let mut seen: Vec<(&str, &str)> = Vec::new();
        let mut told: BTreeSet<&str> = BTreeSet::new();
        for (name, value) in places().flat_map(axes) {
            match seen.iter().find(|(own, _)| *own == name) {
                Some((_, first)) if *first == value => {}
                Some(_) => drop(told.insert(name)),
                None => seen.push((name, value)),
            }
        }
        Names {
            common_vm: vm.filter(|vm| places().all(|place| place.vm.as_deref() == Some(vm))),
            has_batches: places().any(|place| place.batch != batch),
            axes: told,
        }
    }

    /// Name of a configuration: workers × batch, its VMs, and the axes that distinguish it from others.
    pub(super) fn text(&self, place: &Place) -> String {
        let mut text = match (place.workers, place.batch) {
            (Some(workers), Some(batch)) => format!("{workers} × {batch}"),
            (Some(workers), None) if self.common_vm.is_some() => workers.to_string(),
            (None, Some(batch)) if self.has_batches => format!("batch {batch}"),
            _ => String::new(),
        };
        let vms = place.held.as_ref().or(place.vm.as_ref());
        if let Some(vms) = vms.filter(|_| self.common_vm.is_none()) {
            text += if text.is_empty() { "" } else { " on " };
            text += vms;
        }
        for (name, value) in axes(place).filter(|(name, _)| self.axes.contains(name)) {
            text += if text.is_empty() { "" } else { ", " };
            text += &axis((name, value));
        }
        if text.is_empty() {
            return place.name(true);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_have_is_not_said() {
        let place = |vm: &str, batch, other: &str| Place {
            vm: Some(vm.to_owned()),
            batch: Some(batch),
            other: Some(other.to_owned()),
            ..Place::default()
        };
        let cloud = |places| Cloud {
            setting: String::new(),
            workload: String::new(),
            pricing: String::new(),
            is_all: true,
            places,
        };
        let two = [cloud(vec![
            place("a", 8, "market=spot;data=2;tensor=1"),
            place("b", 8, "market=on-demand;data=4;tensor=1"),
        ])];
        let names = Names::from_clouds(&two);
        let texts = [0, 1].map(|at| names.text(&two[0].places[at]));
        assert_eq!(texts, ["a, spot, data 2", "b, on-demand, data 4"]);
        // A single configuration has its full name.
        let one = [cloud(vec![place("a", 8, "data=2")])];
        let place = &one[0].places[0];
        assert_eq!(Names::from_clouds(&one).text(place), place.name(true));
    }
}
