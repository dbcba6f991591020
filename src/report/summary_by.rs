//! The summary by columns of one's choice, in all its forms.

use std::io;

use serde_json::{Map, Value, json};

use super::percent::{mean_percent, right, signed};
use super::summary_table::{hours_text, usd_text};
use super::{tallied, text_table};
use crate::experiment::KeyTable;
use crate::experiment::tally::METRICS;

/// The header of `summary.csv`.
pub fn header(columns: &[String]) -> Vec<String> {
    let mut header = columns.to_vec();
    header.extend(["cases", "failed"].map(str::to_owned));
    header.extend(tallied::header());
    for metric in METRICS.iter() {
        header.extend(tallied::metric_header(metric.name, "count"));
    }
    header
}

/// `summary.csv`: one row per group.
///
/// # Errors
/// None in memory; the signature is that of the writer.
pub fn csv(table: &KeyTable) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header(&table.columns))?;
    for group in &table.groups {
        let mut row = group.key.clone();
        row.extend([group.tallied.cases, group.tallied.failed].map(|count| count.to_string()));
        row.extend(tallied::cells(&group.tallied));
        row.extend(tallied::metric_cells(&group.tallied, |at| {
            let mean = group.tallied.means[at];
            mean.map_or(String::new(), |mean| mean.count.to_string())
        }));
        writer.write_record(&row)?;
    }
    let bytes = (writer.into_inner()).map_err(|e| io::Error::other(e.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// For programs; `schema` counts up with every incompatible change.
pub fn json(scenario: &str, table: &KeyTable) -> Value {
    let groups = table.groups.iter().map(|group| {
        let key: Map<String, Value> = (table.columns.iter().zip(&group.key))
            .map(|(name, cell)| (name.clone(), json!(cell)))
            .collect();
        let mut value = json!({ "key": key, "cases": group.tallied.cases });
        if let Some(map) = value.as_object_mut() {
            map.extend(tallied::json(&group.tallied, None));
        }
        value
    });
    let groups: Vec<Value> = groups.collect();
    json!({ "schema": 2, "scenario": scenario, "by": table.columns, "groups": groups })
}

/// For people: a line per group.
pub fn table(table: &KeyTable) -> String {
    let mut header: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let left: Vec<usize> = (0..header.len()).collect();
    header.extend(["cases", "right", "regret t / $", "search", "net t / $"]);
    let rows: Vec<Vec<String>> = (table.groups.iter())
        .map(|group| {
            let mut row = group.key.clone();
            row.push(match group.tallied.failed {
                0 => group.tallied.cases.to_string(),
                failed => format!("{} ({failed} failed)", group.tallied.cases),
            });
            row.push(right(&group.tallied));
            let pair = |time, cost| group.mean(time).zip(group.mean(cost));
            let missing = || "–".to_owned();
            row.push(
                pair("regret_time", "regret_cost").map_or_else(missing, |(t, c)| {
                    format!("{} / {} %", signed(t.mean), signed(c.mean))
                }),
            );
            let search = pair("search_time_h", "search_cost_usd");
            row.push(search.map_or_else(missing, |(t, c)| match t.mean > 0.0 {
                true => format!("{}, {}", hours_text(t.mean), usd_text(c.mean)),
                false => "none".to_owned(),
            }));
            let net = pair("overhead_net_time", "overhead_net_cost");
            row.push(net.map_or_else(missing, |(t, c)| {
                format!("{} / {} %", mean_percent(t), mean_percent(c))
            }));
            row
        })
        .collect();
    text_table::render(&header, &left, &rows)
}
