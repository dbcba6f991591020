//! Configurations as points, so that a model can say which are alike.

use super::machines::machines;
use super::{Prices, Task};
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
    /// The features of all configurations, with the cores of their machines and memory per core, where known.
    pub(super) fn with_machines(task: &Task<'_>) -> Features {
        let machines = machines(task).unwrap_or_default();
        let logs = |of: &dyn Fn(f64, f64) -> f64| {
            let values = machines.iter().map(|m| of(m.vcpu, m.memory_gib));
            scaled(logarithms(values.collect()))
        };
        let columns = [logs(&|cores, _| cores), logs(&|cores, gib| gib / cores)];
        Features::and(task.space, task.prices, columns.into_iter().flatten())
    }

    pub(super) fn for_space(space: &Space, prices: Option<&dyn Prices>) -> Features {
        Features::and(space, prices, [])
    }

    fn and(
        space: &Space,
        prices: Option<&dyn Prices>,
        more: impl IntoIterator<Item = Vec<f64>>,
    ) -> Features {
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
        columns.extend(more);
        let width = columns.len();
        let mut values = Vec::with_capacity(width * space.len());
        for at in 0..space.len() {
            values.extend(columns.iter().map(|column| column[at]));
        }
        Features { width, values }
    }

    pub(super) fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.width..(at + 1) * self.width]
    }

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
    use scavsim_data::cloud::Fleet;

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
        let features = Features::for_space(&space, None);
        assert!((features.square(0, 1) - 1.0).abs() < 1e-12);
        assert!((features.square(1, 2) - 3.0).abs() < 1e-12);
        assert!((features.square(0, 3) - 0.25).abs() < 1e-12);
        assert_eq!(features.width(), 5);
    }

    /// Of three machines with 2, 4 and 8 cores the middle one is half an axis from both; where none is known there is no axis.
    #[test]
    fn cores_and_memory_are_axes_where_any_are_known() {
        let machine = |name| Fleet::listed().machine(name);
        let axes = vec![Axis::numeric("x", "1")];
        let space = Space::new(axes, [[1.0], [1.0], [1.0]]).expect("a space");
        let machines = ["m4.large", "m4.xlarge", "m4.2xlarge"].map(machine);
        let mut task = Task::new("mine", &space);
        task.machines = &machines;
        let features = Features::with_machines(&task);
        assert_eq!(features.width(), 1); // the memory of a core is the same
        assert!((features.square(0, 1) - 0.25).abs() < 1e-12);
        let two = [machines[0], machine("c4.xlarge"), machines[2]];
        task.machines = &two;
        assert_eq!(Features::with_machines(&task).width(), 2);
        task.machines = &[];
        assert_eq!(Features::with_machines(&task).width(), 0);
    }
}
