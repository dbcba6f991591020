//! Missing values of losses have measured defaults, reported once with their source.

use std::fs;
use std::path::PathBuf;

use crate::sandbox::{Rows, Sandbox, repository, stderr};

const CLUSTER: &str = "replicas = 3\nworkloads = [\"scavenger-resnet18\"]\n[search]\nstrategies = [\"oracle\"]\nobjectives = [\"time\"]\n";
const PLAN: &str = r#"
replicas = 2
[parallel]
model = "gpt3-2.7b"
runtime = { base = "megatron-deepspeed", attention_kernel = "flash", shard = "optimizer" }
precision = "bf16"
global_batch = 512
target_tokens = 3e9
micro_batch = 4
tensor = 1
pipeline = 1
data = 16
nodes = [{ vm = "a3-highgpu-8g", network_gbit_per_s = 3200 }]
[pricing]
policies = ["p"]
[pricing.define.p]
usd_per_hour_of = { a3-highgpu-8g = 60 }
[search]
strategies = ["oracle"]
objectives = ["time"]
"#;

/// The report of measured values, and the time of each record.
fn told(scenario: &str) -> (String, Vec<f64>) {
    let sandbox = Sandbox::with(scenario);
    let run = sandbox
        .run(&["run", "scenario.toml", "-o", "out"])
        .success();
    let flat: String = stderr(&run)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    (flat, rows.iter().map(|row| row.number("time_h")).collect())
}

#[track_caller]
fn assert_says(said: &str, all: &[&str]) {
    for expected in all {
        assert_eq!(said.matches(expected).count(), 1, "{expected}: {said}");
    }
}

/// The reported values, written into the file, give equal runs without a report; explicit zeros are zeros.
#[test]
fn who_says_only_how_spot_vms_live_is_told_the_rest() {
    let (said, unsaid) = told(&format!("{CLUSTER}[spot]\nlifetime = \"gcp-2019\"\n"));
    assert_says(
        &said,
        &[
            "using `spot.start_up_s = 88.1` from data/clouds/delays/startup.csv",
            "`spot.checkpoint = \"young-daly\"` from Daly 2006",
            "`spot.checkpoint_write_s = 4.3` from data/clouds/delays/checkpoint.csv",
            "say `KEY = 0` for none, `checkpoint = \"none\"` for no checkpoints",
        ],
    );
    let as_told = format!(
        "{CLUSTER}[spot]\nstart_up_s = 88.1\nlifetime = \"gcp-2019\"\ncheckpoint = \"young-daly\"\ncheckpoint_write_s = 4.3\n"
    );
    let (said, written) = told(&as_told);
    assert!(!said.contains("using `"), "{said}");
    assert_eq!(unsaid, written);
    let (said, free) = told(&as_told.replace("88.1", "0").replace("4.3", "0"));
    assert!(!said.contains("using `"), "{said}");
    assert!(
        free.iter().zip(&unsaid).all(|(a, b)| a < b),
        "{free:?} {unsaid:?}"
    );
    // A protocol that keeps all steps needs no checkpoint, and new VMs have to start.
    let (said, _) = told(&format!(
        "{CLUSTER}[spot]\nlifetime = \"gcp-2019\"\nkeeps = \"steps\"\non_loss = \"go-on\"\nfewest_workers = 8\n"
    ));
    assert_says(
        &said,
        &["`spot.cold_join_s = 83.9` from data/clouds/delays/restart.csv"],
    );
    assert!(!said.contains("checkpoint"), "{said}");
}

/// Failures of a plan and its reactions: all settings are reported in one sentence; a plan writes by the part of each GPU.
#[test]
fn who_says_only_how_machines_fail_is_told_the_rest() {
    let failures =
        "[failures]\ncauses = [{ name = \"any\", loses = \"node\", per_node_h = 0.7 }]\n";
    let reactions = "[parallel.reaction]\npolicy = [\"wait\", \"drop-replica\"]\nspares = 1\n";
    let (said, unsaid) = told(&format!("{PLAN}{failures}{reactions}"));
    assert_says(
        &said,
        &[
            "using `cluster.start_up_s = 69.8` from data/clouds/delays/startup.csv",
            "`failures.restart_s = 24.2` from data/clouds/delays/restart.csv",
            "`failures.checkpoint = \"young-daly\"` from Daly 2006",
            "`failures.checkpoint_write_s = 3.65 + 0.0199 per MB of a GPU` from data/clouds/delays/checkpoint.csv",
            "`parallel.reaction.costs = \"parcae\"` from data/reactions/parcae.toml",
            "`parallel.reaction.swap_s = 6.6` from data/reactions/parcae.toml",
            "`costs = { pause_s = 0 }` for free reactions",
        ],
    );
    let free = "[cluster]\nstart_up_s = 0\n[failures]\ncauses = [{ name = \"any\", loses = \"node\", per_node_h = 0.7 }]\n\
                replacement_s = 0\nrestart_s = 0\ncheckpoint_write_s = 0\n\
                checkpoint = \"young-daly\"\n[parallel.reaction]\npolicy = [\"wait\", \"drop-replica\"]\nspares = 1\nswap_s = 0\ncosts = { pause_s = 0 }\n";
    let (said, free) = told(&format!("{PLAN}{free}"));
    assert!(!said.contains("using `"), "{said}");
    assert!(
        free.iter().zip(&unsaid).all(|(a, b)| a < b),
        "{free:?} {unsaid:?}"
    );
    // 16 bytes each of 2.7 billion parameters, a sixteenth of 12 and all of 4 on each of 16 GPUs: as one file they would need longer.
    let (_, whole) = told(&format!(
        "{PLAN}{failures}checkpoint_write_s = 860\n{reactions}"
    ));
    assert!(
        whole.iter().zip(&unsaid).all(|(a, b)| a > b),
        "{whole:?} {unsaid:?}"
    );
}

/// VMs on demand have other start-up times than spot VMs, also in one scenario.
#[test]
fn each_market_starts_as_it_was_measured() {
    let kinds = "[kind.ours]\nvm = \"e2-standard-4\"\n[kind.theirs]\nvm = \"e2-standard-4\"\nmarket = \"spot\"\n\
                 [spot]\nexponential_mean_h = 1e6\ncheckpoint = \"none\"\n";
    let (said, measured) = told(&format!("{CLUSTER}{kinds}"));
    assert_says(
        &said,
        &[
            "using `cluster.start_up_s = 69.8` from data/clouds/delays/startup.csv",
            "`spot.start_up_s = 88.1` from data/clouds/delays/startup.csv",
        ],
    );
    // On demand is the fastest, and later only by its start.
    let (_, at_once) = told(&format!("{CLUSTER}[cluster]\nstart_up_s = 0\n{kinds}"));
    for (measured, at_once) in measured.iter().zip(at_once) {
        let start_s = (measured - at_once) * 3600.0;
        assert!((start_s - 69.8).abs() < 0.01, "{start_s}");
    }
}

/// Loading in-memory copies, and writing checkpoints of a given size, have a cost.
#[test]
fn copies_and_checkpoints_of_a_given_size_are_not_free() {
    let failures =
        "[failures]\ncauses = [{ name = \"any\", loses = \"node\", per_node_h = 0.7 }]\n";
    let (said, _) = told(&format!(
        "{PLAN}{failures}[parallel.reaction]\nsaves = \"in-memory\"\n"
    ));
    assert_says(
        &said,
        &["`parallel.reaction.costs = \"parcae\"` from data/reactions/parcae.toml"],
    );
    let spot = "[spot]\nexponential_mean_h = 1000\ncheckpoint = \"none\"\n";
    let (said, _) = told(&format!("{PLAN}{failures}{spot}"));
    assert_says(
        &said,
        &["`failures.checkpoint_write_s = 3.65 + 0.0199 per MB"],
    );
    assert!(!said.contains("spot.checkpoint_write_s"), "{said}");
    let (said, _) = told(&format!("{PLAN}{failures}{spot}checkpoint_mb = 1000\n"));
    assert_says(
        &said,
        &["`failures.checkpoint_write_s = 23.6` from data/clouds/delays/checkpoint.csv"],
    );
}

/// Shipped scenarios and those of papers set these values explicitly.
#[test]
fn no_shipped_scenario_leaves_losses_unsaid() {
    let inside = |folder: PathBuf| {
        let all = fs::read_dir(folder).expect("it is there");
        all.map(|entry| entry.expect("it is readable").path())
    };
    let folders = inside(repository().join("data/papers")).chain([repository().join("scenarios")]);
    let mut files: Vec<PathBuf> = folders.flat_map(inside).collect();
    files.retain(|path| {
        let is_read = path.extension().is_some_and(|own| own == "toml");
        let text = if is_read {
            fs::read_to_string(path)
        } else {
            Ok(String::new())
        };
        let text = text.expect("it is readable");
        is_read && !text.contains("citation") && !text.contains("[policy]")
    });
    assert!(files.len() > 40, "{files:?}");
    for path in files {
        let path = path.to_str().expect("UTF-8");
        let said = stderr(&Sandbox::new().run(&["check", path]).success());
        assert!(!said.contains("using `"), "{path}: {said}");
    }
}
