//! Groups of records with equal keys, and what they come to.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::columns::Value;
use super::key_columns::{KeyColumns, Of, Order, WITH_MEDIAN};
use super::record::Record;
use super::tally::{Mean, Tallied, Tally};
use scavsim_base::stats::{Interval, RunningMedian};

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

/// Groups in the order in which they came.
pub(super) struct Groups {
    pub(super) by: Arc<KeyColumns>,
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
    pub(super) fn new(by: Arc<KeyColumns>) -> Groups {
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

    pub(super) fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
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
    pub(super) fn merge(&mut self, part: Groups, most: usize) -> io::Result<()> {
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

    /// What groups come to so far, in no order, each with its name in one of the columns.
    pub(super) fn tallied_by(&self, column: usize) -> impl Iterator<Item = (&str, Tallied)> {
        self.index_of.iter().map(move |(key, index)| {
            let name = match key[column] {
                Cell::Name(number) => &*self.names.texts[number as usize],
                Cell::Empty | Cell::Number(_) => "",
            };
            let group = &self.groups[*index];
            (name, group.tally.tallied(group.only.is_some()))
        })
    }

    /// All groups, in order.
    pub(super) fn finish(mut self) -> KeyTable {
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
