//! Mean cost of searching over pairs of axes that a scenario sweeps.

use std::collections::{BTreeMap, BTreeSet};

use scavsim_experiment::Record;

/// Cells of all pairs of axes that are kept.
const MOST_CELLS: usize = 100_000;

/// For each strategy and pair of swept axes, the mean by which its jobs exceed the oracle's, search included, at each pair of
/// values. Its size grows with the values of two axes, not with cases.
#[derive(Debug, Default)]
pub struct AxisMeans {
    names: Vec<String>,
    cells: BTreeMap<CellKey, RunningMean>,
    /// Whether there were more cells than are kept.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CellKey {
    objective: String,
    strategy: String,
    axes: [usize; 2],
    /// Values on both axes, by their [`flipped`] bits.
    values: [i64; 2],
}

/// Bits of a number as an integer in the same order, and back, as `f64::total_cmp` has them.
fn flipped(bits: i64) -> i64 {
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[derive(Debug, Clone, Copy, Default)]
struct RunningMean {
    sum: f64,
    count: u64,
}

/// Means of one strategy over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisMap {
    pub strategy: String,
    /// Names of the axes: the one with more values first.
    pub axes: [String; 2],
    /// Values of each axis, in rising order.
    pub values: [Vec<f64>; 2],
    /// Places of both values, with the mean excess over the oracle as a fraction.
    pub cells: Vec<([usize; 2], f64)>,
}

impl AxisMeans {
    /// Adds a record with its excess: net of credited search steps, in what its objective counts.
    pub fn add(&mut self, record: &Record<'_>) {
        let excess = match record.objective {
            "time" => record.overhead_net_time,
            _ => record.overhead_net_cost,
        };
        let names = record.axes.names();
        let Some(excess) = excess.filter(|_| names.len() > 1 && record.strategy != "oracle") else {
            return;
        };
        if self.names.is_empty() {
            self.names = names.to_vec();
        }
        let values: Vec<Option<f64>> = record.axes.values().collect();
        for second in 1..values.len() {
            for first in 0..second {
                let (Some(a), Some(b)) = (values[first], values[second]) else {
                    continue;
                };
                let key = CellKey {
                    objective: record.objective.to_owned(),
                    strategy: record.strategy.to_owned(),
                    axes: [first, second],
                    // −0 is 0.
                    values: [a, b].map(|value| flipped((value + 0.0).to_bits() as i64)),
                };
                if self.cells.len() >= MOST_CELLS && !self.cells.contains_key(&key) {
                    self.is_cut = true;
                    continue;
                }
                let cell = self.cells.entry(key).or_default();
                cell.sum += excess;
                cell.count += 1;
            }
        }
    }

    /// Maps of all strategies for an objective, over the two axes with the most values; none where fewer than two axes have
    /// several.
    pub fn maps(&self, objective: &str) -> Vec<AxisMap> {
        let own = || {
            self.cells
                .iter()
                .filter(|(key, _)| key.objective == objective)
        };
        let mut seen: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
        for (key, _) in own() {
            for (axis, value) in key.axes.into_iter().zip(key.values) {
                seen.entry(axis).or_default().insert(value);
            }
        }
        let mut axes: Vec<(usize, Vec<i64>)> = (seen.into_iter())
            .map(|(axis, values)| (axis, values.into_iter().collect()))
            .collect();
        axes.sort_by_key(|(_, values)| std::cmp::Reverse(values.len()));
        axes.truncate(2);
        if self.is_cut || axes.len() < 2 || axes[1].1.len() < 2 {
            return Vec::new();
        }
        let mut maps: Vec<AxisMap> = Vec::new();
        for (key, mean) in own() {
            let place = |(axis, values): &(usize, Vec<i64>)| {
                let at = key.axes.iter().position(|own| own == axis)?;
                values.binary_search(&key.values[at]).ok()
            };
            let (Some(x), Some(y)) = (place(&axes[0]), place(&axes[1])) else {
                continue;
            };
            if maps.last().is_none_or(|map| map.strategy != key.strategy) {
                let values = |at: usize| {
                    axes[at]
                        .1
                        .iter()
                        .map(|bits| f64::from_bits(flipped(*bits) as u64))
                };
                maps.push(AxisMap {
                    strategy: key.strategy.clone(),
                    axes: [0, 1].map(|at| self.names[axes[at].0].clone()),
                    values: [values(0).collect(), values(1).collect()],
                    cells: Vec::new(),
                });
            }
            if let Some(map) = maps.last_mut() {
                map.cells.push(([x, y], mean.sum / mean.count as f64));
            }
        }
        maps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_experiment::RecordAxes;

    #[test]
    fn a_map_has_the_means_of_the_two_axes_with_most_values() {
        let names: Vec<String> = ["price", "compute", "network"].map(str::to_owned).to_vec();
        let mut means = AxisMeans::default();
        for (price, compute, network) in [
            (1.0, -1.0, 0.5),
            (2.0, 1.0, 0.5),
            (1.0, 2.0, 0.5),
            (1.0, 4.0, 2.0),
        ] {
            let values = [Some(price), Some(compute), Some(network)];
            let mut record = Record::default();
            (record.objective, record.strategy) = ("cost", "full");
            record.overhead_net_cost = Some(price / 10.0);
            record.axes = RecordAxes::new(&names, &values);
            means.add(&record);
            record.strategy = "oracle";
            means.add(&record);
        }
        let maps = means.maps("cost");
        assert_eq!(maps.len(), 1);
        // `price` and `network` have two values each; the first of them stands.
        assert_eq!(maps[0].axes, ["compute", "price"]);
        assert_eq!(maps[0].values, [vec![-1.0, 1.0, 2.0, 4.0], vec![1.0, 2.0]]);
        let cells = [([0, 0], 0.1), ([1, 1], 0.2), ([2, 0], 0.1), ([3, 0], 0.1)];
        for (at, mean) in cells {
            assert!(maps[0].cells.contains(&(at, mean)), "{at:?}");
        }
        assert_eq!(maps[0].cells.len(), cells.len());
        assert_eq!(means.maps("time"), []);
    }
}
