//! A scenario in several files equals the scenario in a single file.

use std::fs;

use crate::sandbox::{Sandbox, assert_same_files, stderr, stdout};

/// Three files in two folders, each of which overrides the files that it includes.
fn in_parts() -> Sandbox {
    let sandbox = Sandbox::with(
        r#"
include = ["common/base.toml", "prices.toml"]
name = "parts"
replicas = 3
[cluster]
workers = { from = 8, to = 16, factor = 2 }
[pricing.define.own]
granularity_s = 60
[search]
objectives = ["time", "cost"]
[strategy.partial]
probe_steps = 40
"#,
    );
    fs::create_dir(sandbox.path("common")).expect("the sandbox is writable");
    sandbox.write(
        "common/base.toml",
        r#"
include = "deep.toml"
seed = 7
replicas = 9
workloads = ["scavenger-resnet50", "./mine"]
[cluster]
workers = { from = 8, to = 20, step = 4 }
batch = [512, 1024]
[search]
strategies = ["oracle", "full", "partial"]
objectives = ["knee"]
[pricing]
policies = ["paper-fixed"]
"#,
    );
    sandbox.write(
        "common/deep.toml",
        r#"
seed = 1
fidelity = "event"
variation = { step_cv = 0.05, drift = { sigma = 0.2, period_s = 600 } }
strategy.partial = { probe_steps = 30, extremes = "three" }
"#,
    );
    sandbox.write(
        "prices.toml",
        r#"
fidelity = "fast"
[variation]
epoch_cv = 0.02
[pricing]
policies = ["own"]
define.own = { usd_per_vm_hour = 0.2, minimum_s = 600 }
"#,
    );
    sandbox.workload("common/mine");
    sandbox.edit("common/mine/workload.toml", "\"common/mine\"", "\"mine\"");
    sandbox
}

const WRITTEN_OUT: &str = r#"
name = "parts"
seed = 7
replicas = 3
fidelity = "fast"
workloads = ["scavenger-resnet50", "./common/mine"]
[cluster]
workers = [8, 16]
batch = [512, 1024]
[variation]
step_cv = 0.05
epoch_cv = 0.02
drift = { sigma = 0.2, period_s = 600 }
[pricing]
policies = ["own"]
define.own = { usd_per_vm_hour = 0.2, minimum_s = 600, granularity_s = 60 }
[search]
strategies = ["oracle", "full", "partial"]
objectives = ["time", "cost"]
[strategy.partial]
probe_steps = 40
extremes = "three"
"#;

#[test]
fn a_scenario_in_parts_gives_the_same_bytes_as_written_out() {
    let sandbox = in_parts();
    sandbox.write("single.toml", WRITTEN_OUT);
    let run = |file: &str, out: &str| {
        let assert = sandbox.run(&["run", file, "--out", out]).success();
        let mut files = sandbox.contents(out);
        let manifest = files.remove("manifest.json").expect("it was written");
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("it is JSON");
        (files, stdout(&assert), manifest)
    };
    let (seen, printed, mut manifest) = run("scenario.toml", "parts");
    let (right, printed_right, manifest_right) = run("single.toml", "single");
    assert_eq!(printed, printed_right);
    assert_same_files(&seen, &right, "in parts");
    assert_ne!(manifest["scenario_hash"], manifest_right["scenario_hash"]);
    for of_the_text in ["scenario_hash", "manifest_hash"] {
        manifest[of_the_text] = manifest_right[of_the_text].clone();
    }
    assert_eq!(manifest, manifest_right);
}

#[test]
fn a_run_is_another_when_any_file_of_its_scenario_is() {
    let sandbox = in_parts();
    let run = ["run", "scenario.toml", "--out", "out", "--resume"];
    sandbox.run(&run).success();
    assert!(stderr(&sandbox.run(&run).success()).contains("already complete"));
    for file in ["common/deep.toml", "common/base.toml", "prices.toml"] {
        let before = sandbox.read(file);
        sandbox.write(file, &format!("{before}# changed\n"));
        let told = stderr(&sandbox.run(&run).code(2));
        assert!(told.contains("the text of the scenario file"), "{told}");
        sandbox.write(file, &before);
    }
    assert!(stderr(&sandbox.run(&run).success()).contains("already complete"));
}

#[test]
fn a_file_may_be_included_on_two_ways_but_not_without_end() {
    let sandbox = Sandbox::with(
        "include = [\"a.toml\", \"b.toml\"]\nworkloads = [\"scavenger-resnet18\"]\n\
         search.strategies = [\"oracle\"]\n",
    );
    sandbox.write("a.toml", "include = \"./c.toml\"\n");
    sandbox.write("b.toml", "include = \"c.toml\"\n");
    sandbox.write("c.toml", "replicas = 5\n");
    let assert = sandbox.run(&["check", "scenario.toml"]).success();
    assert_eq!(stdout(&assert), "scenario.toml: ok, 15 cases\n");

    // Twice as many at every level.
    for level in 0..40 {
        let next = format!("{}.toml", level + 1);
        sandbox.write(
            &format!("{level}.toml"),
            &format!("include = [{next:?}, {next:?}]\n"),
        );
    }
    sandbox.write("40.toml", "");
    let told = stderr(&sandbox.run(&["check", "0.toml"]).code(2));
    assert!(told.contains("more than 100 files are included"), "{told}");
}
