//! Compares means of equal figures in `event` and `fast`, and with expectations.
//!
//! Three rounds, each with another seed and four times the replicas: random differences in one do not repeat in the next. A difference
//! counts if it exceeds the stated error of the fidelity and its p-value is below 1 %, then 0.1 %, then 10^-6 (Student's t of the
//! differences of replicas): a false alarm in 10^11 comparisons if the last alone were exact, one in 10^6 if the first two had no effect.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::records::place;
use super::{Breach, Found, Trial, breach};
use crate::draft::Draft;
use crate::grounds::UNIT;
use crate::rows::{GROUP, Row, groups};

/// Replicas of a round, and the p-value below which the next round follows.
const ROUNDS: [(usize, f64); 3] = [(6, 1e-2), (24, 1e-3), (96, 1e-6)];

/// A column that is compared, and its tolerance: relative, and absolute.
const COLUMNS: [(&str, f64, f64); 7] = [
    ("time_h", STATED, 0.0),
    ("cost_usd", STATED, 0.0),
    ("search_time_h", STATED, 0.0),
    ("lost_vms", 0.01, 0.0),
    ("staleness", 0.01, 0.002),
    ("dropped_gradients", 0.01, 0.002),
    ("wasted_compute", 0.01, 0.002),
];

/// The stated error of `fast` for a mean time.
const STATED: f64 = 0.0015;
/// The stated error for `flexible`, whose last barrier matters in short runs.
const STATED_FLEXIBLE: f64 = 0.008;
/// The stated error of a time from a trial run of 20,000 worker-steps, and of its other figures.
const STATED_TRIED: f64 = 0.01;
const TRIED: [&str; 4] = ["flexible", "ssp", "speculative", "service_s"];
/// Tolerance of an expectation that is a mean of runs, in its stated standard errors.
const STATED_ERRORS: f64 = 4.0;

pub fn agree(trial: &Trial<'_>) -> Found {
    let draft = trial.draft;
    if draft.worker_steps.is_none() {
        return Ok(());
    }
    let mut suspects: Option<BTreeSet<String>> = None;
    for (round, (replicas, p)) in ROUNDS.iter().enumerate() {
        let found = differences(trial, round, *replicas, *p, suspects.as_ref())?;
        if found.is_empty() {
            return Ok(());
        }
        if round + 1 == ROUNDS.len() {
            let said: Vec<String> = found.into_iter().map(|(_, said)| said).take(3).collect();
            return breach("", said.join("; "));
        }
        suspects = Some(found.into_iter().map(|(what, _)| what).collect());
    }
    Ok(())
}

/// The draft in a fidelity, with only the parts that the comparison needs.
fn variant(draft: &Draft, fidelity: &str, round: usize, replicas: usize) -> Draft {
    let mut variant = draft.flat();
    let gone = ["antithetic", "precision", "most_replicas", "search.repeats"];
    variant
        .lines
        .retain(|line| !gone.iter().any(|key| line.is_in(key)));
    let listed = draft.value("search.strategies").unwrap_or_default();
    let other = listed
        .split('"')
        .skip(1)
        .step_by(2)
        .find(|name| !["oracle", "clairvoyant"].contains(name));
    let strategies = match other {
        Some(other) => format!("[\"oracle\", \"{other}\"]"),
        None => "[\"oracle\"]".to_owned(),
    };
    for (key, value) in [
        ("fidelity", format!("\"{fidelity}\"")),
        ("replicas", replicas.to_string()),
        (
            "seed",
            format!("{}", 1_000_003 * (round as u64 + 1) + draft.number),
        ),
        ("search.strategies", strategies),
        ("search.objectives", "[\"time\"]".to_owned()),
        ("pricing.policies", format!("[\"{UNIT}\"]")),
    ] {
        variant.set(key, value, Vec::new());
    }
    variant
}

/// The differences, with their names and descriptions.
fn differences(
    trial: &Trial<'_>,
    round: usize,
    replicas: usize,
    p: f64,
    suspects: Option<&BTreeSet<String>>,
) -> Result<Vec<(String, String)>, Breach> {
    let mut runs = Vec::new();
    for fidelity in ["event", "fast"] {
        match trial.run(&variant(trial.draft, fidelity, round, replicas), 1)? {
            Some(rows) => runs.push((fidelity, rows)),
            None if fidelity == "event" => return Ok(Vec::new()),
            None => {}
        }
    }
    let mut found = Vec::new();
    let mut judge = |what: String, differences: &[f64], room: f64, told: String| {
        if suspects.is_some_and(|suspects| !suspects.contains(&what)) {
            return;
        }
        trial.comparisons.set(trial.comparisons.get() + 1);
        if let Some(seen) = p_value(differences, room)
            && seen < p
        {
            let told = format!(
                "{what}: {told}, {} replicas, p {seen:.0e}",
                differences.len()
            );
            found.push((what, told));
        }
    };
    let text = trial.draft.text();
    let is_tried = TRIED.iter().any(|name| text.contains(name));
    let stated_fast = if text.contains("flexible") {
        STATED_FLEXIBLE
    } else {
        STATED
    };
    let reference = parts(trial, &runs[0].1);
    for (fidelity, rows) in &runs {
        for (group, rows) in parts(trial, rows) {
            let name = group.join(" ");
            if *fidelity != "event" {
                let exact: HashMap<&str, &Row> = (reference.get(&group).into_iter().flatten())
                    .map(|row| (row.text("replica"), *row))
                    .collect();
                for (column, stated, absolute) in COLUMNS {
                    let pairs = rows.iter().filter_map(|row| {
                        let exact = exact.get(row.text("replica"))?;
                        Some((row.figure(column)?, exact.figure(column)?))
                    });
                    let pairs: Vec<(f64, f64)> = pairs.collect();
                    let mean = |of: fn(&(f64, f64)) -> f64| {
                        pairs.iter().map(of).sum::<f64>() / pairs.len().max(1) as f64
                    };
                    let (own, event) = (mean(|pair| pair.0), mean(|pair| pair.1));
                    let differences: Vec<f64> =
                        pairs.iter().map(|(own, event)| own - event).collect();
                    let stated = stated_fast.max(stated);
                    let told = format!("{own} beside {event} in event");
                    judge(
                        format!("{column} in {fidelity} of {name}"),
                        &differences,
                        stated * event.abs() + absolute,
                        told,
                    );
                }
            }
            // If some have no result, the others are no fair sample.
            if *fidelity == "fast" && group[3] == "oracle" && rows.iter().all(|row| row.is_ok()) {
                for (column, expected) in [
                    ("time_h", "expected_time_h"),
                    ("cost_usd", "expected_cost_usd"),
                ] {
                    let differences: Vec<f64> = rows
                        .iter()
                        .filter_map(|row| Some(row.figure(column)? - row.figure(expected)?))
                        .collect();
                    let Some(mean) = rows[0].figure(expected) else {
                        continue;
                    };
                    let told = format!(
                        "{mean} expected, off by {} in the mean ({})",
                        differences.iter().sum::<f64>() / differences.len().max(1) as f64,
                        place(rows[0])
                    );
                    let stated = if is_tried { STATED_TRIED } else { stated_fast };
                    let is_off =
                        |room: f64| p_value(&differences, room).is_some_and(|seen| seen < p);
                    // Computed only where needed.
                    let known = if is_off(stated * mean) {
                        trial.stated_error()?.unwrap_or(f64::INFINITY)
                    } else {
                        0.0
                    };
                    judge(
                        format!("{expected} of {name}"),
                        &differences,
                        (stated + STATED_ERRORS * known) * mean,
                        told,
                    );
                }
            }
        }
    }
    // The most important difference comes first.
    found.sort_by_key(|(what, _)| !what.starts_with("time_h"));
    Ok(found)
}

/// Rows by their group; if every VM type is searched separately, also by type.
fn parts<'r>(trial: &Trial<'_>, rows: &'r [Row]) -> BTreeMap<Vec<String>, Vec<&'r Row>> {
    let mut parts: BTreeMap<Vec<String>, Vec<&Row>> = BTreeMap::new();
    for (mut group, rows) in groups(rows) {
        group.push(String::new());
        for row in rows {
            if trial.draft.has("cluster.search") {
                group[GROUP.len()] = row.text("oracle_vm").to_owned();
            }
            parts.entry(group.clone()).or_default().push(row);
        }
    }
    parts
}

/// Probability that the mean of `differences` is as far from 0, outside `room`, by chance alone; `None` for fewer than four.
fn p_value(differences: &[f64], room: f64) -> Option<f64> {
    let count = differences.len() as f64;
    if count < 4.0 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / count;
    let variance = differences
        .iter()
        .map(|one| (one - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    // Values rounded to nanoseconds have no real difference.
    let error = (variance / count).sqrt().max(1e-7 * room.max(1e-9));
    let beyond = (mean.abs() - room) / error;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
    (beyond > 0.0).then(|| 2.0 * student.sf(beyond))
}
