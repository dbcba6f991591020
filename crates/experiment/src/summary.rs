//! Groups of a run's records by key columns, computed as records pass: in parts, one per task, put together in task order. Memory
//! goes with the number of groups, not of records.

use std::io;
use std::sync::Arc;

use rayon::prelude::*;

use super::gather::{Gather, Maker, Sink};
use super::key_columns::{Cell, Keeps, KeyColumns};
use super::metric_moments::Figure;
use super::metrics::{KeptMetrics, METRICS};
use super::record::Record;
use super::shard::Tasks;
use super::summary_groups::{Aggregated, ClosedGroup, Group, table, usual};
use super::summary_part::{Cases, Places, SummaryPart};
use super::tally::GroupSummary;
use scavsim_base::stats::RunningMedian;

/// Most groups by chosen columns; beyond, read the records themselves.
const MOST_GROUPS: usize = 1_000_000;

const MOST_WAITING: usize = 1_024;

const FIGURES_AT_ONCE: usize = 4;

/// Collects groups from parts in task order, or from records in case order. Of the usual summary only the groups of one workload
/// and strategy are open at a time; of a whole workload where every VM type is searched by itself.
pub struct Summary {
    by: Arc<KeyColumns>,
    tasks: Tasks,
    most_groups: usize,
    /// The current task and its part, where records come one by one.
    part: Option<(u64, SummaryPart)>,
    closed: Vec<ClosedGroup>,
    closing: Vec<OpenGroup>,
    open: Vec<OpenGroup>,
    places: Places,
    waiting: usize,
}

struct OpenGroup {
    cases: Cases,
    waiting: Vec<Cases>,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary::new(None, false, Tasks::new(u64::MAX, u64::MAX, u64::MAX))
    }
}

impl Summary {
    /// An empty summary by these columns, or the usual one; `across_vms` where every VM type is searched by itself.
    pub fn new(columns: Option<&KeyColumns>, across_vms: bool, tasks: Tasks) -> Summary {
        match columns {
            Some(columns) => Summary::by(columns.clone(), tasks),
            None => Summary {
                most_groups: usize::MAX,
                ..Summary::by(KeyColumns::usual(across_vms), tasks)
            },
        }
    }

    pub fn by(columns: KeyColumns, tasks: Tasks) -> Summary {
        Summary {
            by: Arc::new(KeyColumns {
                are_paired: tasks.are_paired,
                ..columns
            }),
            tasks,
            most_groups: MOST_GROUPS,
            part: None,
            closed: Vec::new(),
            closing: Vec::new(),
            open: Vec::new(),
            places: Places::default(),
            waiting: 0,
        }
    }

    /// Keeps only these figures; before the first record.
    #[must_use]
    pub fn keeping(mut self, kept: &'static KeptMetrics) -> Summary {
        Arc::make_mut(&mut self.by).kept = kept;
        self
    }

    pub fn is_usual(&self) -> bool {
        matches!(self.by.keeps, Keeps::Choices { .. })
    }

    /// All groups, in order.
    ///
    /// # Errors
    /// More groups than there may be.
    pub fn finish(mut self) -> io::Result<Aggregated> {
        self.end_part()?;
        self.close();
        self.add_up();
        Ok(if self.is_usual() {
            Aggregated::Usual(usual(self.closed))
        } else {
            Aggregated::By(table(&self.by, self.closed))
        })
    }

    /// All groups of the usual summary, in order; none of another.
    pub fn finish_usual(self) -> Vec<Group> {
        match self.finish() {
            Ok(Aggregated::Usual(groups)) => groups,
            // The usual one may have any number of groups.
            Ok(Aggregated::By(_)) | Err(_) => Vec::new(),
        }
    }

    /// Groups so far, in no order, each with its name in one column.
    pub fn tallied_by(&self, column: usize) -> impl Iterator<Item = (&str, GroupSummary)> {
        self.open.iter().map(move |open| {
            let name = match open.cases.key[column].borrowed() {
                Cell::Name(name) => name,
                Cell::Empty | Cell::Number(_) | Cell::Figure(_) => "",
            };
            (name, open.cases.tally.tallied(open.cases.is_one))
        })
    }

    fn end_part(&mut self) -> io::Result<()> {
        self.part
            .take()
            .map_or(Ok(()), |(_, part)| self.merge(part))
    }

    fn open(&mut self, cases: &Cases) -> io::Result<&mut OpenGroup> {
        if let (Keeps::Choices { across_vms }, Some(first)) = (self.by.keeps, self.open.first()) {
            let ([setting, workload, .., strategy], own) = (&first.cases.identity, &cases.identity);
            let is_same = *setting == own[0] && *workload == own[1];
            // Policies come in turns, life by life.
            let in_turns = across_vms || cases.tally.is_of_overlapping();
            if !is_same || (!in_turns && *strategy != own[4]) {
                self.close();
            }
        }
        let is_it = |at: usize| self.open[at].cases.key == cases.key;
        let at = (self.places).find(self.open.len(), is_it, || cases.hash());
        if at == self.open.len() {
            if at >= self.most_groups {
                let columns: Vec<&str> = self.by.columns.iter().map(|c| &*c.name).collect();
                return Err(io::Error::other(format!(
                    "there are more than {at} groups of {}; ask for fewer columns",
                    columns.join(", ")
                )));
            }
            self.open.push(OpenGroup {
                cases: cases.none(self.by.keeps),
                waiting: Vec::new(),
            });
        }
        Ok(&mut self.open[at])
    }

    fn close(&mut self) {
        self.places = Places::default();
        self.closing.append(&mut self.open);
    }

    /// Adds up what waits, on the current thread pool, and closes finished groups.
    fn add_up(&mut self) {
        self.waiting = 0;
        let keeps = self.by.keeps;
        let closing = std::mem::take(&mut self.closing);
        if rayon::current_thread_index().is_some() {
            self.open.par_iter_mut().for_each(|open| open.add_up(true));
            let closing = closing.into_par_iter();
            self.closed
                .par_extend(closing.map(|open| open.close(keeps, true)));
        } else {
            self.open.iter_mut().for_each(|open| open.add_up(false));
            let closing = closing.into_iter();
            self.closed
                .extend(closing.map(|open| open.close(keeps, false)));
        }
    }
}

impl OpenGroup {
    /// Adds up what waits, figure by figure, on several threads if there are.
    fn add_up(&mut self, in_pool: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        let Cases { tally, medians, .. } = &mut self.cases;
        let figure = |at: usize| {
            let mut figure = tally.figure(at);
            let others = waiting.iter().map(|cases| cases.tally.figure(at));
            others.for_each(|other| figure.merge(&other));
            figure
        };
        let add_median = |(at, median): (usize, &mut RunningMedian)| {
            waiting
                .iter()
                .for_each(|cases| cases.tell_median(at, median));
        };
        let metrics = 0..tally.kept().len();
        let figures: Vec<Figure> = if in_pool && waiting.len() > 1 {
            let medians = medians.par_iter_mut().enumerate();
            medians.with_min_len(FIGURES_AT_ONCE).for_each(add_median);
            let metrics = metrics.into_par_iter();
            metrics.with_min_len(FIGURES_AT_ONCE).map(figure).collect()
        } else {
            medians.iter_mut().enumerate().for_each(add_median);
            metrics.map(figure).collect()
        };
        for (at, figure) in figures.iter().enumerate() {
            tally.set_figure(at, figure);
        }
        for cases in waiting {
            self.cases.merge_but_figures(cases);
        }
    }

    fn close(mut self, keeps: Keeps, in_pool: bool) -> ClosedGroup {
        self.add_up(in_pool);
        let mut cases = self.cases;
        let (one_case, with_intervals) = match keeps {
            // Clusters differ by more than luck.
            Keeps::Choices { across_vms } => (!across_vms, false),
            Keeps::Sums | Keeps::TwoMedians => (cases.is_one, cases.is_one),
        };
        let median = |running: &mut RunningMedian| {
            let interval = with_intervals.then(|| running.interval()).flatten();
            Some((running.median()?, interval))
        };
        let medians = &mut cases.medians;
        let medians = match keeps {
            Keeps::Choices { .. } => {
                let kept = cases.tally.kept();
                let of_metric = |metric: usize| median(&mut medians[kept.median(metric)?]);
                (0..METRICS.len()).map(of_metric).collect()
            }
            Keeps::Sums | Keeps::TwoMedians => medians.iter_mut().map(median).collect(),
        };
        ClosedGroup {
            tallied: cases.tally.tallied(one_case),
            medians,
            key: cases.key,
            identity: cases.identity,
            choices: cases.choices,
            axes: cases.axes,
        }
    }
}

impl Sink for Summary {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        let task = self.tasks.task_of(record.case);
        if self.part.as_ref().is_some_and(|(of, _)| *of != task) {
            self.end_part()?;
        }
        let new = || (task, SummaryPart::new(Arc::clone(&self.by)));
        self.part.get_or_insert_with(new).1.push_record(record);
        Ok(())
    }
}

#[derive(Debug, Clone)]
pub struct SummaryMaker(Arc<KeyColumns>);

impl Maker for SummaryMaker {
    type Part<'p> = SummaryPart;

    fn part<'p>(&self) -> Self::Part<'p> {
        SummaryPart::new(Arc::clone(&self.0))
    }
}

impl Gather for Summary {
    type Maker = SummaryMaker;

    fn maker(&self) -> SummaryMaker {
        SummaryMaker(Arc::clone(&self.by))
    }

    fn merge(&mut self, part: SummaryPart) -> io::Result<()> {
        let is_usual = self.is_usual();
        for cases in part.groups {
            let open = self.open(&cases)?;
            open.waiting.push(cases);
            if is_usual {
                self.waiting += 1;
            } else {
                // There may be many groups, few of which have a part that waits.
                open.add_up(false);
            }
        }
        if self.waiting >= MOST_WAITING {
            self.add_up();
        }
        Ok(())
    }

    fn flush_waiting(&mut self) -> io::Result<()> {
        if self.is_usual() {
            self.add_up();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyTable, Status};

    fn tasks() -> Tasks {
        Tasks::new(99, 99, 2)
    }

    fn finished(summary: Summary) -> KeyTable {
        match summary.finish().expect("few groups") {
            Aggregated::By(table) => table,
            Aggregated::Usual(_) => panic!("columns were asked for"),
        }
    }

    fn columns(text: &str) -> KeyColumns {
        text.parse().expect("legal columns")
    }

    #[test]
    fn more_groups_than_memory_is_meant_for_are_refused() {
        let mut summary = Summary::by(columns("replica,strategy"), Tasks::new(9, 9, 2));
        summary.most_groups = 2;
        let mut record = Record::default();
        for (case, replica) in [0, 1, 1, 0, 2].into_iter().enumerate() {
            (record.case, record.replica) = (case as u64, replica);
            summary
                .push_record(&record)
                .expect("two groups in whole tasks");
        }
        let error = summary.finish().expect_err("a third");
        let expected = "more than 2 groups of replica, strategy; ask for fewer columns";
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn names_go_by_the_scenario_texts_by_the_alphabet_numbers_by_size_and_nothing_first() {
        let mut summary = Summary::by(columns("strategy,chosen_vm,chosen_workers"), tasks());
        for (case, (strategy, vm, workers)) in [
            ("partial", Some("b"), Some(12)),
            ("partial", Some("b"), Some(8)),
            ("full", Some("b"), None),
            ("full", None, None),
            ("full", Some("a"), Some(100)),
        ]
        .into_iter()
        .enumerate()
        {
            let record = Record {
                case: case as u64,
                strategy,
                chosen_vm: vm,
                chosen_workers: workers,
                ..Record::default()
            };
            summary.push_record(&record).expect("few groups");
        }
        let table = finished(summary);
        let keys: Vec<String> = (table.groups.iter())
            .map(|group| group.key.join(" "))
            .collect();
        let expected = [
            "partial b 8",
            "partial b 12",
            "full  ",
            "full a 100",
            "full b ",
        ];
        assert_eq!(keys, expected);
    }

    fn by_axes(names: &str, chosen: &[Option<&str>]) -> KeyTable {
        const ORACLE: Option<&str> = Some("learning_rate=0.01;sync=async");
        let mut summary = Summary::by(columns(names), tasks());
        for (case, other) in chosen.iter().enumerate() {
            let record = Record {
                case: case as u64,
                chosen_other: *other,
                oracle_other: ORACLE,
                right: Some(f64::from(*other == ORACLE)),
                status: Status::Ok,
                ..Record::default()
            };
            summary.push_record(&record).expect("few groups");
        }
        finished(summary)
    }

    #[test]
    fn one_axis_of_a_choice_is_a_key_of_its_own() {
        let table = by_axes(
            "chosen.learning_rate,oracle.sync",
            &[
                Some("learning_rate=0.1;sync=async"),
                Some("learning_rate=0.01;sync=bsp"),
                Some("learning_rate=0.01;sync=async"),
                Some("learning_rate=10"),
                Some("learning_rate=9"),
                Some("learning_rate=auto"),
                None,
                Some("rate=3"),
            ],
        );
        assert_eq!(table.columns, ["chosen.learning_rate", "oracle.sync"]);
        let groups = table.groups.iter();
        let seen: Vec<(&str, u64, f64)> = groups
            .map(|group| (&*group.key[0], group.tallied.cases, group.tallied.right()))
            .collect();
        let expected = [
            ("", 2, 0.0),
            // Whoever differs from the oracle on another axis only is not right.
            ("0.01", 2, 0.5),
            ("0.1", 1, 0.0),
            ("9", 1, 0.0),
            ("10", 1, 0.0),
            ("auto", 1, 0.0),
        ];
        assert_eq!(seen, expected);
        assert!(table.groups.iter().all(|group| group.key[1] == "async"));
        assert!(table.empty_axes.is_empty());
    }

    #[test]
    fn an_axis_that_no_configuration_has_is_told() {
        let chosen = [Some("learning_rate=0.1"), None];
        let table = by_axes("chosen.rate,oracle.sync,chosen_other", &chosen);
        assert_eq!(table.empty_axes, ["chosen.rate"]);
    }

    #[test]
    fn axes_with_columns_of_their_own_and_words_that_are_none_are_refused() {
        for (word, near) in [
            ("chosen.workers", "did you mean `chosen_workers`?"),
            ("oracle.vm", "did you mean `oracle_vm`?"),
            ("choice.rate", "unknown column `choice.rate`"),
            ("chosen.", "unknown column `chosen.`"),
        ] {
            let error = word.parse::<KeyColumns>().expect_err(word).to_string();
            assert!(error.contains(near), "{error}");
            assert!(
                error.ends_with("as `chosen.AXIS` or `oracle.AXIS`"),
                "{error}"
            );
        }
        let error = "chosen.x,chosen.x"
            .parse::<KeyColumns>()
            .expect_err("twice");
        assert!(error.to_string().contains("there twice"), "{error}");
    }
}
