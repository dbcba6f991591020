//! The summary by columns of one's choice, in all its forms.

use std::io;

use serde_json::{Map, Value, json};

use super::percent::{mean_percent, right, right_alone, signed, signs_in};
use super::summary_table::{hours_text, usd_text};
use super::tallied;
use scavsim_base::text::Page;
use scavsim_base::text::text_table::{self, Column};
use scavsim_lab::experiment::key_groups::KeyGroup;
use scavsim_lab::experiment::tally::METRICS;
use scavsim_lab::experiment::{KeyTable, Mean};

/// The first column behind those that groups are by.
pub const FIRST_FIGURE: &str = "cases";

/// The header of `summary.csv`.
pub fn header(columns: &[String]) -> Vec<String> {
    let mut header = columns.to_vec();
    header.extend([FIRST_FIGURE, "failed"].map(str::to_owned));
    header.extend(tallied::header());
    for metric in METRICS.iter() {
        header.extend(tallied::metric_header(metric.name, "count"));
    }
    header.extend(tallied::HOLDS.map(str::to_owned));
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
        row.extend(tallied::holds(&group.tallied));
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
pub fn table(table: &KeyTable, page: &Page) -> String {
    let cells = |cell: &dyn Fn(&KeyGroup) -> String| -> Vec<String> {
        table.groups.iter().map(cell).collect()
    };
    let key = |at: usize| cells(&|group| group.key[at].clone());
    let names = table.columns.iter().enumerate();
    let mut columns: Vec<Column<'_>> = names
        .map(|(at, name)| Column::new(name, true, 0, key(at)))
        .collect();
    columns.push(Column::new("cases", false, 0, cells(&cases)));
    let mut own = Column::new("right", false, 1, cells(&|g| right(&g.tallied)));
    own.short = Some(cells(&|g| right_alone(&g.tallied)));
    columns.push(own);
    let regret = |text: fn(&Mean) -> String| {
        cells(&|group| pair(group, ["regret_time", "regret_cost"], text))
    };
    columns.push(Column::new(
        "regret t / $",
        false,
        5,
        regret(|mean| signed(mean.mean)),
    ));
    columns.push(Column::new("search", false, 3, cells(&search)));
    let net = |text: fn(&Mean) -> String| {
        cells(&|group| pair(group, ["overhead_net_time", "overhead_net_cost"], text))
    };
    let mut own = Column::new("net t / $", false, 2, net(mean_percent));
    own.short = Some(net(|mean| signed(mean.mean)));
    columns.push(own);
    let fitted = text_table::fit(&columns, page);
    let mut text = page.bold(&fitted.header);
    for (group, line) in table.groups.iter().zip(&fitted.rows) {
        text += &match group.tallied.failed {
            0 => line.clone(),
            _ => page.failed(line),
        };
    }
    let signs: Vec<_> = signs_in(&text).collect();
    text += &page.legend(signs);
    text + &fitted.remark("95 % intervals", page)
}

fn cases(group: &KeyGroup) -> String {
    match group.tallied.failed {
        0 => group.tallied.cases.to_string(),
        failed => format!("{} ({failed} failed)", group.tallied.cases),
    }
}

/// Percent of time and of cost.
fn pair(group: &KeyGroup, metrics: [&str; 2], text: fn(&Mean) -> String) -> String {
    match metrics.map(|metric| group.mean(metric)) {
        [Some(time), Some(cost)] => format!("{} / {} %", text(time), text(cost)),
        _ => "–".to_owned(),
    }
}

fn search(group: &KeyGroup) -> String {
    match ["search_time_h", "search_cost_usd"].map(|metric| group.mean(metric)) {
        [Some(time), Some(cost)] if time.mean > 0.0 => {
            format!("{}, {}", hours_text(time.mean), usd_text(cost.mean))
        }
        [Some(_), Some(_)] => "none".to_owned(),
        _ => "–".to_owned(),
    }
}
