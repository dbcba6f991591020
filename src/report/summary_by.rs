//! The summary by columns of one's choice, in all its forms.

use std::io;

use serde_json::{Map, Value, json};

use super::summary_table::{hours_text, percent, signed, usd_text};
use super::text_table;
use crate::experiment::KeyTable;
use crate::experiment::summary::METRICS;

/// The header of `summary.csv`.
pub fn header(columns: &[String]) -> Vec<String> {
    let mut header = columns.to_vec();
    header.extend(["cases", "failed", "right"].map(str::to_owned));
    for metric in METRICS.iter() {
        header.extend(["mean", "low95", "high95", "count"].map(|p| format!("{}_{p}", metric.name)));
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
        row.extend([
            group.cases.to_string(),
            group.failed.to_string(),
            group.right.to_string(),
        ]);
        for mean in &group.means {
            row.extend(match mean {
                None => Default::default(),
                Some(m) => {
                    let end = |side: f64| {
                        let half = m.half_interval;
                        half.map_or(String::new(), |half| (m.mean + side * half).to_string())
                    };
                    [m.mean.to_string(), end(-1.0), end(1.0), m.count.to_string()]
                }
            });
        }
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
        let metrics: Map<String, Value> = (METRICS.iter().zip(&group.means))
            .filter_map(|(metric, mean)| {
                let m = mean.as_ref()?;
                let interval = m.half_interval.map(|h| [m.mean - h, m.mean + h]);
                let value = json!({ "mean": m.mean, "interval95": interval, "count": m.count });
                Some((metric.name.to_owned(), value))
            })
            .collect();
        json!({
            "key": key,
            "cases": group.cases,
            "failed": group.failed,
            "right": group.right,
            "metrics": metrics,
        })
    });
    let groups: Vec<Value> = groups.collect();
    json!({ "schema": 1, "scenario": scenario, "by": table.columns, "groups": groups })
}

/// For people: a line per group.
pub fn table(table: &KeyTable) -> String {
    let mut header: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let left: Vec<usize> = (0..header.len()).collect();
    header.extend(["cases", "right", "regret t / $", "search", "net t / $"]);
    let rows: Vec<Vec<String>> = (table.groups.iter())
        .map(|group| {
            let mut row = group.key.clone();
            row.push(match group.failed {
                0 => group.cases.to_string(),
                failed => format!("{} ({failed} failed)", group.cases),
            });
            row.push(format!("{:.0} %", 100.0 * group.right));
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
                let percent = |m: &crate::experiment::Mean| percent(m.mean, m.half_interval);
                format!("{} / {} %", percent(t), percent(c))
            }));
            row
        })
        .collect();
    text_table::render(&header, &left, &rows)
}
