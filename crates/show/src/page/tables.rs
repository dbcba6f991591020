//! Tables that can be sorted and filtered, and what opens behind their rows.

use serde::Serialize;
use serde_json::{Value, json};

use crate::figure::Material;
use crate::figure::material::{Cloud, Place};
use scavsim_lab::experiment::columns::Value as Cell;
use scavsim_lab::experiment::{COLUMNS, Group, Record};

/// A table.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Its anchor.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// How to read it; what is left out.
    pub note: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A column.
#[derive(Debug, Serialize)]
pub struct Column {
    /// Heading, with the unit.
    pub name: String,
    /// Whether it holds numbers.
    pub is_number: bool,
}

/// A row.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its cells as they are read.
    pub cells: Vec<Text>,
    /// Key of what opens behind it; empty for nothing.
    pub opens: String,
}

/// A cell.
#[derive(Debug, Serialize)]
pub struct Text {
    /// As it is read.
    pub text: String,
    /// What numbers are sorted by.
    pub value: Option<f64>,
}

/// Rows of one table; all others are in the files.
const MOST_ROWS: usize = 1_500;

pub(super) fn of(material: &Material) -> Vec<Table> {
    let of_groups = material.groups.iter().map(|group| &*group.setting);
    let of_places = places(material).map(|(cloud, _)| &*cloud.setting);
    let of_cases = (material.gathered.cases.iter()).map(|case| &*case.setting);
    vec![
        with_settings(strategies(material), of_groups),
        with_settings(configurations(material), of_places),
        with_settings(cases(material), of_cases),
    ]
}

/// Puts the setting into the first column of a table, where there are several.
fn with_settings<'m>(mut table: Table, settings: impl Iterator<Item = &'m str>) -> Table {
    let all: Vec<&str> = settings.take(table.rows.len()).collect();
    if all.iter().any(|setting| !setting.is_empty()) {
        table.columns.insert(0, column("setting", false));
        for (row, setting) in table.rows.iter_mut().zip(all) {
            row.cells.insert(0, word(setting));
        }
    }
    table
}

pub(super) fn column(name: &str, is_number: bool) -> Column {
    Column {
        name: name.to_owned(),
        is_number,
    }
}

pub(super) fn word(text: impl Into<String>) -> Text {
    Text {
        text: text.into(),
        value: None,
    }
}

/// A number with so many digits behind the point; a dash where there is none.
pub(super) fn number(value: Option<f64>, digits: usize) -> Text {
    Text {
        text: value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}")),
        value,
    }
}

fn beyond(count: usize, where_: &str) -> String {
    match count > MOST_ROWS {
        true => format!(" The first {MOST_ROWS} of {count}; all are in {where_}."),
        false => String::new(),
    }
}

fn strategies(material: &Material) -> Table {
    let percent = |group: &Group, metric: &str| {
        let mean = group.mean(metric);
        let value = mean.map(|mean| 100.0 * mean.mean);
        let half = mean
            .and_then(|mean| mean.interval)
            .map(|i| 50.0 * (i.high - i.low));
        let mut cell = number(value, 1);
        if let Some(half) = half.filter(|half| *half >= 0.05) {
            cell.text += &format!(" ±{half:.1}");
        }
        cell
    };
    let row = |group: &Group| {
        let mean = |metric: &str| group.mean(metric).map(|mean| mean.mean);
        let choice = group.choice.as_ref().map_or("–".to_owned(), |choice| {
            let parts = [choice.workers, choice.batch].into_iter().flatten();
            let mut text = parts.map(|n| n.to_string()).collect::<Vec<_>>().join(" × ");
            if let Some(other) = &choice.other {
                text += &format!(" {other}");
            }
            format!("{text} ({:.0} %)", 100.0 * group.choice_share)
        });
        Row {
            cells: vec![
                word(&group.workload),
                word(&group.pricing),
                word(&group.objective),
                word(&group.strategy),
                word(choice),
                number(Some(100.0 * group.tallied.right()), 0),
                number(mean("time_h"), 2),
                number(mean("cost_usd"), 2),
                percent(group, "regret_time"),
                percent(group, "regret_cost"),
                percent(group, "overhead_gross_time"),
                percent(group, "overhead_gross_cost"),
                percent(group, "overhead_net_time"),
                percent(group, "overhead_net_cost"),
                number(mean("search_cost_usd"), 2),
                percent(group, "error_mean"),
                number(Some(group.tallied.failed as f64), 0),
            ],
            opens: String::new(),
        }
    };
    Table {
        id: "strategies".to_owned(),
        caption: "Strategies".to_owned(),
        note: format!(
            "Means over replicas, ± half of a 95 % interval. The choice is the most frequent. Gross: search steps earn no \
             progress; net: they count as training; both over the oracle's.{}",
            beyond(material.groups.len(), "summary.csv")
        ),
        columns: vec![
            column("workload", false),
            column("pricing", false),
            column("objective", false),
            column("strategy", false),
            column("choice, workers × batch", false),
            column("right, %", true),
            column("time, h", true),
            column("cost, USD", true),
            column("regret time, %", true),
            column("regret cost, %", true),
            column("gross time, %", true),
            column("gross cost, %", true),
            column("net time, %", true),
            column("net cost, %", true),
            column("search, USD", true),
            column("error, %", true),
            column("failed", true),
        ],
        rows: material.groups.iter().take(MOST_ROWS).map(row).collect(),
    }
}

/// Every configuration with its number among those of the page.
fn places(material: &Material) -> impl Iterator<Item = (&Cloud, &Place)> {
    let clouds = material.clouds.iter();
    clouds.flat_map(|cloud| cloud.places.iter().map(move |place| (cloud, place)))
}

fn mark(place: &Place) -> &'static str {
    match (place.is_knee, place.is_on_front) {
        (true, _) => "knee",
        (false, true) => "front",
        (false, false) => "",
    }
}

fn configurations(material: &Material) -> Table {
    let row = |(n, (cloud, place)): (usize, (&Cloud, &Place))| Row {
        cells: vec![
            word(&cloud.workload),
            word(&cloud.pricing),
            word(place.name(false)),
            word(place.vm.clone().unwrap_or_default()),
            number(Some(place.time_h), 3),
            number(Some(place.cost_usd), 2),
            word(mark(place)),
            word(&place.provenance),
            number(
                Some(place.by.iter().map(|one| one.cases).sum::<u64>() as f64),
                0,
            ),
        ],
        opens: format!("place-{n}"),
    };
    let count = places(material).count();
    let is_all = material.clouds.iter().all(|cloud| cloud.is_all);
    let which = match is_all {
        true => "All configurations",
        false => "Configurations that somebody chose (`--scenario FILE` shows all)",
    };
    Table {
        id: "configurations".to_owned(),
        caption: "Configurations".to_owned(),
        note: format!(
            "{which} with expected time and cost. Open one to see who chose it.{}",
            beyond(count, "`scavsim rank FILE --format csv`")
        ),
        columns: vec![
            column("workload", false),
            column("pricing", false),
            column("workers × batch", false),
            column("VM", false),
            column("time, h", true),
            column("cost, USD", true),
            column("Pareto", false),
            column("from", false),
            column("chosen in cases", true),
        ],
        rows: places(material)
            .enumerate()
            .take(MOST_ROWS)
            .map(row)
            .collect(),
    }
}

fn cases(material: &Material) -> Table {
    let gathered = &material.gathered;
    let row = |(n, owned): (usize, &scavsim_lab::experiment::OwnedRecord)| {
        let record = owned.as_record();
        let whole = |value: Option<u32>| value.map_or("–".to_owned(), |value| value.to_string());
        let share = |value: Option<f64>| number(value.map(|value| 100.0 * value), 1);
        Row {
            cells: vec![
                number(Some(record.case as f64), 0),
                word(record.workload),
                word(record.pricing),
                word(record.objective),
                word(record.strategy),
                number(Some(record.replica as f64), 0),
                word(format!(
                    "{} × {}",
                    whole(record.chosen_workers),
                    whole(record.chosen_batch)
                )),
                number(record.time_h, 3),
                number(record.cost_usd, 2),
                share(record.overhead_net_time),
                share(record.overhead_net_cost),
                word(record.status.name()),
            ],
            opens: format!("case-{n}"),
        }
    };
    Table {
        id: "cases".to_owned(),
        caption: "Cases".to_owned(),
        note: format!(
            "{} of {} cases, by a fixed rule: {}. Open one to see all its columns; `scavsim trace` shows its course.",
            gathered.cases.len(),
            gathered.count,
            gathered.rule().words()
        ),
        columns: vec![
            column("case", true),
            column("workload", false),
            column("pricing", false),
            column("objective", false),
            column("strategy", false),
            column("replica", true),
            column("choice", false),
            column("time, h", true),
            column("cost, USD", true),
            column("net time, %", true),
            column("net cost, %", true),
            column("status", false),
        ],
        rows: gathered.cases.iter().enumerate().map(row).collect(),
    }
}

/// What opens behind rows, as JSON: columns once, then values by row.
pub(super) fn details(material: &Material) -> String {
    let columns: Vec<Value> = (COLUMNS.iter())
        .map(|column| json!([column.name, column.unit, column.what]))
        .collect();
    let cells = |record: &Record<'_>| -> Vec<Value> {
        (COLUMNS.iter())
            .map(|column| match (column.of)(record) {
                Cell::Empty => Value::Null,
                Cell::Count(count) => json!(count),
                Cell::Whole(whole) => json!(whole),
                // As much as anybody reads.
                Cell::Figure(figure) => {
                    json!(format!("{figure:.6}").parse::<f64>().unwrap_or(figure))
                }
                Cell::Text(text) => json!(text),
            })
            .collect()
    };
    let cases: Vec<Value> = (material.gathered.cases.iter())
        .map(|owned| json!(cells(&owned.as_record())))
        .collect();
    let places: Vec<Value> = places(material)
        .take(MOST_ROWS)
        .map(|(_, place)| {
            let by = place.by.iter();
            let by = by.map(|one| json!([one.strategy, one.objective, one.cases]));
            json!(by.collect::<Vec<_>>())
        })
        .collect();
    json!({ "columns": columns, "cases": cases, "places": places }).to_string()
}
