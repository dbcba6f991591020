//! Groups of a finished summary, in order.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::chosen::Chosen;
use super::key_columns::{Cell, CellSource, KeyColumns, Order, OrderedNumber, WITH_MEDIAN};
use super::metrics::METRICS;
use super::record_axes::OwnedAxes;
use super::summary_part::{Choices, Identity, OwnedCell};
use super::tally::{GroupSummary, Mean};
use scavsim_base::stats::Interval;

/// The replicas of one (setting, workload, pricing, objective, strategy).
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Empty where no key holds several values.
    pub setting: String,
    pub workload: String,
    pub pricing: String,
    pub objective: String,
    pub strategy: String,
    /// The most frequent choice; of several, the first seen.
    pub choice: Option<Chosen>,
    /// `measured`, `interpolated` or `extrapolated`; `None` without a choice.
    pub provenance: Option<String>,
    pub choice_share: f64,
    /// Reasons of failures with their counts; of many, the first `MOST_REASONS`.
    pub reasons: Vec<(String, u64)>,
    pub oracle: Option<Chosen>,
    /// Values of swept axes that all replicas have in common.
    pub axes: OwnedAxes,
    pub tallied: GroupSummary,
    /// One per entry of [`METRICS`]; `None` where no replica has the figure or it is not kept.
    pub medians: Vec<Option<f64>>,
}

impl Group {
    pub fn mean(&self, metric: &str) -> Option<&Mean> {
        self.tallied.mean(metric)
    }

    pub fn median(&self, metric: &str) -> Option<f64> {
        let index = METRICS.iter().position(|m| m.name == metric)?;
        let kept = self.tallied.kept;
        debug_assert!(kept.median(index).is_some(), "{metric} is not kept");
        self.medians[index]
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct KeyGroup {
    /// A cell per column; empty where the records have none.
    pub key: Vec<String>,
    pub tallied: GroupSummary,
    /// Medians of time and cost with their intervals, where kept.
    pub medians: Vec<Option<(f64, Option<Interval>)>>,
}

impl KeyGroup {
    pub fn mean(&self, metric: &str) -> Option<&Mean> {
        self.tallied.mean(metric)
    }

    /// The median of a metric by column name, with its 95 % confidence interval.
    pub fn median(&self, metric: &str) -> Option<(f64, Option<Interval>)> {
        let index = WITH_MEDIAN.iter().position(|name| *name == metric)?;
        *self.medians.get(index)?
    }
}

#[derive(Debug)]
pub struct KeyTable {
    pub columns: Vec<String>,
    pub groups: Vec<KeyGroup>,
    /// Columns without a cell in any result: axes that do not exist.
    pub empty_axes: Vec<String>,
}

#[derive(Debug)]
pub enum Aggregated {
    /// By setting, workload, pricing, objective and strategy, each in the scenario's order.
    Usual(Vec<Group>),
    By(KeyTable),
}

pub(super) struct ClosedGroup {
    pub(super) key: Vec<OwnedCell>,
    pub(super) identity: Identity,
    pub(super) tallied: GroupSummary,
    pub(super) medians: Vec<Option<(f64, Option<Interval>)>>,
    pub(super) choices: Choices,
    pub(super) axes: OwnedAxes,
}

/// Groups of the usual summary in the scenario's order, from that of appearance: strategy by strategy.
pub(super) fn usual(closed: Vec<ClosedGroup>) -> Vec<Group> {
    let (mut workload, mut place) = (0, 0);
    let mut numbered: Vec<((usize, usize), Group)> = Vec::with_capacity(closed.len());
    for group in closed.into_iter().map(Group::from) {
        if let Some((_, last)) = numbered.last() {
            let is_other = last.workload != group.workload || last.setting != group.setting;
            workload += usize::from(is_other);
            // Places among policies and objectives count anew with every strategy.
            let is_first = is_other || last.strategy != group.strategy;
            place = if is_first { 0 } else { place + 1 };
        }
        numbered.push(((workload, place), group));
    }
    // Stable: strategies stay in the order in which they came.
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, group)| group).collect()
}

impl From<ClosedGroup> for Group {
    fn from(closed: ClosedGroup) -> Group {
        let Choices {
            oracle,
            chosen,
            reasons,
        } = closed.choices;
        let (mut most, mut choice, mut provenance) = (0, None, None);
        for (chosen, of, count) in chosen {
            if count > most {
                (most, choice, provenance) = (count, Some(chosen), of);
            }
        }
        let [setting, workload, pricing, objective, strategy] = closed.identity;
        let medians = closed.medians.into_iter();
        Group {
            setting,
            workload,
            pricing,
            objective,
            strategy,
            choice,
            provenance,
            choice_share: most as f64 / closed.tallied.cases as f64,
            reasons,
            oracle,
            axes: closed.axes,
            tallied: closed.tallied,
            medians: medians.map(|median| Some(median?.0)).collect(),
        }
    }
}

pub(super) fn table(by: &KeyColumns, closed: Vec<ClosedGroup>) -> KeyTable {
    let is_empty = |at: usize| closed.iter().all(|group| group.key[at] == OwnedCell::Empty);
    let empty_axes = (by.columns.iter().enumerate())
        .filter(|(at, column)| !matches!(column.of, CellSource::Column(_)) && is_empty(*at))
        .map(|(_, column)| column.name.to_string())
        .collect();
    let order = order(by, &closed);
    let mut closed: Vec<Option<ClosedGroup>> = closed.into_iter().map(Some).collect();
    let group = |at: usize| {
        let ClosedGroup {
            key,
            tallied,
            medians,
            ..
        } = closed[at].take()?;
        Some(KeyGroup {
            key: key.iter().map(OwnedCell::text).collect(),
            tallied,
            medians,
        })
    };
    KeyTable {
        columns: (by.columns.iter())
            .map(|column| column.name.to_string())
            .collect(),
        groups: order.into_iter().filter_map(group).collect(),
        empty_axes,
    }
}

#[derive(Debug, Clone, Copy)]
enum Rank<'c> {
    Empty,
    Came(usize),
    Alphabet(&'c str),
    Axis(&'c str),
    Number(u64),
    Figure(OrderedNumber),
}

impl Rank<'_> {
    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Rank::Came(a), Rank::Came(b)) => a.cmp(&b),
            (Rank::Alphabet(a), Rank::Alphabet(b)) => a.cmp(b),
            (Rank::Axis(a), Rank::Axis(b)) => by_number(a, b),
            (Rank::Number(a), Rank::Number(b)) => a.cmp(&b),
            (Rank::Figure(a), Rank::Figure(b)) => a.cmp(&b),
            // Nothing, names, numbers.
            _ => self.kind().cmp(&other.kind()),
        }
    }

    fn kind(self) -> u8 {
        match self {
            Rank::Empty => 0,
            Rank::Came(_) | Rank::Alphabet(_) | Rank::Axis(_) => 1,
            Rank::Number(_) | Rank::Figure(_) => 2,
        }
    }
}

fn order(by: &KeyColumns, closed: &[ClosedGroup]) -> Vec<usize> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut ranks: Vec<(Vec<Rank<'_>>, usize)> = Vec::with_capacity(closed.len());
    for (at, group) in closed.iter().enumerate() {
        let mut number = |name| {
            let next = numbers.len();
            *numbers.entry(name).or_insert(next)
        };
        group.identity.iter().for_each(|name| {
            number(name);
        });
        let cells = group.key.iter().zip(&by.columns);
        let ranks_of = cells.map(|(cell, column)| match cell.borrowed() {
            Cell::Empty => Rank::Empty,
            Cell::Number(number) => Rank::Number(number),
            Cell::Figure(figure) => Rank::Figure(figure),
            Cell::Name(name) => {
                let number = number(name);
                match column.order {
                    Order::Came => Rank::Came(number),
                    Order::Alphabet => Rank::Alphabet(name),
                    Order::Axis => Rank::Axis(name),
                }
            }
        });
        ranks.push((ranks_of.collect(), at));
    }
    ranks.sort_by(|(a, _), (b, _)| {
        let cells = a.iter().zip(b).map(|(a, b)| a.compare(*b));
        cells.fold(Ordering::Equal, Ordering::then)
    });
    ranks.into_iter().map(|(_, at)| at).collect()
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
