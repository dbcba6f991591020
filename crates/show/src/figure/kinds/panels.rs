//! The number of panels of a figure, and their size.

use super::super::material::Cloud;
use super::kind::Row;
use scavsim_base::text::words::first_of;

/// Maximum number of panels of one figure; others must be requested.
const MOST_PANELS: usize = 12;
pub(super) const COLUMNS: usize = 3;
pub(super) const SIZE: [f64; 2] = [330.0, 290.0];

/// The panels that fit into one figure, and a sentence about the others.
pub(super) fn room<T>(panels: Vec<T>) -> (Vec<T>, String) {
    let count = panels.len();
    let kept: Vec<T> = panels.into_iter().take(MOST_PANELS).collect();
    let sentence = first_of(
        MOST_PANELS,
        count,
        " workloads; `--workload` shows another.",
    );
    (kept, sentence)
}

/// Whether the VM types of the configurations differ.
pub(super) fn differs_by_vm(cloud: &Cloud) -> bool {
    let first = cloud.places.first().map(|place| &place.vm);
    cloud.places.iter().any(|place| Some(&place.vm) != first)
}

/// Marks this close together, in shares of both axes, hide each other.
const HIDES: f64 = 0.025;
/// Pixels by which a mark exceeds the one drawn over it, and the maximum number of such steps.
const RING: u8 = 2;
const MOST_RINGS: usize = 4;

/// Sizes of marks that are drawn in order: marks that later ones would hide are larger, and remain visible around them.
pub(super) fn nested_sizes(marks: &[[f64; 2]], least: u8) -> Vec<u8> {
    let span = |axis: usize| {
        let values = marks.iter().map(|mark| mark[axis]);
        let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
            [low.min(value), high.max(value)]
        });
        high - low
    };
    let spans = [span(0), span(1)];
    let hides = |a: &[f64; 2], b: &[f64; 2]| {
        (0..2).all(|axis| (a[axis] - b[axis]).abs() <= HIDES * spans[axis])
    };
    let rings = marks.iter().enumerate().map(|(at, mark)| {
        let later = marks[at + 1..].iter().filter(|later| hides(mark, later));
        later.count().min(MOST_RINGS) as u8
    });
    rings.map(|rings| least + RING * rings).collect()
}

/// A value is cut off above this multiple of the next largest one; and the space above that one.
const FAR: f64 = 3.0;
const ABOVE: f64 = 1.15;

/// The end of an axis, so that one far value does not hide the differences of the others; `None` if all fit.
pub(super) fn cut_above(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let gap = sorted
        .windows(2)
        .rposition(|pair| pair[0] > 0.0 && pair[1] > FAR * pair[0])?;
    // If most values would be cut off, the axis fits them instead.
    (2 * gap >= sorted.len()).then(|| ABOVE * sorted[gap])
}

/// Name of a strategy, with its value if that is cut off.
pub(super) fn name_of_cut(row: &Row<'_>, percent: f64, cut: Option<f64>) -> String {
    match cut {
        Some(cut) if percent > cut => format!("{} ↑ {percent:.0} %", row.group.strategy),
        _ => row.group.strategy.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_mark_is_larger_than_the_one_over_it() {
        let marks = [[0.0, 0.0], [10.0, 5.0], [0.1, 0.05], [0.0, 0.0]];
        assert_eq!(nested_sizes(&marks, 5), [9, 5, 7, 5]);
        // All in one place: each is visible, except the last of many, which have equal size.
        assert_eq!(nested_sizes(&[[1.0, 1.0]; 7], 5), [13, 13, 13, 11, 9, 7, 5]);
    }

    #[test]
    fn one_far_value_is_cut_and_a_spread_is_not() {
        assert_eq!(cut_above([1.0, 12.0, 3.0, 192.0]), Some(ABOVE * 12.0));
        assert_eq!(cut_above([1.0, 12.0, 30.0]), None);
        assert_eq!(cut_above([0.0, 0.0, 0.0, 5.0]), None);
        assert_eq!(cut_above([1.0, 100.0, 110.0, 120.0, 130.0]), None);
        assert_eq!(cut_above([-5.0, 0.0]), None);
        assert_eq!(cut_above([]), None);
    }
}
