use serde_json::Value;

use super::super::table::{Head, Table, short_number};
use crate::figure::record_digest::RecordDigest;
use scavsim_experiment::COLUMNS;
use scavsim_experiment::columns::Value as Datum;

/// Columns of the table; all others appear when a row is opened.
const SHOWN: [&str; 15] = [
    "case",
    "setting",
    "workload",
    "pricing",
    "objective",
    "strategy",
    "replica",
    "chosen_vm",
    "chosen_workers",
    "chosen_batch",
    "time_h",
    "cost_usd",
    "overhead_net_time",
    "overhead_net_cost",
    "status",
];

pub(super) fn table(gathered: &RecordDigest) -> Table {
    let records: Vec<_> = gathered.cases.iter().map(|own| own.as_record()).collect();
    let cell = |datum: Datum<'_>| match datum {
        Datum::Empty | Datum::Text("") => Value::Null,
        Datum::Count(count) => Value::from(count),
        Datum::Whole(whole) => Value::from(whole),
        Datum::Figure(figure) => short_number(figure),
        Datum::Text(text) => Value::from(text),
    };
    let rows: Vec<Vec<Value>> = (records.iter())
        .map(|record| {
            COLUMNS
                .iter()
                .map(|column| cell((column.of)(record)))
                .collect()
        })
        .collect();
    let columns: Vec<Head> = (COLUMNS.iter().enumerate())
        .map(|(at, column)| {
            let is_number = rows.iter().any(|row| row[at].is_number());
            let is_whole = rows.iter().all(|row| !row[at].is_f64());
            let unit = if column.unit.is_empty() {
                String::new()
            } else {
                format!(" ({})", column.unit)
            };
            Head {
                name: column.name.to_owned(),
                is_number,
                digits: if is_whole { 0 } else { 3 },
                is_more: !SHOWN.contains(&column.name),
                about: format!("{}{unit}", column.what),
                ..Head::default()
            }
        })
        .collect();
    let which = if gathered.is_sample() {
        format!(
            "{} of {} cases, picked by a fixed scramble of their numbers; all are in the records.",
            gathered.cases.len(),
            gathered.count
        )
    } else {
        "All cases.".to_owned()
    };
    let note = format!("{which} `scavsim trace` shows the course of one.");
    let mut table = Table {
        id: "cases",
        caption: "Cases",
        note,
        columns,
        rows,
        is_detail: true,
        ..Table::default()
    };
    table.keep_words();
    table
}
