//! Equal rows by different ways.

use std::fs;

use super::{Found, Trial, breach};
use crate::program::{Not, Program};
use crate::rows::{Row, read};

/// One in this many scenarios is run by the program, which must be started several times.
const SELDOM: usize = 8;

fn same(own: &[Row], others: &[Row], but: &[&str]) -> Result<(), String> {
    if own.len() != others.len() {
        return Err(format!("{} rows and {}", own.len(), others.len()));
    }
    let mut pairs = own.iter().zip(others);
    match pairs.find_map(|(own, other)| Some((own, own.differs(other, but)?))) {
        Some((row, said)) => Err(format!("{said}: {}", super::records::place(row))),
        None => Ok(()),
    }
}

fn same_or_breach(own: &[Row], others: &[Row], but: &[&str]) -> Found {
    same(own, others, but).or_else(|said| breach("", said))
}

pub fn threads(trial: &Trial<'_>) -> Found {
    match trial.run(trial.draft, 3)? {
        Some(rows) => same_or_breach(trial.rows, &rows, &[]),
        None => Ok(()),
    }
}

/// The program's rows equal the library's, three merged shards equal the run, and its summary matches its rows.
pub fn shards(trial: &Trial<'_>) -> Found {
    if !trial.luck(3).once_in(SELDOM) || trial.draft.has("precision") {
        return Ok(());
    }
    let program = trial.program;
    program.save_anew(trial.draft);
    let scenario = crate::draft::SCENARIO;
    let mut calls = vec![vec![
        "run", scenario, "--out", "whole", "--quiet", "-j", "2",
    ]];
    for shard in ["2/3", "1/3", "3/3"] {
        calls.push(vec![
            "run", scenario, "--shard", shard, "--out", "parts", "--quiet", "-j", "1",
        ]);
    }
    calls.push(vec!["merge", "parts", "--quiet"]);
    for call in calls {
        if trial.take(program.call(&call))?.is_none() {
            return Ok(());
        }
    }
    let text = |name: &str| fs::read_to_string(program.folder().join(name)).unwrap_or_default();
    for file in ["records.csv", "summary.csv", "manifest.json"] {
        if text(&format!("whole/{file}")) != text(&format!("parts/{file}")) {
            return breach("", format!("{file} of three shards is another"));
        }
    }
    let rows =
        read(&text("whole/records.csv")).or_else(|said| breach("", said).map(|()| Vec::new()))?;
    same_or_breach(trial.rows, &rows, &[])?;
    let summary =
        read(&text("whole/summary.csv")).or_else(|said| breach("", said).map(|()| Vec::new()))?;
    intervals(&summary).or_else(|said| breach("", said))
}

/// Compares with the rows of another build, such as one with fewer features: the named program.
pub fn beside(trial: &Trial<'_>) -> Found {
    let Some(path) = crate::variable("BESIDE") else {
        return Ok(());
    };
    let other = Program::new(Some(path.into()), trial.program.patience);
    match trial.take(other.run(trial.draft, 1))? {
        Some(rows) => same_or_breach(trial.rows, &rows, &[]),
        None => Ok(()),
    }
}

/// Every interval contains its mean.
fn intervals(summary: &[Row]) -> Result<(), String> {
    for row in summary {
        for (column, _) in row.cells() {
            let Some(name) = column.strip_suffix("_low95") else {
                continue;
            };
            let of = |ending: &str| row.figure(&format!("{name}{ending}"));
            let mean = of("_mean").or_else(|| row.figure(name));
            let (Some(low), Some(mean), Some(high)) = (of("_low95"), mean, of("_high95")) else {
                continue;
            };
            let room = 1e-9 * mean.abs();
            if low > mean + room || mean > high + room {
                return Err(format!(
                    "{name}: {mean} outside of {low} to {high}, {}",
                    row.text("strategy")
                ));
            }
        }
    }
    Ok(())
}

pub fn include(trial: &Trial<'_>) -> Found {
    if trial.draft.base.is_empty() {
        return Ok(());
    }
    let flat = trial.draft.flat();
    if let Err(Not::Refused(_)) = trial.program.check(&flat) {
        return breach("", "written out it is refused".to_owned());
    }
    // Without rows it was too slow.
    match trial.run(&flat, 1)? {
        Some(rows) => same_or_breach(trial.rows, &rows, &[]),
        None => Ok(()),
    }
}

/// The last setting alone.
pub fn settings(trial: &Trial<'_>) -> Found {
    let last = trial
        .rows
        .last()
        .map_or("", |row| row.text("setting"))
        .to_owned();
    if last.is_empty() {
        return Ok(());
    }
    let mut alone = trial.draft.flat();
    for part in last.split(';') {
        let Some((key, value)) = part.split_once('=') else {
            continue;
        };
        // Inline tables are not replaced here.
        if alone.value(key).is_none() {
            return Ok(());
        }
        alone.set(key, value, Vec::new());
    }
    let Some(rows) = trial.run(&alone, 1)? else {
        return Ok(());
    };
    let own = trial.rows.iter().filter(|row| row.text("setting") == last);
    let own: Vec<Row> = own.cloned().collect();
    same_or_breach(&own, &rows, &["case", "setting"])
}

/// Rows that do not depend on the number of replicas or strategies, by the columns that identify rows.
fn without_some(trial: &Trial<'_>, key: &str, value: &str, stays: impl Fn(&Row) -> bool) -> Found {
    let mut fewer = trial.draft.flat();
    fewer.set(key, value, Vec::new());
    let Some(rows) = trial.run(&fewer, 1)? else {
        return Ok(());
    };
    let own: Vec<Row> = trial
        .rows
        .iter()
        .filter(|row| stays(row))
        .cloned()
        .collect();
    same_or_breach(&own, &rows, &["case"])
}

pub fn replicas(trial: &Trial<'_>) -> Found {
    if trial.draft.has("precision")
        || trial
            .draft
            .value("replicas")
            .is_none_or(|count| count == "1")
    {
        return Ok(());
    }
    without_some(trial, "replicas", "2", |row| {
        row.figure("replica").is_some_and(|replica| replica < 2.0)
    })
}

pub fn strategies(trial: &Trial<'_>) -> Found {
    let listed = trial
        .draft
        .value("search.strategies")
        .unwrap_or_default()
        .to_owned();
    let names: Vec<&str> = listed.split('"').skip(1).step_by(2).collect();
    if names.len() < 2 || trial.draft.has("precision") {
        return Ok(());
    }
    let last = names[names.len() - 1];
    without_some(
        trial,
        "search.strategies",
        &format!("[\"{last}\"]"),
        |row| row.text("strategy") == last,
    )
}
