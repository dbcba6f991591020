//! Aggregates over the replicas of a group, computed as records pass by.

use std::io;

use super::chosen::{Chosen, Seen};
use super::record::{Record, Status};
use super::run::Sink;
use super::tally::{METRICS, Mean, Tallied, Tally};
use crate::stats::RunningMedian;

/// More reasons than these are not told apart.
pub const MOST_REASONS: usize = 8;

/// The replicas of one (setting, workload, pricing, objective, strategy).
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Setting; empty where no key of the scenario holds several values.
    pub setting: String,
    /// Workload.
    pub workload: String,
    /// Pricing policy.
    pub pricing: String,
    /// Objective.
    pub objective: String,
    /// Strategy.
    pub strategy: String,
    /// The configuration chosen most often; of several, the first seen.
    pub choice: Option<Chosen>,
    /// How it was obtained that it was chosen from: `measured`, `interpolated` or `extrapolated`; `None` where nothing was
    /// chosen.
    pub provenance: Option<String>,
    /// Share of all replicas that chose it.
    pub choice_share: f64,
    /// Why cases have no result, and how many for this reason; of many reasons the first [`MOST_REASONS`].
    pub reasons: Vec<(String, u64)>,
    /// The oracle's configuration.
    pub oracle: Option<Chosen>,
    /// Counts, means and shares.
    pub tallied: Tallied,
    /// A median per entry of [`METRICS`]; `None` where no replica has the figure.
    pub medians: Vec<Option<f64>>,
}

impl Group {
    /// The mean of a metric by its column name.
    pub fn mean(&self, metric: &str) -> Option<&Mean> {
        self.tallied.mean(metric)
    }

    /// The median of a metric by its column name.
    pub fn median(&self, metric: &str) -> Option<f64> {
        let index = METRICS.iter().position(|m| m.name == metric)?;
        self.medians[index]
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
    /// Closed groups with the number of their workload in their setting, and their place among the policies and
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
    /// With how each was obtained, and how often it was chosen.
    choices: Vec<(Chosen, Option<String>, u64)>,
    tally: Tally,
    medians: Vec<RunningMedian>,
}

impl Summary {
    /// Nothing yet; `across_vms` where every VM type is searched by itself.
    pub fn new(across_vms: bool) -> Summary {
        Summary {
            across_vms,
            ..Summary::default()
        }
    }

    /// All groups, by setting, workload, policy, objective, strategy, each in the scenario's order.
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
            let other_workload =
                group.workload != record.workload || group.setting != record.setting;
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
            // Clusters differ by more than luck.
            let group = open.close(!self.across_vms);
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
                setting: record.setting.to_owned(),
                workload: record.workload.to_owned(),
                pricing: record.pricing.to_owned(),
                objective: record.objective.to_owned(),
                strategy: record.strategy.to_owned(),
                choice: None,
                provenance: None,
                reasons: Vec::new(),
                choice_share: 0.0,
                oracle: Seen::oracle(record).map(Seen::to_owned),
                tallied: Tally::default().tallied(false),
                medians: Vec::new(),
            },
            choices: Vec::new(),
            tally: Tally::default(),
            medians: vec![RunningMedian::new(); METRICS.len()],
        }
    }

    /// The group; its cases are replicas of `one_case`, or not.
    fn close(mut self, one_case: bool) -> Group {
        self.group.tallied = self.tally.tallied(one_case);
        let mut most = 0;
        for (choice, provenance, count) in self.choices {
            if count > most {
                most = count;
                self.group.choice = Some(choice);
                self.group.provenance = provenance;
            }
        }
        self.group.choice_share = most as f64 / self.group.tallied.cases as f64;
        self.group.medians = (self.medians.iter_mut())
            .map(RunningMedian::median)
            .collect();
        self.group
    }
}

impl Sink for Summary {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let across_vms = self.across_vms;
        let open = self.open(record);
        if let Some(seen) = Seen::choice(record) {
            let seen = if across_vms { seen.on_any_vm() } else { seen };
            let choices = &mut open.choices;
            match choices.iter_mut().find(|(chosen, ..)| seen.is(chosen)) {
                Some((.., count)) => *count += 1,
                None => {
                    let provenance = record.provenance.filter(|_| !across_vms);
                    let provenance = provenance.map(str::to_owned);
                    choices.push((seen.to_owned(), provenance, 1));
                }
            }
        }
        if record.status == Status::Failed {
            let reasons = &mut open.group.reasons;
            match reasons.iter().position(|(why, _)| *why == record.reason) {
                Some(at) => reasons[at].1 += 1,
                None if reasons.len() < MOST_REASONS => {
                    reasons.push((record.reason.to_string(), 1));
                }
                None => {}
            }
        }
        let medians = &mut open.medians;
        (open.tally).take(record, |at, value| medians[at].add(value));
        Ok(())
    }
}
