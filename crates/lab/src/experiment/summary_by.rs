//! Aggregates over any columns of the records that are keys, computed as records pass by: memory goes
//! with the number of groups, not of records.

use std::io;
use std::sync::Arc;

use super::gather::{Gather, Maker, Part, Sink};
use super::key_columns::KeyColumns;
use super::key_groups::{Groups, KeyTable};
use super::record::Record;
use super::shard::Tasks;
use super::tally::Tallied;

/// More groups than this would rather be read from the records themselves.
const MOST_GROUPS: usize = 1_000_000;

/// Collects groups from parts of them in the order of tasks, or from records in case order.
pub struct SummaryBy {
    tasks: Tasks,
    most_groups: usize,
    groups: Groups,
    /// The task at hand and what its records come to, where records come one by one.
    part: Option<(u64, SummaryByPart)>,
}

/// What the records of one task come to.
pub struct SummaryByPart(Groups);

/// Makes parts of a summary.
#[derive(Clone)]
pub struct SummaryByMaker(Arc<KeyColumns>);

impl SummaryBy {
    /// No records yet, of a run with these tasks.
    pub fn new(columns: KeyColumns, tasks: Tasks) -> SummaryBy {
        SummaryBy {
            tasks,
            most_groups: MOST_GROUPS,
            groups: Groups::new(Arc::new(columns)),
            part: None,
        }
    }

    /// What groups come to so far, in no order, each with its name in one of the columns.
    pub(super) fn tallied_by(&self, column: usize) -> impl Iterator<Item = (&str, Tallied)> {
        self.groups.tallied_by(column)
    }

    /// All groups, in order.
    ///
    /// # Errors
    /// More groups than there may be.
    pub fn finish(mut self) -> io::Result<KeyTable> {
        self.end_part()?;
        Ok(self.groups.finish())
    }

    fn end_part(&mut self) -> io::Result<()> {
        match self.part.take() {
            Some((_, part)) => self.groups.merge(part.0, self.most_groups),
            None => Ok(()),
        }
    }
}

impl SummaryByPart {
    /// Takes the next record of the task.
    ///
    /// # Errors
    /// None in a task; the signature is that of a group.
    pub fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.0.take(record)
    }
}

impl<'p> Part<'p> for SummaryByPart {
    fn take(&mut self, record: Record<'p>) -> io::Result<()> {
        self.0.take(&record)
    }
}

impl Maker for SummaryByMaker {
    type Part<'p> = SummaryByPart;

    fn part<'p>(&self) -> Self::Part<'p> {
        SummaryByPart(Groups::new(Arc::clone(&self.0)))
    }
}

impl Gather for SummaryBy {
    type Maker = SummaryByMaker;

    fn maker(&self) -> SummaryByMaker {
        SummaryByMaker(Arc::clone(&self.groups.by))
    }

    fn merge(&mut self, part: SummaryByPart) -> io::Result<()> {
        self.groups.merge(part.0, self.most_groups)
    }
}

impl Sink for SummaryBy {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let task = self.tasks.task_of(record.case);
        if self.part.as_ref().is_some_and(|(of, _)| *of != task) {
            self.end_part()?;
        }
        let by = &self.groups.by;
        let new = || (task, SummaryByPart(Groups::new(Arc::clone(by))));
        self.part.get_or_insert_with(new).1.take(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Status;

    /// Of two cases each.
    fn tasks() -> Tasks {
        Tasks::new(99, 99, 2)
    }

    fn columns(text: &str) -> KeyColumns {
        text.parse().expect("legal columns")
    }

    #[test]
    fn more_groups_than_memory_is_meant_for_are_refused() {
        let mut summary = SummaryBy::new(columns("replica,strategy"), Tasks::new(9, 9, 2));
        summary.most_groups = 2;
        let mut record = Record::default();
        for (case, replica) in [0, 1, 1, 0, 2].into_iter().enumerate() {
            (record.case, record.replica) = (case as u64, replica);
            summary.take(&record).expect("two groups in whole tasks");
        }
        let error = summary.finish().expect_err("a third");
        let expected = "more than 2 groups of replica, strategy; ask for fewer columns";
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn names_go_by_the_scenario_texts_by_the_alphabet_numbers_by_size_and_nothing_first() {
        let mut summary = SummaryBy::new(columns("strategy,chosen_vm,chosen_workers"), tasks());
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
            summary.take(&record).expect("few groups");
        }
        let table = summary.finish().expect("few groups");
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

    /// Groups of records that chose these values on other axes.
    fn by_axes(names: &str, chosen: &[Option<&str>]) -> KeyTable {
        const ORACLE: Option<&str> = Some("learning_rate=0.01;sync=async");
        let mut summary = SummaryBy::new(columns(names), tasks());
        for (case, other) in chosen.iter().enumerate() {
            let record = Record {
                case: case as u64,
                chosen_other: *other,
                oracle_other: ORACLE,
                right: Some(f64::from(*other == ORACLE)),
                status: Status::Ok,
                ..Record::default()
            };
            summary.take(&record).expect("few groups");
        }
        summary.finish().expect("few groups")
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
            let error = word.parse::<KeyColumns>().expect_err(word);
            assert!(error.contains(near), "{error}");
            assert!(
                error.ends_with("as `chosen.AXIS` or `oracle.AXIS`"),
                "{error}"
            );
        }
        let error = "chosen.x,chosen.x"
            .parse::<KeyColumns>()
            .expect_err("twice");
        assert!(error.contains("there twice"), "{error}");
    }
}
