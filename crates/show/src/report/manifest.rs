//! `manifest.json`: the inputs of a result folder. It does not depend on the machine, the time or the threads.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

pub use super::identity::Identity;
use super::places::Places;
use scavsim_data::cloud::{prices, sources, vm_types};
use scavsim_data::pricing::builtin;
use scavsim_data::workload::Workload;
use scavsim_experiment::expectation::Precision;
use scavsim_experiment::{Finished, Plan, RecordColumns, RunEnding, Tasks};
use scavsim_read::input::regular;
use scavsim_scenario::ClusterScenario as _;
use scavsim_scenario::Scenario;

pub const FILE: &str = "manifest.json";
/// Key of the kind of results, if they are not strategies on scenarios.
pub const KIND: &str = "kind";
/// The kind of a comparison.
pub const COMPARISON: &str = "comparison";
/// The kind of lives under policies.
pub const POLICIES: &str = "policies";
/// Key of the hashes of files, by name.
pub const FILES: &str = "files";

/// Version of the scheme by which random streams are keyed and drawn.
const RNG_SCHEME: &str =
    "xoshiro256++, streams keyed by (seed, purpose, replica, identity), version 2";

pub fn identity(scenario: &Scenario) -> Identity {
    let workloads: Vec<Value> = (scenario.workloads().iter())
        .map(|(w, configurations)| {
            json!({
                "name": w.name,
                "data_hash": w.hash,
                "configurations": configurations.len(),
            })
        })
        .collect();
    let stored = |w: &Workload| json!({ "name": w.name, "data_hash": w.hash });
    let past = scenario.clusters().into_iter().flat_map(|own| &own.stored);
    let tasks = Tasks::of_scenario(scenario);
    let entries = [
        ("schema", json!(2)),
        ("scavsim", json!(env!("CARGO_PKG_VERSION"))),
        ("scenario", json!(scenario.name)),
        ("scenario_hash", json!(scenario.hash)),
        ("seed", json!(scenario.seed)),
        ("rng", json!(RNG_SCHEME)),
        ("replicas", json!(scenario.replicas)),
        ("fidelity", json!(scenario.fidelity.name())),
        ("workloads", Value::Array(workloads)),
        ("stored", past.map(stored).collect()),
        (
            "policies",
            scenario.policies.iter().map(|p| p.name.clone()).collect(),
        ),
        ("prices_hash", json!(prices_hash())),
        ("cases", json!(scenario.cases())),
        (PER_TASK, json!(tasks.size())),
        (PER_STRETCH, json!(tasks.stretch())),
        (ACROSS_VMS, json!(scenario.subject.is_across_vms())),
    ];
    let subject = scenario.subject.identity();
    let settings: Vec<&str> = scenario.runs_in.iter().map(|own| &*own.name).collect();
    let settings = (settings.len() > 1).then(|| ("settings".to_owned(), json!(settings)));
    let pairs = (scenario.antithetic).then(|| (PAIRS.to_owned(), json!(true)));
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .chain(subject.map(|(key, value)| (key.to_owned(), value)))
        .chain(settings)
        .chain(pairs)
        .chain(Places::from_scenario(scenario).entries())
        .collect()
}

/// Key of the cases per task: a summary first adds up figures within each task, and rows have a hash for each task.
const PER_TASK: &str = "cases_per_task";
const PER_STRETCH: &str = "cases_per_stretch";

/// How the cases of a run are cut into tasks; `None` if a manifest has no such key.
pub fn tasks(identity: &Identity) -> Option<Tasks> {
    let number = |key: &str| identity.get(key).and_then(Value::as_u64);
    let above_0 = |key: &str| number(key).filter(|&number| number > 0);
    let tasks = Tasks::new(number("cases")?, above_0(PER_STRETCH)?, above_0(PER_TASK)?);
    Some(tasks.in_pairs(are_paired(identity)))
}

/// Key of the columns of `records.csv`.
pub const COLUMNS: &str = "columns";

/// The identity of a run, with the columns of its rows.
pub fn with_columns(mut identity: Identity, columns: &RecordColumns) -> Identity {
    let names: Vec<_> = columns.names().collect();
    identity.insert(COLUMNS.to_owned(), json!(names));
    identity
}

/// Columns of the rows of a run; all if its manifest has no such key.
pub fn columns(identity: &Identity) -> RecordColumns {
    let names = identity.get(COLUMNS).and_then(Value::as_array);
    let names = names.map(|names| names.iter().map(|name| name.as_str().unwrap_or_default()));
    names
        .and_then(RecordColumns::from_names)
        .unwrap_or_default()
}

const ACROSS_VMS: &str = "each_vm_by_itself";
/// Key of a run whose replicas are pairs of antithetic draws.
const PAIRS: &str = "antithetic";

/// Whether replicas 2 r and 2 r + 1 share their random draws in the run `identity`.
pub fn are_paired(identity: &Identity) -> bool {
    identity.get(PAIRS) == Some(&Value::Bool(true))
}

/// Whether every VM type is searched separately in the run `identity`.
pub fn is_across_vms(identity: &Identity) -> bool {
    identity.get(ACROSS_VMS) == Some(&Value::Bool(true))
}

/// BLAKE3 hash of the embedded policies, VM types and dated prices.
fn prices_hash() -> String {
    let mut hasher = blake3::Hasher::new();
    let tables = [builtin::TABLE, vm_types::TABLE, sources::TABLE];
    for table in tables.into_iter().chain(prices::TABLES.map(|t| t.2)) {
        hasher.update(table.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

pub fn text(
    identity: &Identity,
    more: impl IntoIterator<Item = (&'static str, Value)>,
) -> io::Result<String> {
    let mut all = identity.clone();
    all.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
    seal(&mut all);
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

/// Key of the hash of all other fields.
pub const HASH: &str = "manifest_hash";
/// Key of the hash of `summary.csv`.
pub const SUMMARY_HASH: &str = "summary_hash";

pub(super) const HASH_DIGITS: usize = 32;

/// 128 bits of BLAKE3 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    short(blake3::Hasher::new().update(bytes))
}

pub(super) fn short(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..HASH_DIGITS].to_owned()
}

/// Adds the hash of all other fields. It has no key: it detects accidents, not forgery, which evaluating again detects.
pub fn seal(manifest: &mut Identity) {
    let hash = hash_of_fields(manifest);
    manifest.insert(HASH.to_owned(), json!(hash));
}

/// The hash of all fields but the hash itself, independent of their order.
fn hash_of_fields(manifest: &Identity) -> String {
    let mut lines: Vec<String> = (manifest.iter())
        .filter(|(key, _)| *key != HASH)
        .map(|(key, value)| format!("{key}: {value}\n"))
        .collect();
    lines.sort_unstable();
    hash(lines.concat().as_bytes())
}

pub fn ending(finished: &Finished) -> [(&'static str, Value); 3] {
    [
        ("finished", json!(finished.cases)),
        ("failed", json!(finished.failed)),
        ("complete", json!(finished.ending == RunEnding::Complete)),
    ]
}

/// Key of configurations whose expectation is too close to a limit.
pub const AT_A_LIMIT: &str = "at_a_limit";

/// Key of the manifest's entry about expectations.
pub const EXPECTATIONS: &str = "expectations";

/// The entry about expectations that are means over runs: the largest relative standard error of a workload's configurations,
/// and the runs behind it; and the configurations for which the runs do not decide whether they meet the limits.
pub fn expectations(plan: &Plan) -> Option<(&'static str, Value)> {
    let of = |(arena, precision): (usize, Precision)| {
        let mut told = json!({
            "workload": plan.arena_name(arena),
            "standard_error": precision.error.is_finite().then_some(precision.error),
            "runs": precision.runs,
            "is_cut_short": precision.is_cut_short,
        });
        let open = plan.at_a_limit(arena);
        if !open.is_empty() {
            told[AT_A_LIMIT] = json!(open);
        }
        told
    };
    let all: Vec<Value> = plan.precision().into_iter().map(of).collect();
    (!all.is_empty()).then_some((EXPECTATIONS, Value::Array(all)))
}

/// Reads a manifest; `None` if there is none. Errors name the path: unreadable, not JSON, or a wrong hash.
pub fn read(path: &Path) -> io::Result<Option<Identity>> {
    let named = |kind, what: String| {
        io::Error::new(kind, format!("cannot read {}: {what}", path.display()))
    };
    match regular::read(path) {
        Ok(bytes) => {
            let wrong = |what: String| named(io::ErrorKind::InvalidData, what);
            let read: Identity =
                serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
            match read.get(HASH).and_then(Value::as_str) {
                Some(hash) if hash == hash_of_fields(&read) => Ok(Some(read)),
                Some(_) => Err(wrong(format!(
                    "its fields are not those of its `{HASH}`: one was changed"
                ))),
                None => Err(wrong(format!(
                    "it has no `{HASH}`: another version of scavsim made it, or it was changed"
                ))),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(error.kind(), error.to_string())),
    }
}

/// Number of cases that the run in a folder had finished at its end; none if it was killed.
pub fn finished(folder: &Path) -> io::Result<u64> {
    let read = read(&folder.join(FILE))?.unwrap_or_default();
    Ok(read.get("finished").and_then(Value::as_u64).unwrap_or(0))
}

/// Differences of `identity` to a stored manifest, in sentences.
pub fn differences(read: &Identity, identity: &Identity) -> Vec<String> {
    (identity.iter())
        .filter_map(|(key, here)| {
            let there = read.get(key).unwrap_or(&Value::Null);
            (there != here).then(|| match key.as_str() {
                "scavsim" => format!(
                    "it was made by scavsim {}, this is {}",
                    plain(there),
                    plain(here)
                ),
                "scenario_hash" => {
                    "the text of the scenario file is another, or that of a file it includes"
                        .to_owned()
                }
                "prices_hash" => "the embedded prices have changed".to_owned(),
                "workloads" | "stored" => match changed(there, here) {
                    names if names.is_empty() => format!("`{key}` are others"),
                    names => format!("the data of {} have changed", names.join(", ")),
                },
                COLUMNS => {
                    "`records.csv` has other columns: give `--all-columns` to both or to none"
                        .to_owned()
                }
                _ => format!("`{key}` was {}, is now {}", plain(there), plain(here)),
            })
        })
        .collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn changed(there: &Value, here: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let there = list(there);
    list(here)
        .into_iter()
        .filter_map(|here| {
            let name = here["name"].as_str()?;
            let other = there.iter().find(|w| w["name"] == name)?;
            (other["data_hash"] != here["data_hash"]).then(|| format!("workload `{name}`"))
        })
        .collect()
}
