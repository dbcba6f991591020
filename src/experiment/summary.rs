//! Aggregates over the replicas of a group, computed as records pass by.

use std::io;
use std::sync::LazyLock;

use super::chosen::{Chosen, Seen};
use super::columns::{Column, Role};
use super::record::{COLUMNS, Record, Status};
use super::run::Sink;
use crate::stats::{RunningMedian, Welford};

/// All figures that are averaged, in the order of a summary: that of the columns, but for those that are declared to
/// stand before another.
pub static METRICS: LazyLock<Vec<&'static Column>> = LazyLock::new(|| {
    let mut metrics: Vec<&'static Column> = Vec::new();
    for column in COLUMNS {
        let place = match column.role {
            Role::Mean => Some(metrics.len()),
            Role::MeanBefore(other) => {
                let before = metrics.iter().position(|m| m.name == other);
                before.or(Some(metrics.len()))
            }
            Role::None | Role::Key => None,
        };
        if let Some(place) = place {
            metrics.insert(place, column);
        }
    }
    metrics
});

/// Mean, spread and median of one metric over the replicas that have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aggregate {
    /// Mean.
    pub mean: f64,
    /// Half the 95 % confidence interval of the mean; `None` with a single value.
    pub half_interval: Option<f64>,
    /// Median.
    pub median: f64,
    /// Number of values.
    pub count: u64,
}

/// The replicas of one (workload, pricing, objective, strategy).
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Workload.
    pub workload: String,
    /// Pricing policy.
    pub pricing: String,
    /// Objective.
    pub objective: String,
    /// Strategy.
    pub strategy: String,
    /// Records seen.
    pub replicas: u64,
    /// Of these, without a result.
    pub failed: u64,
    /// Share of all replicas in which the strategy chose what the oracle chose.
    pub right: f64,
    /// The configuration chosen most often; of several, the first seen.
    pub choice: Option<Chosen>,
    /// Share of all replicas that chose it.
    pub choice_share: f64,
    /// The oracle's configuration.
    pub oracle: Option<Chosen>,
    /// One per entry of [`METRICS`]; `None` where no replica has the figure.
    pub aggregates: Vec<Option<Aggregate>>,
}

impl Group {
    /// The aggregate of a metric by its column name.
    pub fn aggregate(&self, metric: &str) -> Option<&Aggregate> {
        let index = METRICS.iter().position(|m| m.name == metric)?;
        self.aggregates[index].as_ref()
    }
}

/// Collects groups from records in case order. Only the groups of one workload and strategy are
/// open at a time, and they hold no more values the more replicas they have.
///
/// Where every VM type is searched by itself, a group goes over all of them: the groups of a workload
/// stay open, and of choices only workers and batch are told apart.
#[derive(Default)]
pub struct Summary {
    across_vms: bool,
    /// Closed groups with their workload's number, and their place among the policies and
    /// objectives of it.
    groups: Vec<(usize, usize, Group)>,
    workloads: usize,
    /// The groups of the present workload and strategy, by policy, then objective.
    open: Vec<Open>,
    /// The group behind that of the last record.
    next: usize,
}

struct Open {
    group: Group,
    right: u64,
    choices: Vec<(Chosen, u64)>,
    values: Vec<(Welford, RunningMedian)>,
}

impl Summary {
    /// Nothing yet; `across_vms` where every VM type is searched by itself.
    pub fn new(across_vms: bool) -> Summary {
        Summary {
            across_vms,
            ..Summary::default()
        }
    }

    /// All groups, by workload, policy, objective, strategy, each in the scenario's order.
    pub fn finish(mut self) -> Vec<Group> {
        self.close();
        // Stable: strategies stay in the order in which they came.
        self.groups
            .sort_by_key(|(workload, place, _)| (*workload, *place));
        self.groups.into_iter().map(|(_, _, group)| group).collect()
    }

    /// The open group of a record, opened where there is none.
    fn open(&mut self, record: &Record<'_>) -> &mut Open {
        if let Some(Open { group, .. }) = self.open.first() {
            let other_workload = group.workload != record.workload;
            if other_workload || (!self.across_vms && group.strategy != record.strategy) {
                self.close();
                self.workloads += usize::from(other_workload);
            }
        }
        let is_it = |open: &Open| {
            open.group.pricing == record.pricing
                && open.group.objective == record.objective
                && open.group.strategy == record.strategy
        };
        // Records come in turns: it is the next, or again the first.
        let at = [self.next, 0]
            .into_iter()
            .find(|&at| self.open.get(at).is_some_and(is_it))
            .or_else(|| self.open.iter().position(is_it))
            .unwrap_or(self.open.len());
        self.next = at + 1;
        if at == self.open.len() {
            self.open.push(Open::of(record));
            if self.across_vms {
                self.open[at].group.oracle = None;
            }
        }
        &mut self.open[at]
    }

    fn close(&mut self) {
        self.next = 0;
        let mut place = 0;
        for open in self.open.drain(..) {
            let mut group = open.close();
            if self.across_vms {
                // Clusters differ by more than luck.
                (group.aggregates.iter_mut().flatten()).for_each(|a| a.half_interval = None);
            }
            // Places count anew with every strategy.
            let same = (self.groups.last()).is_some_and(|(of, _, last)| {
                *of == self.workloads && last.strategy == group.strategy
            });
            place = if same { place + 1 } else { 0 };
            self.groups.push((self.workloads, place, group));
        }
    }
}

impl Open {
    /// The empty group of a record.
    fn of(record: &Record<'_>) -> Open {
        Open {
            group: Group {
                workload: record.workload.to_owned(),
                pricing: record.pricing.to_owned(),
                objective: record.objective.to_owned(),
                strategy: record.strategy.to_owned(),
                replicas: 0,
                failed: 0,
                right: 0.0,
                choice: None,
                choice_share: 0.0,
                oracle: Seen::oracle(record).map(Seen::to_owned),
                aggregates: Vec::new(),
            },
            right: 0,
            choices: Vec::new(),
            values: vec![Default::default(); METRICS.len()],
        }
    }

    fn close(mut self) -> Group {
        let all = self.group.replicas as f64;
        self.group.right = self.right as f64 / all;
        let mut most = 0;
        for (choice, count) in self.choices {
            if count > most {
                most = count;
                self.group.choice = Some(choice);
            }
        }
        self.group.choice_share = most as f64 / all;
        self.group.aggregates = self.values.iter_mut().map(aggregate).collect();
        self.group
    }
}

fn aggregate((moments, median): &mut (Welford, RunningMedian)) -> Option<Aggregate> {
    Some(Aggregate {
        mean: moments.mean(),
        half_interval: moments.half_interval(),
        median: median.median()?,
        count: moments.count(),
    })
}

impl Sink for Summary {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let across_vms = self.across_vms;
        let open = self.open(record);
        open.group.replicas += 1;
        open.group.failed += u64::from(record.status == Status::Failed);
        open.right += u64::from(record.is_right());
        if let Some(seen) = Seen::choice(record) {
            let seen = if across_vms { seen.on_any_vm() } else { seen };
            match open.choices.iter_mut().find(|(chosen, _)| seen.is(chosen)) {
                Some((_, count)) => *count += 1,
                None => open.choices.push((seen.to_owned(), 1)),
            }
        }
        for ((moments, median), metric) in open.values.iter_mut().zip(METRICS.iter()) {
            if let Some(value) = (metric.of)(record).figure() {
                moments.add(value);
                median.add(value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::columns::Kind;

    #[test]
    fn every_figure_that_is_averaged_is_averaged_once_and_where_it_is_declared_to_be() {
        let place = |name: &str| METRICS.iter().position(|metric| metric.name == name);
        let mut averaged = 0;
        for column in COLUMNS {
            match column.role {
                Role::None | Role::Key => continue,
                Role::Mean => {}
                Role::MeanBefore(other) => {
                    assert!(place(other).is_some(), "{}", column.name);
                    assert!(place(column.name) < place(other), "{}", column.name);
                }
            }
            assert_eq!(column.kind, Kind::Figure, "{}", column.name);
            averaged += 1;
        }
        assert_eq!(METRICS.len(), averaged);
        let plain = |column: &&&Column| column.role == Role::Mean;
        let columns: Vec<&Column> = COLUMNS.iter().collect();
        let declared = columns.iter().filter(plain).map(|column| column.name);
        let seen = METRICS.iter().filter(plain).map(|column| column.name);
        assert!(seen.eq(declared));
    }
}
