//! Every configuration of a ranking for programs: as CSV and as JSON, all rows and all columns.

use std::io;

use serde_json::{Map, Value, json};

use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::Market;
use scavsim_lab::experiment::{Ranked, Ranking};

/// Rankings of a scenario as rows, each a map from column to value in the order of the columns.
fn rows(scenario: &str, rankings: &[Ranking]) -> Vec<Vec<(&'static str, Value)>> {
    let all = rankings.iter();
    all.flat_map(|ranking| {
        let numbered = ranking.rows.iter().enumerate();
        numbered.map(move |(at, row)| {
            let mut cells = vec![
                ("scenario", json!(scenario)),
                ("workload", json!(ranking.workload)),
                ("pricing", json!(ranking.pricing)),
                ("setting", json!(ranking.setting)),
                ("sorted_by", json!(ranking.objective.name())),
            ];
            cells.extend(cells_of(at + 1, row));
            // Of bags of jobs alone.
            if ranking.rows.iter().any(|row| row.job_cost_usd.is_some()) {
                cells.push(("job_cost_usd", json!(row.job_cost_usd)));
            }
            cells
        })
    })
    .collect()
}

fn cells_of(rank: usize, row: &Ranked) -> Vec<(&'static str, Value)> {
    // What never comes to its end has no figure.
    let number = |value: f64| value.is_finite().then_some(value);
    let hours = |seconds: f64| json!(number(seconds / SECONDS_PER_HOUR));
    let best_for: Vec<&str> = row.best_for.iter().map(|o| o.name()).collect();
    let miss = row.miss.and_then(|miss| miss.share());
    vec![
        ("rank", json!(rank)),
        ("best_for", json!(best_for.join(";"))),
        ("on_front", json!(row.is_on_front)),
        ("within_limits", json!(row.is_allowed)),
        ("vm", json!(row.vm)),
        ("vms", json!(vms(row))),
        ("held", json!(held(row))),
        ("market", json!(market(row))),
        ("workers", json!(row.workers)),
        ("batch", json!(row.batch)),
        ("other", json!(row.other)),
        ("time_h", hours(row.expected.time_s)),
        ("time_p5_h", hours(row.time_s[0])),
        ("time_p95_h", hours(row.time_s[1])),
        ("cost_usd", json!(number(row.expected.cost_usd))),
        ("cost_p5_usd", json!(number(row.cost_usd[0]))),
        ("cost_p95_usd", json!(number(row.cost_usd[1]))),
        ("miss", json!(miss)),
        ("runs", json!(row.runs)),
        ("provenance", json!(row.provenance)),
    ]
}

/// All its VMs; `None` where that is not known.
pub(super) fn vms(row: &Ranked) -> Option<u32> {
    (!row.held.is_empty()).then(|| row.held.iter().map(|held| held.vms).sum())
}

/// Its VMs in words.
pub(super) fn held(row: &Ranked) -> String {
    let each: Vec<String> = (row.held.iter())
        .map(|held| format!("{} {}", held.vms, held.vm))
        .collect();
    each.join(" + ")
}

/// The market of its VMs; `None` where that is not known.
pub(super) fn market(row: &Ranked) -> Option<&'static str> {
    let mut all = row.held.iter().map(|held| held.market);
    let first = all.next()?;
    match all.all(|market| market == first) {
        true => first.map(Market::name),
        false => Some("mixed"),
    }
}

/// The table as text; the header only where it is asked for.
///
/// # Errors
/// None in memory; the signature is that of the writer.
pub fn csv(scenario: &str, rankings: &[Ranking], with_header: bool) -> io::Result<String> {
    // Rankings of bags have a column more, the last.
    let mut writer = (csv::WriterBuilder::new().flexible(true)).from_writer(Vec::new());
    for (at, row) in rows(scenario, rankings).iter().enumerate() {
        if at == 0 && with_header {
            writer.write_record(row.iter().map(|(name, _)| *name))?;
        }
        writer.write_record(row.iter().map(|(_, value)| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| io::Error::other(e.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// The rows as JSON. `schema` counts up with every incompatible change.
pub fn json(scenario: &str, rankings: &[Ranking]) -> Value {
    let rows: Vec<Value> = rows(scenario, rankings)
        .into_iter()
        .map(|row| {
            let cells = row
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value));
            Value::Object(cells.collect::<Map<_, _>>())
        })
        .collect();
    json!({ "schema": 1, "scenario": scenario, "configurations": rows })
}
