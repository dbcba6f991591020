//! No subject accepts a key and ignores it.

use std::fs;

use serde_json::Value;

use super::KINDS;
use crate::door::Scenario;
use crate::file::schema;

fn sample(key: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/subject/samples");
    fs::read_to_string(format!("{folder}/{key}.toml")).expect("every subject has a sample")
}

/// The own key of a subject, with its sample's value.
fn own_key(key: &str) -> String {
    let sample: toml::Table = sample(key).parse().expect("it is TOML");
    format!("{key} = {}", sample[key])
}

const OWN: [&str; 11] = [
    "vm",
    "kind",
    "sync",
    "sync_of",
    "staleness",
    "elastic",
    "failures",
    "strategy",
    "job",
    "market",
    "starts",
];

/// A key with a value that changes results wherever it is read, and after a bar the lines that it needs.
const SAMPLES: &str = "\
antithetic = true
cluster.batch = [512]
cluster.exclude = [{ workers = { min = 9 } }]
cluster.local_batch = [64] | cluster.outside = 'leave-out'
cluster.outside = 'leave-out' | cluster.workers = [8, 1000]
cluster.pairs = [[8, 1024]]
cluster.resize = 'keep-local-batch' | SPOT; spot.on_loss = 'shrink'; spot.fewest_workers = 8; cluster.outside = 'extrapolate'
cluster.search = 'each-vm' | vm.slow = { like = 'e2-standard-4', compute_scale = 2 }
cluster.start_up_s = 1000
cluster.vm = ['none']
cluster.workers = [8]
elastic = { prices = [[0, 1]], grow_at = 0.5, shrink_above = 1, most_vms = 20, fewest_vms = 8 }
failures = { causes = [{ name = 'any', loses = 'node', per_gpu_h = 1 }], checkpoint = { periodic-s = 60 }, restart_s = 30 }
fidelity = 'event'
job = { work_h = 2, deadline_h = 3 }
jobs = ['kmeans_bigdata_spark15']
kind = { two = { vm = 'e2-standard-4' } }
limits.max_cost_usd = 1e-6
limits.max_miss = 0.1 | limits.max_time_h = 0.66
limits.max_time_h = 1e-6
limits.max_workers = 8
market = { zones = ['us-east-2a'] }
most_replicas = 6 | precision = 0.001; most_replicas = 4
name = 'other'
precision = 0.001 | most_replicas = 4
pricing.define = { own = { usd_per_vm_hour = 3 } } | pricing.policies = ['own']
pricing.policies = ['other'] | pricing.define.other.usd_per_vm_hour = 5
replicas = 3
search.fleet = true | search.strategies = ['average-best']
search.known_runs = 3 | search.strategies = ['average-best']
search.objectives = ['time']
search.reconsider = { every_h = 1 }
search.repeats = 5
search.stored = ['scavenger-resnet50'] | search.strategies = ['no-search']
search.strategies = ['default']
seed = 7
spot.checkpoint = { periodic-s = 600 } | SPOT
spot.checkpoint_mb = 1000 | SPOT; spot.checkpoint = { periodic-s = 600 }
spot.checkpoint_on_notice = true | SPOT; spot.checkpoint = { periodic-s = 600 }; spot.checkpoint_write_s = 20; spot.notice_s = 200
spot.checkpoint_write_s = 200 | SPOT; spot.checkpoint = { periodic-s = 600 }
spot.chief = 'ends-the-run' | SPOT
spot.cold_join_s = 500 | SPOT; spot.restart = 'resnet-32'
spot.exponential_mean_h = 10 | SPOT
spot.fewest_workers = 8 | SPOT; spot.on_loss = 'shrink'; cluster.outside = 'extrapolate'
spot.keeps = 'steps' | SPOT
spot.lifetime = 'gcp-2019'
spot.notice_s = 200 | SPOT; spot.checkpoint = { periodic-s = 600 }; spot.checkpoint_write_s = 20; spot.checkpoint_on_notice = true
spot.on_loss = 'go-on' | SPOT
spot.replacement_s = 900 | SPOT
spot.restart = 'resnet-32' | SPOT
spot.start_up = 'gcp-k80-us-east1' | SPOT
spot.start_up_s = 1000 | SPOT
spot.warm_restart_s = 900 | SPOT
staleness = { per_missed_batch = 0.5 } | sync = { ssp = { slack = 3 } }
starts = { spread = 2 }
strategy = { random = { probes = 1 } } | search.strategies = ['random']
sync = { ssp = { slack = 3 } }
sync_of = { scavenger-resnet18 = { ssp = { slack = 3 } } }
variation.drift = { sigma = 0.1, period_s = 600 }
variation.epoch_cv = 0.1
variation.noise_curve = true | search.strategies = ['partial']
variation.noise_cv = 0.5 | search.strategies = ['partial']
variation.placement_sigma = 0.1
variation.step_cv = 0.3
variation.straggler = { probability = 0.1, factor = 4 }
variation.vm_sigma = 0.1
vm = { slow = { like = 'e2-standard-4', compute_scale = 2 } }";

/// Keys with their lines, and the lines before them.
fn samples() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    SAMPLES.lines().map(|sample| {
        let (line, before) = sample.split_once(" | ").unwrap_or((sample, ""));
        let (key, _) = line.split_once(" = ").expect("a key and its value");
        let before = before.split("; ").filter(|own| !own.is_empty());
        let before = before.map(|own| if own == "SPOT" { SPOT } else { own });
        (key, line, before.collect())
    })
}

const SPOT: &str = "spot = { exponential_mean_h = 20 }";

fn outcome(text: &str, lines: &[&str]) -> String {
    let options = lines
        .iter()
        .fold(Scenario::options(), |all, line| all.set(line));
    let scenario = match options.jobs(1).parse(text) {
        Ok(scenario) => scenario,
        Err(wrong) => return wrong.to_string(),
    };
    let mut all = scenario.name().to_owned();
    let finished = scenario.run(|record| {
        record.each_cell(|_, value| all += &format!("{value:?},"));
    });
    finished.expect("it runs");
    all
}

fn is_of_one_subject(key: &str) -> bool {
    let table = key.split('.').next().unwrap_or(key);
    KINDS.iter().any(|kind| kind.form.key == table)
}

/// Keys of the form, and keys inside tables, except for tables of one subject and keys of files.
fn keys() -> Vec<String> {
    let root = schema().to_value();
    let table = |node: &Value| -> Option<Vec<String>> {
        let node = match node.get("$ref").and_then(Value::as_str) {
            Some(place) => root.pointer(place.trim_start_matches('#'))?,
            None => node,
        };
        let keys = node.get("properties")?.as_object()?.keys();
        Some(keys.cloned().collect())
    };
    let node = |key: &str| {
        let own = &root["properties"][key];
        // An optional table.
        own["anyOf"].get(0).cloned().unwrap_or(own.clone())
    };
    let mut all = Vec::new();
    for key in table(&root).expect("it has keys") {
        match table(&node(&key)).filter(|_| !OWN.contains(&&*key)) {
            Some(below) => all.extend(below.iter().map(|own| format!("{key}.{own}"))),
            None => all.push(key),
        }
    }
    all.retain(|key| !["include", "unset"].contains(&&**key) && !is_of_one_subject(key));
    all
}

#[test]
fn every_key_has_a_sample() {
    let mut sampled: Vec<&str> = samples().map(|(key, ..)| key).collect();
    let mut keys = keys();
    sampled.sort_unstable();
    keys.sort_unstable();
    assert_eq!(sampled, keys);
}

/// Keys that are read with a subject and change no record: intervals are those of pairs; if every configuration was run once,
/// no run misses a limit that the mean meets; and no policy of ours draws anything in traces.
const IN_NO_RECORD: [(&str, &str); 3] = [
    ("antithetic", "grid"),
    ("limits.max_miss", "grid"),
    ("seed", "policy"),
];

#[test]
fn every_key_changes_results_or_is_refused_whatever_the_subject() {
    let mut ignored = Vec::new();
    for subject in KINDS.iter().map(|kind| kind.form.key) {
        let text = &sample(subject);
        let others = KINDS.iter().map(|kind| kind.form.key);
        let others = others.filter(|other| *other != subject);
        let others = others.map(|other| (other, own_key(other), Vec::new()));
        let common = samples().map(|(key, line, before)| (key, line.to_owned(), before));
        for (key, line, before) in common.chain(others) {
            let with = outcome(text, &[&before[..], &[&*line]].concat());
            let table = key.split('.').next().unwrap_or(key);
            let is_refused = [
                format!("`{key}` and `"),
                format!("`{table}` and `"),
                format!(" and `{key}` exclude"),
                format!("`{key}` are those of"),
            ];
            let is_told = is_refused.iter().any(|words| with.contains(words));
            let is_exempt = IN_NO_RECORD.contains(&(key, subject));
            if !is_told && !is_exempt && with == outcome(text, &before) {
                ignored.push(format!("{key} beside {subject}"));
            }
        }
    }
    assert!(
        ignored.is_empty(),
        "accepted, and nothing changes: {ignored:#?}"
    );
}
