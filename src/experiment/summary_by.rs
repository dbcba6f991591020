//! Aggregates over any columns of the records that are keys, computed as records pass by: memory goes
//! with the number of groups, not of records.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io;

use super::record::{Record, Status};
use super::run::Sink;
use super::summary::METRICS;
use crate::input::closest;
use crate::stats::Welford;

/// More groups than this would rather be read from the records themselves.
const MOST_GROUPS: usize = 1_000_000;

/// A column of the records that may tell groups apart.
#[derive(Debug)]
pub struct KeyColumn {
    /// Its name in `records.csv`.
    pub name: &'static str,
    of: Of,
}

/// What it holds, and with it the order of its groups.
#[derive(Debug)]
enum Of {
    /// Names of the scenario, in its order.
    Name(for<'r> fn(&'r Record<'_>) -> &'r str),
    /// Text, by the alphabet.
    Text(for<'r> fn(&'r Record<'_>) -> Option<&'r str>),
    /// Whole numbers, ascending.
    Number(fn(&Record<'_>) -> Option<u64>),
}

macro_rules! key_columns {
    ($($kind:ident $name:ident,)*) => {
        /// All columns that can be asked for, in the order of `records.csv`.
        pub static KEY_COLUMNS: &[KeyColumn] = &[
            $(KeyColumn { name: stringify!($name), of: key_columns!(@ $kind $name) },)*
        ];
    };
    (@ name $name:ident) => { Of::Name(|r| r.$name) };
    (@ text $name:ident) => { Of::Text(|r| r.$name) };
    (@ number $name:ident) => { Of::Number(|r| r.$name.map(u64::from)) };
    (@ replica $name:ident) => { Of::Number(|r| Some(r.$name)) };
    (@ status $name:ident) => { Of::Text(|r| Some(r.$name.name())) };
}

key_columns! {
    name workload, name pricing, name objective, name strategy,
    replica replica,
    text chosen_vm, number chosen_workers, number chosen_batch,
    text oracle_vm, number oracle_workers, number oracle_batch,
    text provenance, status status,
}

/// What tells the clusters of a run apart for people, all in the order in which they come.
static CLUSTER_COLUMNS: [KeyColumn; 9] = [
    KeyColumn {
        name: "workload",
        of: Of::Name(|r| r.workload),
    },
    KeyColumn {
        name: "pricing",
        of: Of::Name(|r| r.pricing),
    },
    KeyColumn {
        name: "objective",
        of: Of::Name(|r| r.objective),
    },
    KeyColumn {
        name: "strategy",
        of: Of::Name(|r| r.strategy),
    },
    // Of a case without a result nothing is known but what it was compared with.
    KeyColumn {
        name: "cluster",
        of: Of::Name(|r| r.chosen_vm.or(r.oracle_vm).unwrap_or("none")),
    },
    KeyColumn {
        name: "workers",
        of: Of::Number(|r| r.chosen_workers.or(r.oracle_workers).map(u64::from)),
    },
    KeyColumn {
        name: "batch",
        of: Of::Number(|r| r.chosen_batch.or(r.oracle_batch).map(u64::from)),
    },
    KeyColumn {
        name: "fidelity",
        of: Of::Name(|r| r.fidelity.unwrap_or("")),
    },
    KeyColumn {
        name: "reason",
        of: Of::Name(|r| r.reason),
    },
];

/// Columns to group by, each once.
#[derive(Debug, Clone)]
pub struct KeyColumns(pub Vec<&'static KeyColumn>);

impl KeyColumns {
    /// Those of a table with a line per cluster: `workload`, `pricing`, `objective`, `strategy`, `cluster`, `workers`,
    /// `batch`, `fidelity`, `reason`.
    pub fn of_clusters() -> KeyColumns {
        KeyColumns(CLUSTER_COLUMNS.iter().collect())
    }
}

impl std::str::FromStr for KeyColumns {
    type Err = String;

    /// Reads names with commas between them.
    fn from_str(text: &str) -> Result<KeyColumns, String> {
        let names = || KEY_COLUMNS.iter().map(|column| column.name);
        let mut columns: Vec<&'static KeyColumn> = Vec::new();
        for word in text.split(',') {
            let Some(column) = KEY_COLUMNS.iter().find(|column| column.name == word) else {
                let near = closest(word, names()).map(|near| format!("did you mean `{near}`? "));
                let legal: Vec<&str> = names().collect();
                return Err(format!(
                    "unknown column `{word}`; {}legal here: {}",
                    near.unwrap_or_default(),
                    legal.join(", ")
                ));
            };
            if columns.iter().any(|before| before.name == column.name) {
                return Err(format!("column `{word}` is there twice; name each once"));
            }
            columns.push(column);
        }
        Ok(KeyColumns(columns))
    }
}

/// Mean and spread of one metric over the cases of a group that have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Mean.
    pub mean: f64,
    /// Half the 95 % confidence interval of the mean; `None` with a single value, and where cases
    /// share their luck or differ by more than luck.
    pub half_interval: Option<f64>,
    /// Number of values.
    pub count: u64,
}

/// The cases that have the same key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyGroup {
    /// A cell per column; empty where the records have none.
    pub key: Vec<String>,
    /// Records seen.
    pub cases: u64,
    /// Of these, without a result.
    pub failed: u64,
    /// Share of all in which the strategy chose what the oracle chose.
    pub right: f64,
    /// One per entry of [`METRICS`]; `None` where no case has the figure.
    pub means: Vec<Option<Mean>>,
}

impl KeyGroup {
    /// The mean of a metric by its column name.
    pub fn mean(&self, metric: &str) -> Option<&Mean> {
        let index = METRICS.iter().position(|m| m.name == metric)?;
        self.means[index].as_ref()
    }
}

/// A finished aggregation.
#[derive(Debug)]
pub struct KeyTable {
    /// Names of the columns.
    pub columns: Vec<&'static str>,
    /// By the columns, from left to right.
    pub groups: Vec<KeyGroup>,
}

/// Collects groups from records, in any order that is always the same.
pub struct SummaryBy {
    columns: Vec<&'static KeyColumn>,
    most_groups: usize,
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
    /// The one workload, policy, objective and strategy of all its cases.
    only: Option<[u32; 4]>,
    cases: u64,
    failed: u64,
    right: u64,
    values: Box<[Welford]>,
}

impl SummaryBy {
    /// No records yet.
    pub fn new(columns: KeyColumns) -> SummaryBy {
        SummaryBy {
            columns: columns.0,
            most_groups: MOST_GROUPS,
            names: Names::default(),
            index_of: HashMap::new(),
            groups: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// All groups, in order.
    pub fn finish(self) -> KeyTable {
        let texts = &self.names.texts;
        let mut keys: Vec<(Box<[Cell]>, usize)> = self.index_of.into_iter().collect();
        let order = |(a, _): &(Box<[Cell]>, usize), (b, _): &(Box<[Cell]>, usize)| {
            let cells = a.iter().zip(b).zip(&self.columns);
            let differing = cells.map(|((a, b), column)| match (a, b, &column.of) {
                (Cell::Name(a), Cell::Name(b), Of::Text(_)) => {
                    texts[*a as usize].cmp(&texts[*b as usize])
                }
                _ => a.cmp(b),
            });
            differing.fold(Ordering::Equal, Ordering::then)
        };
        keys.sort_unstable_by(order);
        let groups = (keys.iter())
            .map(|(key, index)| {
                let cells = key.iter().map(|cell| match cell {
                    Cell::Empty => String::new(),
                    Cell::Name(number) => texts[*number as usize].clone(),
                    Cell::Number(number) => number.to_string(),
                });
                self.groups[*index].group(cells.collect())
            })
            .collect();
        KeyTable {
            columns: self.columns.iter().map(|column| column.name).collect(),
            groups,
        }
    }
}

impl Counts {
    fn group(&self, key: Vec<String>) -> KeyGroup {
        let mean = |values: &Welford| Mean {
            mean: values.mean(),
            half_interval: self.only.and_then(|_| values.half_interval()),
            count: values.count(),
        };
        KeyGroup {
            key,
            cases: self.cases,
            failed: self.failed,
            right: self.right as f64 / self.cases as f64,
            means: (self.values.iter())
                .map(|values| (values.count() > 0).then(|| mean(values)))
                .collect(),
        }
    }
}

impl Sink for SummaryBy {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let names = &mut self.names;
        let of = [
            record.workload,
            record.pricing,
            record.objective,
            record.strategy,
        ]
        .map(|name| names.number(name));
        self.scratch.clear();
        for column in &self.columns {
            let cell = match column.of {
                Of::Name(of) => Cell::Name(names.number(of(record))),
                Of::Text(of) => of(record).map_or(Cell::Empty, |t| Cell::Name(names.number(t))),
                Of::Number(of) => of(record).map_or(Cell::Empty, Cell::Number),
            };
            self.scratch.push(cell);
        }
        let index = match self.index_of.get(&self.scratch[..]) {
            Some(index) => *index,
            None if self.groups.len() >= self.most_groups => {
                let columns: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
                return Err(io::Error::other(format!(
                    "there are more than {} groups of {}; ask for fewer columns",
                    self.most_groups,
                    columns.join(", ")
                )));
            }
            None => {
                let index = self.groups.len();
                self.index_of.insert(self.scratch.as_slice().into(), index);
                self.groups.push(Counts {
                    only: Some(of),
                    cases: 0,
                    failed: 0,
                    right: 0,
                    values: vec![Welford::default(); METRICS.len()].into(),
                });
                index
            }
        };
        let group = &mut self.groups[index];
        group.only = group.only.filter(|only| *only == of);
        group.cases += 1;
        group.failed += u64::from(record.status == Status::Failed);
        group.right += u64::from(record.is_right());
        for (values, metric) in group.values.iter_mut().zip(METRICS) {
            if let Some(value) = (metric.of)(record) {
                values.add(value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str) -> KeyColumns {
        text.parse().expect("legal columns")
    }

    #[test]
    fn more_groups_than_memory_is_meant_for_are_refused() {
        let mut summary = SummaryBy::new(columns("replica,strategy"));
        summary.most_groups = 2;
        let mut record = Record::default();
        for replica in [0, 1, 1, 0] {
            record.replica = replica;
            summary.take(&record).expect("two groups");
        }
        record.replica = 2;
        let error = summary.take(&record).expect_err("a third");
        let expected = "more than 2 groups of replica, strategy; ask for fewer columns";
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn names_go_by_the_scenario_texts_by_the_alphabet_numbers_by_size_and_nothing_first() {
        let mut summary = SummaryBy::new(columns("strategy,chosen_vm,chosen_workers"));
        for (strategy, vm, workers) in [
            ("partial", Some("b"), Some(12)),
            ("partial", Some("b"), Some(8)),
            ("full", Some("b"), None),
            ("full", None, None),
            ("full", Some("a"), Some(100)),
        ] {
            let record = Record {
                strategy,
                chosen_vm: vm,
                chosen_workers: workers,
                ..Record::default()
            };
            summary.take(&record).expect("few groups");
        }
        let keys: Vec<String> = (summary.finish().groups.iter())
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
}
