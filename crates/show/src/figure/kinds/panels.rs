//! How many panels a figure has, and how large they are.

use super::super::material::Cloud;

/// Panels of one figure; what is beyond has to be asked for.
const MOST_PANELS: usize = 12;
pub(super) const COLUMNS: usize = 3;
pub(super) const SIZE: [f64; 2] = [330.0, 290.0];

/// Panels that one figure has room for, and a sentence on the others.
pub(super) fn room<T>(panels: Vec<T>) -> (Vec<T>, String) {
    let count = panels.len();
    let kept: Vec<T> = panels.into_iter().take(MOST_PANELS).collect();
    let sentence = if count > MOST_PANELS {
        format!(" The first {MOST_PANELS} of {count} workloads; `--workload` shows another.")
    } else {
        String::new()
    };
    (kept, sentence)
}

/// Configurations of one kind, with whether their VM types differ.
pub(super) fn differs_by_vm(cloud: &Cloud) -> bool {
    let first = cloud.places.first().map(|place| &place.vm);
    cloud.places.iter().any(|place| Some(&place.vm) != first)
}
