//! Columns to group records by.

use std::borrow::Cow;

use super::columns::{Kind, Role, Value};
use super::metrics::KeptMetrics;
use super::record::Column;
use super::record::{COLUMNS, Record};
use super::record_axes::AXIS;
use scavsim_data::space;
use scavsim_read::input::closest;

/// A column to group by: one of the records, one axis out of those that share a column, or one that the scenario sweeps.
#[derive(Debug, Clone)]
pub struct KeyColumn {
    /// Name of the column, in `records.csv`, with that of an axis as `axis.NAME`, or as `chosen.AXIS` or `oracle.AXIS`.
    pub name: Cow<'static, str>,
    pub(super) order: Order,
    pub(super) of: CellSource,
}

/// The order of its groups; that without a cell comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Records' order, the scenario's.
    Came,
    Alphabet,
    /// Numbers ascending, then text by the alphabet.
    Axis,
}

#[derive(Debug, Clone)]
pub(super) enum CellSource {
    Column(for<'r> fn(&'r Record<'_>) -> Value<'r>),
    Axis(OnAxis, String),
    /// An axis that the scenario sweeps.
    Swept(String),
}

pub(super) type OnAxis = for<'r> fn(&'r Record<'_>, &str) -> Option<&'r str>;

pub fn key_columns() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| column.role == Role::Key)
}

const OWN_COLUMNS: [&str; 3] = [space::VM, space::WORKERS, space::BATCH];

/// The choices behind `chosen.AXIS` and `oracle.AXIS`.
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
            of: CellSource::Column(of),
        }
    }

    fn named(word: &str) -> Option<KeyColumn> {
        if let Some(column) = key_columns().find(|column| column.name == word) {
            return Some(KeyColumn::of_records(column));
        }
        if let Some(axis) = word.strip_prefix(AXIS).filter(|axis| !axis.is_empty()) {
            return Some(KeyColumn {
                name: Cow::Owned(word.to_owned()),
                order: Order::Axis,
                of: CellSource::Swept(axis.to_owned()),
            });
        }
        let (side, axis) = word.split_once('.')?;
        let (_, of) = SIDES.into_iter().find(|(name, _)| *name == side)?;
        if axis.is_empty() || OWN_COLUMNS.contains(&axis) {
            return None;
        }
        Some(KeyColumn {
            name: Cow::Owned(word.to_owned()),
            order: Order::Axis,
            of: CellSource::Axis(of, axis.to_owned()),
        })
    }
}

#[derive(Debug, Clone)]
pub struct KeyColumns {
    pub columns: Vec<KeyColumn>,
    pub(super) keeps: Keeps,
    pub(super) kept: &'static KeptMetrics,
    /// Whether replicas 2 r and 2 r + 1 share their luck.
    pub(super) are_paired: bool,
}

/// What a group keeps beside counts, means and shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Nothing: there may be many groups.
    Sums,
    TwoMedians,
    /// Medians of all metrics, choices, and reasons of failures. With `across_vms`, choices are told apart by workers and batch alone.
    Choices {
        across_vms: bool,
    },
}

/// Metrics that have a median, where two are kept.
pub(super) const WITH_MEDIAN: [&str; 2] = ["time_h", "cost_usd"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Cell<'c> {
    Empty,
    Name(&'c str),
    Number(u64),
    Figure(OrderedNumber),
}

/// A finite number that has an order and a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct OrderedNumber(u64);

const SIGN: u64 = 1 << 63;

impl OrderedNumber {
    fn new(number: f64) -> OrderedNumber {
        let bits = number.to_bits();
        OrderedNumber(if bits & SIGN == 0 { bits | SIGN } else { !bits })
    }

    pub(super) fn get(self) -> f64 {
        f64::from_bits(if self.0 & SIGN == 0 {
            !self.0
        } else {
            self.0 ^ SIGN
        })
    }
}

impl KeyColumn {
    pub(super) fn cell<'r>(&self, record: &'r Record<'_>) -> Cell<'r> {
        let value = match &self.of {
            CellSource::Column(of) => of(record),
            CellSource::Axis(of, axis) => of(record, axis).map_or(Value::Empty, Value::Text),
            CellSource::Swept(axis) => {
                let value = record.axes.value(axis);
                return value.map_or(Cell::Empty, |value| Cell::Figure(OrderedNumber::new(value)));
            }
        };
        match (value.text(), value.count()) {
            (Some(text), _) => Cell::Name(text),
            (None, Some(number)) => Cell::Number(number),
            (None, None) => Cell::Empty,
        }
    }
}

impl KeyColumns {
    fn new(columns: Vec<KeyColumn>, keeps: Keeps) -> KeyColumns {
        KeyColumns {
            columns,
            keeps,
            kept: KeptMetrics::all(),
            are_paired: false,
        }
    }

    /// Keys of the usual summary: `setting`, `workload`, `pricing`, `objective`, `strategy`.
    pub(super) fn usual(across_vms: bool) -> KeyColumns {
        KeyColumns::new(of_identity(), Keeps::Choices { across_vms })
    }

    /// Keys of groups whose cases differ by luck alone: `objective`, `setting`, `workload`, `pricing`, `strategy`, `oracle_vm`.
    pub fn of_one_luck() -> KeyColumns {
        let mut columns = of_identity();
        columns[..=3].rotate_right(1);
        columns.push(column_by_appearance("oracle_vm", |r| {
            r.oracle_vm.map_or(Value::Empty, Value::Text)
        }));
        KeyColumns::new(columns, Keeps::Sums)
    }

    /// Place of `objective` in [`of_one_luck`](KeyColumns::of_one_luck).
    pub const OBJECTIVE: usize = 0;

    /// Keys of a table with a line per cluster, all in the order of appearance: `setting`, `workload`, `pricing`, `objective`,
    /// `strategy`, `cluster`, `workers`, `batch`, `fidelity`, `reason`.
    pub fn of_clusters() -> KeyColumns {
        let mut columns = of_identity();
        columns.extend([
            // Of a case without a result nothing is known but what it was compared with.
            column_by_appearance("cluster", |r| {
                Value::Text(r.chosen_vm.or(r.oracle_vm).unwrap_or("none"))
            }),
            column_by_appearance("workers", |r| {
                whole_value(r.chosen_workers.or(r.oracle_workers))
            }),
            column_by_appearance("batch", |r| whole_value(r.chosen_batch.or(r.oracle_batch))),
            column_by_appearance("fidelity", |r| Value::Text(r.fidelity.unwrap_or(""))),
            column_by_appearance("reason", |r| Value::Text(&r.reason)),
        ]);
        KeyColumns::new(columns, Keeps::TwoMedians)
    }
}

/// Keys of a group whose cases differ by luck alone, but for the VM type of the oracle.
fn of_identity() -> Vec<KeyColumn> {
    vec![
        column_by_appearance("setting", |r| Value::Text(r.setting)),
        column_by_appearance("workload", |r| Value::Text(r.workload)),
        column_by_appearance("pricing", |r| Value::Text(r.pricing)),
        column_by_appearance("objective", |r| Value::Text(r.objective)),
        column_by_appearance("strategy", |r| Value::Text(r.strategy)),
    ]
}

fn column_by_appearance(
    name: &'static str,
    of: for<'r> fn(&'r Record<'_>) -> Value<'r>,
) -> KeyColumn {
    KeyColumn::new(name, Order::Came, of)
}

fn whole_value(number: Option<u32>) -> Value<'static> {
    number.map_or(Value::Empty, Value::Whole)
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongColumns {
    #[error(
        "unknown column `{name}`; {}allowed here: {legal}, a swept axis as `axis.KEY`, and an axis of `chosen_other` or `oracle_other` as \
         `chosen.AXIS` or `oracle.AXIS`",
        .near.map_or(String::new(), |near| format!("did you mean `{near}`? "))
    )]
    Unknown {
        name: String,
        near: Option<&'static str>,
        legal: String,
    },
    #[error("column `{0}` is there twice; name each once")]
    Twice(String),
}

impl std::str::FromStr for KeyColumns {
    type Err = WrongColumns;

    /// Reads names separated by commas.
    fn from_str(text: &str) -> Result<KeyColumns, WrongColumns> {
        let names = || key_columns().map(|column| column.name);
        let mut columns: Vec<KeyColumn> = Vec::new();
        for word in text.split(',') {
            let Some(column) = KeyColumn::named(word) else {
                // `chosen.workers` is a column.
                let legal: Vec<&str> = names().collect();
                return Err(WrongColumns::Unknown {
                    name: word.to_owned(),
                    near: closest(&word.replace('.', "_"), names()),
                    legal: legal.join(", "),
                });
            };
            if columns.iter().any(|before| before.name == column.name) {
                return Err(WrongColumns::Twice(word.to_owned()));
            }
            columns.push(column);
        }
        Ok(KeyColumns::new(columns, Keeps::Sums))
    }
}
