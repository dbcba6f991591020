//! Axes that a scenario sweeps, as columns; and columns that a scenario never fills, left out.

use std::collections::BTreeSet;
use std::fs;

use crate::sandbox::{Rows, Sandbox, assert_same_files, stderr, stdout};

const SCENARIO: &str = r#"
name = "sweep"
workloads = ["scavenger-resnet18"]
replicas = 60
vm.synthetic = { like = "e2-standard-4", compute_scale = { from = 0.1, to = 0.3, step = 0.1 }, network_scale = 0.5 }
cluster = { vm = ["synthetic"], search = "each-vm" }
variation = { step_cv = [0.05, 0.1] }
pricing.policies = ["mine", "flat"]
pricing.define.mine = { usd_per_vm_hour = [0.05, 0.2], granularity_s = 60 }
pricing.define.flat.usd_per_vm_hour = 0.1
search = { strategies = ["oracle", "partial"], objectives = ["cost"] }
"#;

fn forms() -> &'static str {
    if cfg!(feature = "parquet") {
        "csv,jsonl,parquet"
    } else {
        "csv,jsonl"
    }
}

fn rows(sandbox: &Sandbox, folder: &str) -> (Vec<String>, Rows) {
    let text = sandbox.read(&format!("{folder}/records.csv"));
    let header = text.lines().next().unwrap_or_default().split(',');
    (header.map(str::to_owned).collect(), Rows::parse(&text))
}

fn policy_name(usd_per_vm_hour: &str) -> String {
    match usd_per_vm_hour {
        "" => "flat".to_owned(),
        price => format!("mine usd_per_vm_hour {price}"),
    }
}

#[test]
fn every_row_has_the_numbers_that_its_names_say() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let (header, rows) = rows(&sandbox, "out");
    let axes = [
        "axis.variation.step_cv",
        "axis.usd_per_vm_hour",
        "axis.compute_scale",
    ];
    let swept: Vec<&String> = header
        .iter()
        .filter(|name| name.starts_with("axis."))
        .collect();
    assert_eq!(swept, axes);
    let mut seen = BTreeSet::new();
    for row in rows.iter() {
        let [setting, price, scale] = axes.map(|name| row.text(name));
        assert_eq!(row.text("setting"), format!("variation.step_cv={setting}"));
        assert_eq!(row.text("pricing"), policy_name(price));
        assert_eq!(row.text("chosen_vm"), format!("synthetic compute {scale}"));
        seen.insert([setting, price, scale]);
    }
    assert_eq!(seen.len(), 2 * 3 * 3);
    let summary = sandbox.read("out/summary.csv");
    // VM types of a group differ on the third.
    assert!(!summary.contains(axes[2]));
    let groups = Rows::parse(&summary);
    assert_eq!(groups.len(), 2 * 3 * 2);
    for group in groups.iter() {
        let [setting, price] = [axes[0], axes[1]].map(|name| group.text(name));
        assert_eq!(
            group.text("setting"),
            format!("variation.step_cv={setting}")
        );
        assert_eq!(group.text("pricing"), policy_name(price));
    }
    let by = ["--by", "axis.compute_scale,axis.usd_per_vm_hour"];
    let assert = sandbox.run(&[&["summary", "out", "--format", "csv"][..], &by].concat());
    let printed = stdout(&assert);
    let keys = printed
        .lines()
        .skip(1)
        .map(|line| line.split(",240,").next());
    let pairs = ["0.1", "0.2", "0.3"]
        .into_iter()
        .flat_map(|scale| ["", "0.05", "0.2"].map(|price| Some(format!("{scale},{price}"))));
    assert!(
        keys.map(|key| key.map(str::to_owned)).eq(pairs),
        "{printed}"
    );
    let assert = sandbox.run(&["summary", "out", "--by", "axis.network_scale"]);
    let told = stderr(&assert);
    assert!(told.contains("`axis.network_scale` is empty"), "{told}");
}

/// All formats have the axes, and any single one is enough to verify a run.
#[test]
fn merged_shards_have_the_same_bytes_and_every_form_verifies() {
    let sandbox = Sandbox::with(SCENARIO);
    let run = ["run", "scenario.toml", "--records", forms(), "--out"];
    sandbox.run(&[&run[..], &["whole"]].concat()).success();
    for shard in ["3/3", "1/3", "2/3"] {
        let run = ["run", "scenario.toml", "--out", "parts", "--shard", shard];
        sandbox.run(&run).success();
    }
    sandbox
        .run(&["merge", "parts", "--records", forms()])
        .success();
    fs::remove_dir_all(sandbox.path("parts/shards")).expect("they were written");
    let whole = sandbox.contents("whole");
    assert_same_files(&sandbox.contents("parts"), &whole, "merged");
    for form in forms().split(',') {
        let verify = ["verify", "whole", "--scenario", "scenario.toml"];
        sandbox.run(&verify).success();
        fs::remove_file(sandbox.path(&format!("whole/records.{form}"))).expect("it was written");
    }
    let left = "records.csv";
    let half = whole[left].len() / 2;
    sandbox.left_by_a_kill("whole", &whole, &whole[left][..half]);
    sandbox
        .run(&[&run[..], &["whole", "--resume"]].concat())
        .success();
    assert_same_files(&sandbox.contents("whole"), &whole, "resumed");
}

#[test]
fn columns_that_a_scenario_never_fills_are_left_out_unless_asked_for() {
    let limited = format!("{SCENARIO}\nlimits.max_cost_usd = 50\n");
    let sandbox = Sandbox::with(&limited);
    let all = ["run", "scenario.toml", "--out", "all", "--all-columns"];
    sandbox
        .run(&["run", "scenario.toml", "--out", "few"])
        .success();
    sandbox.run(&all).success();
    let (few, some) = rows(&sandbox, "few");
    let (names, cells) = rows(&sandbox, "all");
    let has = |name: &str| few.iter().any(|own| own == name);
    assert!(has("kept_net") && has("setting") && !has("repeats"));
    assert!(
        !["knee_depth", "late_h", "mfu", "chosen_other"]
            .into_iter()
            .any(has)
    );
    for name in &names {
        if has(name) {
            assert!(
                cells
                    .iter()
                    .zip(some.iter())
                    .all(|(a, b)| a.text(name) == b.text(name))
            );
        } else {
            assert!(cells.iter().all(|row| row.text(name).is_empty()), "{name}");
        }
    }
    sandbox
        .run(&["verify", "all", "--scenario", "scenario.toml"])
        .success();
    // A run that began with all columns continues with them.
    let whole = sandbox.contents("all");
    let half = whole["records.csv"].len() / 2;
    sandbox.left_by_a_kill("all", &whole, &whole["records.csv"][..half]);
    sandbox
        .run(&["run", "scenario.toml", "--out", "all", "--resume"])
        .success();
    assert_same_files(&sandbox.contents("all"), &whole, "resumed");
}

/// A figure of two axes is for the requested workload; without one it is the mean over all.
#[test]
fn a_figure_of_axes_is_of_the_workload_that_is_asked_for() {
    let workloads = ["scavenger-resnet18", "scavenger-transformer"];
    let two = SCENARIO.replace(
        &format!("\"{}\"", workloads[0]),
        &workloads.map(|own| format!("{own:?}")).join(", "),
    );
    let sandbox = Sandbox::with(&two);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let drawn = |more: &[&str]| {
        let plot = [
            "plot", "out", "--kind", "axes", "--form", "vega", "--out", "figures",
        ];
        sandbox.run(&[&plot[..], more].concat())
    };
    let alt = |name: &str| {
        let spec = sandbox.read(&format!("figures/axes-cost{name}.vl.json"));
        let spec: serde_json::Value = serde_json::from_str(&spec).expect("JSON");
        let words = spec["description"].as_str().expect("words");
        let percent = words
            .split("partial ")
            .nth(1)
            .and_then(|own| own.split(" %").next());
        percent
            .and_then(|own| own.parse::<f64>().ok())
            .expect("a mean")
    };
    drawn(&[]).success();
    let each = workloads.map(|own| {
        drawn(&["--workload", own]).success();
        alt(&format!("-{own}"))
    });
    let both = alt("");
    assert!(each[0] != each[1], "{each:?}");
    assert!(
        (both - 0.5 * (each[0] + each[1])).abs() < 0.11,
        "{both} {each:?}"
    );
    let told = stderr(&drawn(&["--workload", "another"]).code(2));
    assert!(told.contains("no workload `another`"), "{told}");
}
