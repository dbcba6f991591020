//! Aggregates over any columns of the records that are keys, computed as records pass by: memory goes
//! with the number of groups, not of records.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::columns::{Column, Kind, Role, Value};
use super::gather::{Gather, Maker, Part, Sink};
use super::record::{COLUMNS, Record};
use super::shard::Tasks;
use super::tally::{Mean, Tallied, Tally};
use crate::input::closest;
use crate::space;
use crate::stats::{Interval, RunningMedian};

/// More groups than this would rather be read from the records themselves.
const MOST_GROUPS: usize = 1_000_000;

/// What tells groups apart: a column of the records, or one axis out of those that share a column.
#[derive(Debug, Clone)]
pub struct KeyColumn {
    /// Its name, in `records.csv` or as `chosen.AXIS` or `oracle.AXIS`.
    pub name: Cow<'static, str>,
    order: Order,
    of: Of,
}

/// The order of its groups; that without a cell comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// As records have it, which is the scenario's.
    Came,
    /// Text, by the alphabet.
    Alphabet,
    /// Numbers ascending, then text by the alphabet.
    Axis,
}

/// Where its cell is in a record.
#[derive(Debug, Clone)]
enum Of {
    Column(for<'r> fn(&'r Record<'_>) -> Value<'r>),
    /// The value of the axis of this name.
    Axis(OnAxis, String),
}

type OnAxis = for<'r> fn(&'r Record<'_>, &str) -> Option<&'r str>;

/// All columns that can be asked for, in the order of `records.csv`.
pub fn key_columns() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| column.role == Role::Key)
}

/// Axes that have columns of their own.
const OWN_COLUMNS: [&str; 3] = [space::VM, space::WORKERS, space::BATCH];

/// Whose choice is asked for in `chosen.AXIS` and `oracle.AXIS`.
const SIDES: [(&str, OnAxis); 2] = [
    ("chosen", |record, axis| record.chosen_on(axis)),
    ("oracle", |record, axis| record.oracle_on(axis)),
];

impl KeyColumn {
    fn of_records(column: &'static Column) -> KeyColumn {
        let order = match column.kind {
            Kind::Text | Kind::Word => Order::Alphabet,
            Kind::Name | Kind::Count | Kind::Whole | Kind::Figure => Order::Came,
        };
        KeyColumn::new(column.name, order, column.of)
    }

    fn new(
        name: &'static str,
        order: Order,
        of: for<'r> fn(&'r Record<'_>) -> Value<'r>,
    ) -> KeyColumn {
        KeyColumn {
            name: Cow::Borrowed(name),
            order,
            of: Of::Column(of),
        }
    }

    /// A column of the records, or one axis of a choice; `None` for any other word.
    fn named(word: &str) -> Option<KeyColumn> {
        if let Some(column) = key_columns().find(|column| column.name == word) {
            return Some(KeyColumn::of_records(column));
        }
        let (side, axis) = word.split_once('.')?;
        let (_, of) = SIDES.into_iter().find(|(name, _)| *name == side)?;
        if axis.is_empty() || OWN_COLUMNS.contains(&axis) {
            return None;
        }
        Some(KeyColumn {
            name: Cow::Owned(word.to_owned()),
            order: Order::Axis,
            of: Of::Axis(of, axis.to_owned()),
        })
    }
}

/// Columns to group by, each once.
#[derive(Debug, Clone)]
pub struct KeyColumns {
    /// The columns.
    pub columns: Vec<KeyColumn>,
    /// Whether groups are few enough for medians of time and cost.
    pub with_medians: bool,
}

/// Metrics that have a median, where there are medians.
const WITH_MEDIAN: [&str; 2] = ["time_h", "cost_usd"];

impl KeyColumns {
    /// Those by which all cases of a group differ by luck alone: `objective`, `setting`, `workload`, `pricing`, `strategy`, `oracle_vm`,
    /// which is another where every VM type is searched by itself.
    pub fn of_one_luck() -> KeyColumns {
        let came = |name, of| KeyColumn::new(name, Order::Came, of);
        let columns = vec![
            came("objective", |r| Value::Text(r.objective)),
            came("setting", |r| Value::Text(r.setting)),
            came("workload", |r| Value::Text(r.workload)),
            came("pricing", |r| Value::Text(r.pricing)),
            came("strategy", |r| Value::Text(r.strategy)),
            came("oracle_vm", |r| {
                r.oracle_vm.map_or(Value::Empty, Value::Text)
            }),
        ];
        KeyColumns {
            columns,
            with_medians: false,
        }
    }

    /// Place of `objective` among [`of_one_luck`](KeyColumns::of_one_luck).
    pub const OBJECTIVE: usize = 0;

    /// Those of a table with a line per cluster, all in the order in which they come: `setting`, `workload`, `pricing`,
    /// `objective`, `strategy`, `cluster`, `workers`, `batch`, `fidelity`, `reason`.
    pub fn of_clusters() -> KeyColumns {
        let came = |name, of| KeyColumn::new(name, Order::Came, of);
        let columns = vec![
            came("setting", |r| Value::Text(r.setting)),
            came("workload", |r| Value::Text(r.workload)),
            came("pricing", |r| Value::Text(r.pricing)),
            came("objective", |r| Value::Text(r.objective)),
            came("strategy", |r| Value::Text(r.strategy)),
            // Of a case without a result nothing is known but what it was compared with.
            came("cluster", |r| {
                Value::Text(r.chosen_vm.or(r.oracle_vm).unwrap_or("none"))
            }),
            came("workers", |r| whole(r.chosen_workers.or(r.oracle_workers))),
            came("batch", |r| whole(r.chosen_batch.or(r.oracle_batch))),
            came("fidelity", |r| Value::Text(r.fidelity.unwrap_or(""))),
            came("reason", |r| Value::Text(&r.reason)),
        ];
        KeyColumns {
            columns,
            with_medians: true,
        }
    }
}

fn whole(number: Option<u32>) -> Value<'static> {
    number.map_or(Value::Empty, Value::Whole)
}

impl std::str::FromStr for KeyColumns {
    type Err = String;

    /// Reads names with commas between them.
    fn from_str(text: &str) -> Result<KeyColumns, String> {
        let names = || key_columns().map(|column| column.name);
        let mut columns: Vec<KeyColumn> = Vec::new();
        for word in text.split(',') {
            let Some(column) = KeyColumn::named(word) else {
                // `chosen.workers` is a column.
                let near = closest(&word.replace('.', "_"), names());
                let near = near.map(|near| format!("did you mean `{near}`? "));
                let legal: Vec<&str> = names().collect();
                return Err(format!(
                    "unknown column `{word}`; {}legal here: {}, and an axis of `chosen_other` or `oracle_other` as \
                     `chosen.AXIS` or `oracle.AXIS`",
                    near.unwrap_or_default(),
                    legal.join(", ")
                ));
            };
            if columns.iter().any(|before| before.name == column.name) {
                return Err(format!("column `{word}` is there twice; name each once"));
            }
            columns.push(column);
        }
        Ok(KeyColumns {
            columns,
            with_medians: false,
        })
    }
}

/// The cases that have the same key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyGroup {
    /// A cell per column; empty where the records have none.
    pub key: Vec<String>,
    /// Counts, means and shares.
    pub tallied: Tallied,
    /// Medians of time and cost with their intervals, where they are kept.
    pub medians: Vec<Option<(f64, Option<Interval>)>>,
}

impl KeyGroup {
    /// The mean of a metric by its column name.
    pub fn mean(&self, metric: &str) -> Option<&Mean> {
        self.tallied.mean(metric)
    }

    /// The median of a metric by its column name, and its 95 % confidence interval.
    pub fn median(&self, metric: &str) -> Option<(f64, Option<Interval>)> {
        let index = WITH_MEDIAN.iter().position(|name| *name == metric)?;
        *self.medians.get(index)?
    }
}

/// A finished aggregation.
#[derive(Debug)]
pub struct KeyTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// By the columns, from left to right.
    pub groups: Vec<KeyGroup>,
    /// Columns that no case with a result has a cell of: axes that there are not.
    pub empty_axes: Vec<String>,
}

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

/// Groups in the order in which they came.
struct Groups {
    by: Arc<KeyColumns>,
    names: Names,
    index_of: HashMap<Box<[Cell]>, usize>,
    groups: Vec<Counts>,
    /// The key of the record at hand.
    scratch: Vec<Cell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Cell {
    Empty,
    /// Number of a name.
    Name(u32),
    Number(u64),
}

/// Names by number, in the order in which they came.
#[derive(Default)]
struct Names {
    number_of: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Names {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.number_of.get(text) {
            return *known;
        }
        let new = self.texts.len() as u32;
        self.number_of.insert(text.to_owned(), new);
        self.texts.push(text.to_owned());
        new
    }
}

struct Counts {
    /// The one setting, workload, policy, objective and strategy of all its cases.
    only: Option<[u32; 5]>,
    tally: Tally,
    /// As of [`WITH_MEDIAN`], or none.
    medians: Vec<RunningMedian>,
}

impl Groups {
    fn new(by: Arc<KeyColumns>) -> Groups {
        Groups {
            by,
            names: Names::default(),
            index_of: HashMap::new(),
            groups: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The group of the key at hand.
    fn group(&mut self, only: [u32; 5], most: usize) -> io::Result<&mut Counts> {
        let index = match self.index_of.get(&self.scratch[..]) {
            Some(index) => *index,
            None if self.groups.len() >= most => {
                let columns: Vec<&str> = self.by.columns.iter().map(|c| &*c.name).collect();
                return Err(io::Error::other(format!(
                    "there are more than {most} groups of {}; ask for fewer columns",
                    columns.join(", ")
                )));
            }
            None => {
                let index = self.groups.len();
                self.index_of.insert(self.scratch.as_slice().into(), index);
                self.groups.push(Counts {
                    only: Some(only),
                    tally: Tally::default(),
                    medians: match self.by.with_medians {
                        true => vec![RunningMedian::new(); WITH_MEDIAN.len()],
                        false => Vec::new(),
                    },
                });
                index
            }
        };
        let group = &mut self.groups[index];
        group.only = group.only.filter(|own| *own == only);
        Ok(group)
    }

    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let names = &mut self.names;
        let only = [
            record.setting,
            record.workload,
            record.pricing,
            record.objective,
            record.strategy,
        ]
        .map(|name| names.number(name));
        self.scratch.clear();
        for column in &self.by.columns {
            let value = match &column.of {
                Of::Column(of) => of(record),
                Of::Axis(of, axis) => of(record, axis).map_or(Value::Empty, Value::Text),
            };
            self.scratch.push(match (value.text(), value.count()) {
                (Some(text), _) => Cell::Name(names.number(text)),
                (None, Some(number)) => Cell::Number(number),
                (None, None) => Cell::Empty,
            });
        }
        let group = self.group(only, usize::MAX)?;
        group.tally.take(record, |_, _| {});
        for (median, value) in (group.medians.iter_mut()).zip([record.time_h, record.cost_usd]) {
            if let Some(value) = value {
                median.add(value);
            }
        }
        Ok(())
    }

    /// Takes in the groups of records that follow.
    fn merge(&mut self, part: Groups, most: usize) -> io::Result<()> {
        // Each name has its number by where it came first.
        let texts = part.names.texts.iter();
        let numbers: Vec<u32> = texts.map(|text| self.names.number(text)).collect();
        let mut keys: Vec<_> = part.index_of.into_iter().collect();
        keys.sort_unstable_by_key(|(_, index)| *index);
        for ((key, _), counts) in keys.into_iter().zip(part.groups) {
            self.scratch.clear();
            self.scratch.extend(key.iter().map(|cell| match cell {
                Cell::Name(number) => Cell::Name(numbers[*number as usize]),
                other => *other,
            }));
            let only = (counts.only).map(|only| only.map(|number| numbers[number as usize]));
            // More than one name is none of them.
            let group = self.group(only.unwrap_or([u32::MAX; 5]), most)?;
            group.tally.merge(&counts.tally);
            for (own, other) in group.medians.iter_mut().zip(&counts.medians) {
                own.merge(other);
            }
            group.only = group.only.filter(|_| only.is_some());
        }
        Ok(())
    }

    /// All groups, in order.
    fn finish(mut self) -> KeyTable {
        let texts = &self.names.texts;
        let mut keys: Vec<(Box<[Cell]>, usize)> = self.index_of.into_iter().collect();
        let order = |(a, _): &(Box<[Cell]>, usize), (b, _): &(Box<[Cell]>, usize)| {
            let cells = a.iter().zip(b).zip(&self.by.columns);
            let differing = cells.map(|((a, b), column)| match (a, b) {
                (Cell::Name(a), Cell::Name(b)) => {
                    let (one, other) = (&texts[*a as usize], &texts[*b as usize]);
                    match column.order {
                        Order::Came => a.cmp(b),
                        Order::Alphabet => one.cmp(other),
                        Order::Axis => by_number(one, other),
                    }
                }
                _ => a.cmp(b),
            });
            differing.fold(Ordering::Equal, Ordering::then)
        };
        keys.sort_unstable_by(order);
        let empty_axes = (self.by.columns.iter().enumerate())
            .filter(|(place, column)| {
                let is_axis = matches!(column.of, Of::Axis(..));
                is_axis && keys.iter().all(|(key, _)| key[*place] == Cell::Empty)
            })
            .map(|(_, column)| column.name.to_string())
            .collect();
        let groups = (keys.iter())
            .map(|(key, index)| {
                let cells = key.iter().map(|cell| match cell {
                    Cell::Empty => String::new(),
                    Cell::Name(number) => texts[*number as usize].clone(),
                    Cell::Number(number) => number.to_string(),
                });
                let key = cells.collect();
                let group = &mut self.groups[*index];
                let one_case = group.only.is_some();
                let median = |running: &mut RunningMedian| {
                    let interval = running.interval().filter(|_| one_case);
                    Some((running.median()?, interval))
                };
                KeyGroup {
                    key,
                    tallied: group.tally.tallied(one_case),
                    medians: group.medians.iter_mut().map(median).collect(),
                }
            })
            .collect();
        KeyTable {
            columns: (self.by.columns.iter())
                .map(|column| column.name.to_string())
                .collect(),
            groups,
            empty_axes,
        }
    }
}

/// Numbers ascending, then text by the alphabet.
fn by_number(one: &str, other: &str) -> Ordering {
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite());
    match (number(one), number(other)) {
        (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| one.cmp(other)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

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
        let groups = &self.groups;
        groups.index_of.iter().map(move |(key, index)| {
            let name = match key[column] {
                Cell::Name(number) => &*groups.names.texts[number as usize],
                Cell::Empty | Cell::Number(_) => "",
            };
            let group = &groups.groups[*index];
            (name, group.tally.tallied(group.only.is_some()))
        })
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
