//! Aggregates over the replicas of a group, computed as records pass by: in parts, one per task, put together in the
//! order of tasks.

use std::io;

use rayon::prelude::*;

use super::chosen::Chosen;
use super::gather::{Gather, Maker, Sink};
use super::record::Record;
use super::shard::Tasks;
use super::summary_part::{Cases, SummaryPart};
use super::tally::{METRICS, Mean, Tallied};
use scavsim_base::stats::RunningMedian;

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

/// Collects groups from parts of them in the order of tasks, or from records in case order. Only the groups of one
/// workload and strategy are open at a time, and they hold no more values the more replicas they have.
///
/// Where every VM type is searched by itself, a group goes over all of them: the groups of a workload
/// stay open, and of choices only workers and batch are told apart.
pub struct Summary {
    across_vms: bool,
    tasks: Tasks,
    /// The task at hand and what its records come to, where records come one by one.
    part: Option<(u64, SummaryPart)>,
    /// Closed groups with the number of their workload in their setting, and their place among the policies and
    /// objectives of it.
    groups: Vec<(usize, usize, Group)>,
    /// Those of which parts are not added up yet, in the same order.
    closing: Vec<Open>,
    workloads: usize,
    /// The groups of the present workload and strategy, by policy, then objective.
    open: Vec<Open>,
    /// The group behind that of the last part.
    next: usize,
    /// Parts that are not added up yet.
    waiting: usize,
}

/// Parts that wait to be added up at most.
const MOST_WAITING: usize = 1_024;

/// A group and the parts that follow it.
struct Open {
    workload: usize,
    cases: Cases,
    waiting: Vec<Cases>,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary::new(false, Tasks::new(u64::MAX, u64::MAX, u64::MAX))
    }
}

impl Summary {
    /// Nothing yet, of a run with these tasks; `across_vms` where every VM type is searched by itself.
    pub fn new(across_vms: bool, tasks: Tasks) -> Summary {
        Summary {
            across_vms,
            tasks,
            part: None,
            groups: Vec::new(),
            closing: Vec::new(),
            workloads: 0,
            open: Vec::new(),
            next: 0,
            waiting: 0,
        }
    }

    /// All groups, by setting, workload, policy, objective, strategy, each in the scenario's order.
    pub fn finish(mut self) -> Vec<Group> {
        self.end_part();
        self.close();
        self.add_up();
        // Stable: strategies stay in the order in which they came.
        self.groups
            .sort_by_key(|(workload, place, _)| (*workload, *place));
        self.groups.into_iter().map(|(_, _, group)| group).collect()
    }

    /// Takes the part of the next task.
    pub fn merge(&mut self, part: SummaryPart) {
        for cases in part.groups {
            let open = self.open(&cases);
            open.waiting.push(cases);
            self.waiting += 1;
        }
        if self.waiting >= MOST_WAITING {
            self.add_up();
        }
    }

    fn end_part(&mut self) {
        if let Some((_, part)) = self.part.take() {
            self.merge(part);
        }
    }

    /// The open group that some cases belong to, opened where there is none.
    fn open(&mut self, cases: &Cases) -> &mut Open {
        if let Some(Open { cases: first, .. }) = self.open.first() {
            let other_workload =
                first.key.workload != cases.key.workload || first.key.setting != cases.key.setting;
            if other_workload || (!self.across_vms && first.key.strategy != cases.key.strategy) {
                self.close();
                self.workloads += usize::from(other_workload);
            }
        }
        let is_it = |open: &Open| {
            open.cases.key.pricing == cases.key.pricing
                && open.cases.key.objective == cases.key.objective
                && open.cases.key.strategy == cases.key.strategy
        };
        // They come in turns: it is the next, or again the first.
        let at = [self.next, 0]
            .into_iter()
            .find(|&at| self.open.get(at).is_some_and(is_it))
            .or_else(|| self.open.iter().position(is_it))
            .unwrap_or(self.open.len());
        self.next = at + 1;
        if at == self.open.len() {
            self.open.push(Open {
                workload: self.workloads,
                cases: cases.none(),
                waiting: Vec::new(),
            });
        }
        &mut self.open[at]
    }

    fn close(&mut self) {
        self.next = 0;
        self.closing.append(&mut self.open);
    }

    /// Adds up what waits, on all threads of the pool that it is called in, and closes what is to be closed.
    fn add_up(&mut self) {
        self.waiting = 0;
        let in_pool = rayon::current_thread_index().is_some();
        // Clusters differ by more than luck.
        let one_case = !self.across_vms;
        let closing = std::mem::take(&mut self.closing);
        let closed: Vec<(usize, Group)> = match in_pool {
            true => {
                self.open.par_iter_mut().for_each(|open| open.add_up(true));
                let closing = closing.into_par_iter();
                closing.map(|open| open.close(one_case, true)).collect()
            }
            false => {
                self.open.iter_mut().for_each(|open| open.add_up(false));
                let closing = closing.into_iter();
                closing.map(|open| open.close(one_case, false)).collect()
            }
        };
        for (workload, group) in closed {
            // Places count anew with every strategy.
            let place = match self.groups.last() {
                Some((of, place, last)) if *of == workload && last.strategy == group.strategy => {
                    place + 1
                }
                _ => 0,
            };
            self.groups.push((workload, place, group));
        }
    }
}

impl Open {
    /// Adds up what waits, each figure by itself; on several threads if there are.
    fn add_up(&mut self, in_pool: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        let Cases { tally, medians, .. } = &mut self.cases;
        let figures = tally.figures();
        let add = |at: usize, figure: &mut _, median: &mut RunningMedian| {
            for cases in &waiting {
                super::units::Figure::merge(figure, cases.tally.figure(at));
                median.merge(&cases.medians[at]);
            }
        };
        match in_pool {
            true => (figures.par_iter_mut().zip(medians.par_iter_mut()))
                .enumerate()
                .with_min_len(FIGURES_AT_ONCE)
                .for_each(|(at, (figure, median))| add(at, figure, median)),
            false => (figures.iter_mut().zip(medians).enumerate())
                .for_each(|(at, (figure, median))| add(at, figure, median)),
        }
        for cases in waiting {
            self.cases.merge_but_figures(cases);
        }
    }

    /// The group with the number of its workload; its cases are replicas of `one_case`, or not.
    fn close(mut self, one_case: bool, in_pool: bool) -> (usize, Group) {
        self.add_up(in_pool);
        let Cases {
            key,
            oracle,
            choices,
            reasons,
            tally,
            mut medians,
        } = self.cases;
        let tallied = tally.tallied(one_case);
        let (mut most, mut choice, mut provenance) = (0, None, None);
        for (chosen, of, count) in choices {
            if count > most {
                (most, choice, provenance) = (count, Some(chosen), of);
            }
        }
        let group = Group {
            setting: key.setting,
            workload: key.workload,
            pricing: key.pricing,
            objective: key.objective,
            strategy: key.strategy,
            choice,
            provenance,
            choice_share: most as f64 / tallied.cases as f64,
            reasons,
            oracle,
            tallied,
            medians: medians.iter_mut().map(RunningMedian::median).collect(),
        };
        debug_assert_eq!(group.medians.len(), METRICS.len());
        (self.workload, group)
    }
}

/// Figures that one thread adds up at least.
const FIGURES_AT_ONCE: usize = 4;

impl Sink for Summary {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let task = self.tasks.task_of(record.case);
        if self.part.as_ref().is_some_and(|(of, _)| *of != task) {
            self.end_part();
        }
        let across_vms = self.across_vms;
        let (_, part) = (self.part).get_or_insert_with(|| (task, SummaryPart::new(across_vms)));
        part.take(record);
        Ok(())
    }
}

/// Makes parts of a summary.
#[derive(Debug, Clone, Copy)]
pub struct SummaryMaker {
    across_vms: bool,
}

impl Maker for SummaryMaker {
    type Part<'p> = SummaryPart;

    fn part<'p>(&self) -> Self::Part<'p> {
        SummaryPart::new(self.across_vms)
    }
}

impl Gather for Summary {
    type Maker = SummaryMaker;

    fn maker(&self) -> SummaryMaker {
        SummaryMaker {
            across_vms: self.across_vms,
        }
    }

    fn merge(&mut self, part: SummaryPart) -> io::Result<()> {
        Summary::merge(self, part);
        Ok(())
    }

    fn rest(&mut self) -> io::Result<()> {
        self.add_up();
        Ok(())
    }
}
