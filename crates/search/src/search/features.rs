//! Configurations as points, so that a model can say which are alike.

use super::Prices;
use scavsim_data::space::{Axis, AxisKind, Space};

/// Coordinates of all configurations, by rows: each axis from 0 to 1, so that its ends are one apart.
///
/// Numbers above zero go by their logarithm, others as they are; ordered names by their rank; other names are one apart
/// from each other. Where prices are told, VM types are also as far apart as the logarithms of what an hour costs, which
/// is all that is known of what they are.
#[derive(Debug, Clone)]
pub(super) struct Features {
    width: usize,
    values: Vec<f64>,
}

impl Features {
    /// The features of all configurations of a space.
    pub(super) fn of(space: &Space, prices: Option<&dyn Prices>) -> Features {
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for (place, axis) in space.axes().iter().enumerate() {
            let values: Vec<f64> = (0..space.len()).map(|at| space.value(at, place)).collect();
            match &axis.kind {
                AxisKind::Categorical { levels } => columns.extend(apart(&values, levels.len())),
                AxisKind::Ordinal { .. } => columns.extend(scaled(values)),
                AxisKind::Numeric { .. } => columns.extend(scaled(logarithms(values))),
            }
        }
        let has_types = |axis: &Axis| matches!(axis.kind, AxisKind::Categorical { .. });
        if let Some(prices) = prices
            && space.axes().iter().any(has_types)
        {
            let hour = |at: usize| prices.usd_per_hour(at).filter(|usd| *usd > 0.0);
            let each = |at: usize| {
                let workers = space.workers(at).map_or(1.0, f64::from);
                Some(libm::log(hour(at)? / workers))
            };
            let known: Option<Vec<f64>> = (0..space.len()).map(each).collect();
            columns.extend(known.and_then(scaled));
        }
        let width = columns.len();
        let mut values = Vec::with_capacity(width * space.len());
        for at in 0..space.len() {
            values.extend(columns.iter().map(|column| column[at]));
        }
        Features { width, values }
    }

    /// Coordinates of a configuration.
    pub(super) fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.width..(at + 1) * self.width]
    }

    /// Number of coordinates.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The square of how far two configurations are from each other.
    pub(super) fn square(&self, a: usize, b: usize) -> f64 {
        let pairs = self.row(a).iter().zip(self.row(b));
        pairs.map(|(a, b)| (a - b) * (a - b)).sum()
    }
}

/// A column per level, so that two levels are 1 apart.
fn apart(values: &[f64], levels: usize) -> Vec<Vec<f64>> {
    let side = 0.5_f64.sqrt();
    let column = |level: usize| {
        let is_it = |value: &f64| if *value == level as f64 { side } else { 0.0 };
        values.iter().map(is_it).collect()
    };
    if values.iter().any(|value| *value != values[0]) {
        (0..levels).map(column).collect()
    } else {
        Vec::new()
    }
}

fn logarithms(values: Vec<f64>) -> Vec<f64> {
    if values.iter().all(|value| *value > 0.0) {
        values.into_iter().map(libm::log).collect()
    } else {
        values
    }
}

/// From 0 to 1; `None` where all are equal.
fn scaled(values: Vec<f64>) -> Option<Vec<f64>> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = most - least;
    (range > 0.0).then(|| values.iter().map(|value| (value - least) / range).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_an_axis_and_different_names_are_one_apart() {
        let axes = vec![
            Axis::categorical("vm", ["a".into(), "b".into(), "c".into()]),
            Axis::numeric("workers", "workers"),
            Axis::ordinal("disk", ["hdd".into(), "ssd".into()]),
            Axis::numeric("always", "1"),
        ];
        let rows = [
            [0.0, 2.0, 0.0, 7.0],
            [1.0, 2.0, 0.0, 7.0],
            [2.0, 8.0, 1.0, 7.0],
            [0.0, 4.0, 0.0, 7.0],
        ];
        let space = Space::new(axes, rows).expect("a space");
        let features = Features::of(&space, None);
        assert!((features.square(0, 1) - 1.0).abs() < 1e-12);
        assert!((features.square(1, 2) - 3.0).abs() < 1e-12);
        assert!((features.square(0, 3) - 0.25).abs() < 1e-12);
        assert_eq!(features.width(), 5);
    }
}
