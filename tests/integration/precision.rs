//! Scenarios with a target precision: the number of replicas for it, and a run as if this number had been given.

use serde_json::Value;

use crate::sandbox::{Sandbox, assert_same_files, stderr, stdout};

const REST: &str = r#"
name = "precise"
workloads = ["scavenger-resnet18"]
variation = { step_cv = 0.05, placement_sigma = 0.03, noise_cv = 0.10, epoch_cv = 0.02 }
search = { strategies = ["oracle", "partial"], objectives = ["time"] }
"#;

fn replicas(sandbox: &Sandbox, folder: &str) -> u64 {
    let manifest: Value =
        serde_json::from_str(&sandbox.read(&format!("{folder}/manifest.json"))).expect("JSON");
    manifest["replicas"].as_u64().expect("a number")
}

#[test]
fn a_run_to_a_precision_is_the_run_of_so_many_replicas_on_any_number_of_threads() {
    let sandbox = Sandbox::with(&format!("precision = 0.002\n{REST}"));
    let told = sandbox.run(&["run", "scenario.toml", "--out", "one", "--jobs", "1"]);
    let told = (stdout(&told.success()), replicas(&sandbox, "one"));
    assert!(told.1 > 16, "{}", told.1);
    let again = sandbox.run(&["run", "scenario.toml", "--out", "three", "--jobs", "3"]);
    let again = again.success();
    let note = stderr(&again);
    assert!(note.contains("net overheads are known to ±0."), "{note}");
    assert_eq!(stdout(&again), told.0);
    assert_same_files(
        &sandbox.contents("three"),
        &sandbox.contents("one"),
        "on three threads",
    );
    // A number on the command line replaces it.
    let count = told.1.to_string();
    let fixed = [
        "run",
        "scenario.toml",
        "--out",
        "fixed",
        "--replicas",
        &count,
    ];
    let fixed = sandbox.run(&fixed).success();
    assert_eq!(stdout(&fixed), told.0);
    assert_same_files(
        &sandbox.contents("fixed"),
        &sandbox.contents("one"),
        "with their number",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "one", "--resume"])
        .success();
}

/// Random effects of opposite signs cancel in pairs: over 2,000 replicas without pairs, 120 with them.
#[test]
fn antithetic_replicas_are_few() {
    let text = REST
        .replace("\"partial\"", "\"default\"")
        .replace("[\"time\"]", "[\"cost\"]");
    let most = "precision = 0.001\nmost_replicas = 2_000\n";
    let of = |key: &str| {
        let sandbox = Sandbox::with(&format!("{key}{most}{text}"));
        let run = sandbox.run(&["run", "scenario.toml", "--out", "out"]);
        run.success();
        replicas(&sandbox, "out")
    };
    assert_eq!(of(""), 2_000);
    let pairs = of("antithetic = true\n");
    assert!(pairs <= 200, "{pairs}");
}

#[test]
fn who_cannot_know_how_many_replicas_there_are_says_so() {
    let sandbox = Sandbox::with(&format!("precision = 0.002\n{REST}"));
    let shard = ["run", "scenario.toml", "--out", "out", "--shard", "1/2"];
    let refused = stderr(&sandbox.run(&shard).code(2));
    assert!(
        refused.contains("a shard cannot know how many replicas"),
        "{refused}"
    );
    assert!(refused.contains("--replicas"), "{refused}");
    sandbox
        .run(&[&shard[..], &["--replicas", "20"]].concat())
        .success();
    let trace = ["trace", "scenario.toml", "--case", "3", "--out", "trace"];
    let refused = stderr(&sandbox.run(&trace).code(2));
    assert!(
        refused.contains("a case number alone cannot know"),
        "{refused}"
    );
}

#[test]
fn a_precision_that_cannot_be_is_refused_with_its_cap() {
    let refused = |text: &str| {
        let sandbox = Sandbox::with(&format!("{text}{REST}"));
        stderr(&sandbox.run(&["run", "scenario.toml"]).code(2))
    };
    let none = refused("most_replicas = 5\n");
    assert!(
        none.contains("`most_replicas` without `precision`"),
        "{none}"
    );
    let less = refused("replicas = 50\nprecision = 0.01\nmost_replicas = 49\n");
    assert!(less.contains("is less than `replicas` = 50"), "{less}");
    let zero = refused("precision = 0\n");
    assert!(zero.contains("expected a number from 10^-6 to 1"), "{zero}");
}
