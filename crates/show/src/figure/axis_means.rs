//! Mean search cost over pairs of axes that a scenario sweeps.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::axis_map::{AxisMaps, SumAndCount};
use scavsim_experiment::Record;

/// Maximum number of cells of all pairs of axes.
const MOST_CELLS: usize = 400_000;

/// For each strategy, workload and pair of swept axes: the mean excess over the oracle, search included, at each pair of
/// values. Its size grows with the values of two axes, not with cases.
#[derive(Debug, Default)]
pub struct AxisMeans {
    names: Vec<String>,
    /// Objective, strategy and workload of the cells.
    groups: Vec<[String; 3]>,
    /// By group, two axes and the bits of their values.
    cells: BTreeMap<(usize, [usize; 2], [u64; 2]), SumAndCount>,
    /// Whether there were more cells than the maximum.
    pub is_cut: bool,
}

impl AxisMeans {
    /// Adds a record with its excess, without credited search steps, in the unit of its objective.
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
        let group = self.group([record.objective, record.strategy, record.workload]);
        let values: Vec<Option<f64>> = record.axes.values().collect();
        for second in 1..values.len() {
            for first in 0..second {
                let (Some(a), Some(b)) = (values[first], values[second]) else {
                    continue;
                };
                // Turns −0 into 0.
                let values = [a, b].map(|value| (value + 0.0).to_bits());
                let key = (group, [first, second], values);
                if self.cells.len() >= MOST_CELLS && !self.cells.contains_key(&key) {
                    self.is_cut = true;
                    continue;
                }
                let (sum, count) = self.cells.entry(key).or_default();
                *sum += excess;
                *count += 1.0;
            }
        }
    }

    fn group(&mut self, names: [&str; 3]) -> usize {
        // Records of a group come together.
        let known = self.groups.iter().rposition(|own| *own == names);
        known.unwrap_or_else(|| {
            self.groups.push(names.map(str::to_owned));
            self.groups.len() - 1
        })
    }

    /// Maps of all strategies for an objective, on one workload or averaged over all, over the two axes with the most values;
    /// `None` if fewer than two axes have several.
    pub fn maps(&self, objective: &str, workload: Option<&str>) -> Option<AxisMaps<&str>> {
        let shown = || {
            let cells = self.cells.iter().map(|((group, axes, bits), sum)| {
                let [own, strategy, of] = &self.groups[*group];
                let is_shown = own == objective && workload.is_none_or(|asked| asked == of);
                is_shown.then_some((strategy.as_str(), axes, bits.map(f64::from_bits), sum))
            });
            cells.flatten()
        };
        let mut seen: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        for (_, axes, values, _) in shown() {
            for (axis, value) in axes.iter().zip(values) {
                seen.entry(*axis).or_default().insert(value.to_bits());
            }
        }
        let mut axes: Vec<(usize, usize)> = (seen.into_iter())
            .map(|(axis, values)| (axis, values.len()))
            .collect();
        axes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let &[(x, _), (y, 2..), ..] = axes.as_slice() else {
            return None;
        };
        let cells = shown().filter_map(|(strategy, axes, [a, b], sum)| match axes {
            _ if *axes == [x, y] => Some((strategy, [a, b], *sum)),
            _ if *axes == [y, x] => Some((strategy, [b, a], *sum)),
            _ => None,
        });
        let names = [x, y].map(|axis| self.names[axis].clone());
        let mut maps = AxisMaps::new(names, cells);
        maps.maps.sort_by_key(|(strategy, _)| *strategy);
        (!self.is_cut).then_some(maps)
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
            for (workload, times) in [("a", 1.0), ("b", 3.0)] {
                record.workload = workload;
                record.overhead_net_cost = Some(times * price / 10.0);
                means.add(&record);
            }
            record.strategy = "oracle";
            means.add(&record);
        }
        for (workload, times) in [(Some("a"), 1.0), (Some("b"), 3.0), (None, 2.0)] {
            let maps = means.maps("cost", workload).expect("two axes");
            // `price` and `network` have two values each; the first of them is used.
            assert_eq!(maps.axes, ["compute", "price"]);
            assert_eq!(maps.values, [vec![-1.0, 1.0, 2.0, 4.0], vec![1.0, 2.0]]);
            let [(name, map)] = &maps.maps[..] else {
                panic!("{:?}", maps.maps)
            };
            assert_eq!(*name, "full");
            let cells: Vec<_> = (map.iter())
                .map(|(at, (sum, count))| (*at, (100.0 * sum / count / times).round()))
                .collect();
            let expected = [
                ([0, 0], 10.0),
                ([1, 1], 20.0),
                ([2, 0], 10.0),
                ([3, 0], 10.0),
            ];
            assert_eq!(cells, expected);
        }
        assert_eq!(means.maps("time", None), None);
        assert_eq!(means.maps("cost", Some("c")), None);
    }
}
