//! Bags of jobs in the program: legal scenarios, results, and equal bytes for any way of running.

use crate::sandbox::{Rows, Sandbox, repository, stderr, stdout};

/// A small bag on VMs with counted lifetimes.
const BAG: &str = r#"
replicas = 6

[bag]
jobs = 20
sufficient_share = 0.9
job_times = [
    { vm = "n1-highcpu-32", vms_per_job = 1, mean_s = 900 },
    { vm = "n1-highcpu-32", vms_per_job = 2, mean_s = 700 },
]
parallel_jobs = [2, 4]
job_cv = 0.03
dispatch_lag_s = 18
notice = "logged"
head_vm = "n1-highcpu-2"

[cluster]
start_up_s = 90

[spot]
lifetime = "gcp-2019-highcpu-32"

[pricing]
policies = ["rented", "hour"]

[pricing.define.rented]
catalogue = "on-demand"
as_rented = true
provider = "gcp"
region = "us-central1"
date = "2020-05-29"

[pricing.define.hour]
usd_per_vm_hour = 0.24
granularity_s = 3600

[search]
strategies = ["oracle", "random", "clairvoyant"]
objectives = ["time", "cost"]
"#;

fn records(scenario: &str, more: &[&str]) -> String {
    let sandbox = Sandbox::with(scenario);
    let command = [&["run", "scenario.toml", "--out", "out"], more].concat();
    sandbox.run(&command).success();
    sandbox.read("out/records.csv")
}

fn refused(changes: &[(&str, &str)]) -> String {
    let mut scenario = BAG.to_owned();
    for (from, to) in changes {
        assert!(scenario.contains(from), "{from}");
        scenario = scenario.replacen(from, to, 1);
    }
    let sandbox = Sandbox::with(&scenario);
    stderr(&sandbox.run(&["check", "scenario.toml"]).failure().code(2))
}

#[test]
fn a_bag_meets_prices_strategies_and_objectives() {
    let text = records(BAG, &[]);
    let rows = Rows::parse(&text);
    assert_eq!(rows.len(), 2 * 2 * 3 * 6);
    let mut lost = 0.0;
    for row in rows.iter() {
        assert_eq!(row.text("status"), "ok", "{}", row.text("reason"));
        assert_eq!(
            (row.text("workload"), row.text("provenance")),
            ("bag", "stated")
        );
        assert!(row.text("chosen_other").starts_with("vms_per_job="));
        lost += row.number("lost_vms");
        let parts: f64 = ["useful", "search", "waiting", "lost", "restore"]
            .map(|part| row.number(&format!("bill_{part}_usd")))
            .iter()
            .sum();
        let usd = row.number("cost_usd");
        assert!((parts / usd - 1.0).abs() < 1e-6, "{parts} {usd}");
        // 20 jobs of 15 min or less on at least two slots need at least an hour.
        let hours = row.number("time_h");
        assert!((0.8..40.0).contains(&hours), "{hours}");
    }
    assert!(lost > 0.0);
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_shards() {
    let one = records(BAG, &["--jobs", "1"]);
    assert_eq!(one, records(BAG, &["--jobs", "4"]));
    let sandbox = Sandbox::with(BAG);
    for shard in ["1/3", "2/3", "3/3"] {
        sandbox
            .run(&["run", "scenario.toml", "--out", "out", "--shard", shard])
            .success();
    }
    sandbox.run(&["merge", "out"]).success();
    assert_eq!(one, sandbox.read("out/records.csv"));
    assert_ne!(one, records(BAG, &["--seed", "1"]));
}

#[test]
fn markets_that_take_several_vms_and_sweeps_of_terms_run_too() {
    for lifetime in ["aws-2020-p3-batch", "aws-2020-p3-trace", "gcp-2019-bathtub"] {
        let scenario = BAG.replace("gcp-2019-highcpu-32", lifetime);
        let text = records(&scenario, &["-s", "bag.dispatch_lag_s=[0, 60]"]);
        let rows = Rows::parse(&text);
        assert_eq!(rows.len(), 2 * 2 * 2 * 3 * 6);
        for row in rows.iter() {
            assert_eq!(
                row.text("status"),
                "ok",
                "{lifetime}: {}",
                row.text("reason")
            );
        }
    }
}

#[test]
fn ranking_tells_the_expected_cost_of_a_job() {
    let sandbox = Sandbox::with(BAG);
    let table = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--runs", "40"])
            .success(),
    );
    assert!(table.contains("least expected cost of a job"), "{table}");
    let csv = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--runs", "40", "--format", "csv"])
            .success(),
    );
    let rows = Rows::parse(&csv);
    for row in rows.iter().filter(|row| row.text("pricing") == "rented") {
        let usd = row.number("job_cost_usd");
        // One VM for 15 min or two for 12 at 0.24 USD an hour, plus losses.
        assert!((0.060..0.115).contains(&usd), "{usd}");
    }
}

#[test]
fn a_case_of_a_bag_can_be_traced() {
    let sandbox = Sandbox::with(BAG);
    sandbox
        .run(&["trace", "scenario.toml", "--case", "0", "--out", "trace"])
        .success();
    let files = sandbox.files("trace");
    let events = files.iter().find(|name| name.ends_with("events.jsonl"));
    let text = sandbox.read(&format!("trace/{}", events.expect("it is there")));
    let done = text
        .lines()
        .filter(|line| line.contains("\"compute\""))
        .count();
    assert!(done >= 18, "{done} of 18 jobs");
    assert!(
        text.lines()
            .last()
            .is_some_and(|line| line.contains("target"))
    );
}

#[test]
fn a_surrogate_is_told_as_a_formula() {
    let scenario = BAG.replace(
        "[cluster]\n",
        "[bag.surrogate]\nafter_jobs = 5\ntrain_s = 60\nresult_s = 0.1\n[cluster]\n",
    );
    let mean = |text: &str| {
        let rows = Rows::parse(text);
        let hours = rows.iter().map(|row| row.number("time_h"));
        hours.sum::<f64>() / rows.len() as f64
    };
    let (with, without) = (records(&scenario, &[]), records(BAG, &[]));
    for row in Rows::parse(&with).iter() {
        assert_eq!(row.text("provenance"), "formula");
    }
    assert!(mean(&with) < 0.6 * mean(&without));
}

#[test]
fn all_mistakes_of_a_bag_are_told_at_once() {
    let told = refused(&[
        ("jobs = 20", "jobs = 0"),
        ("sufficient_share = 0.9", "sufficient_share = 1.1"),
        ("notice = \"logged\"", "notice = \"late\""),
    ]);
    for part in [
        "from 1 to 10^6",
        "above 0 and at most 1",
        "`late`",
        "`logged`",
        "scenario.toml:5",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = refused(&[
        (
            "[cluster]\n",
            "[cluster]\nvm = [\"n1-highcpu-16\"]\nworkers = [4]\n",
        ),
        (
            "lifetime = \"gcp-2019-highcpu-32\"",
            "lifetime = \"gcp-2019-highcpu-33\"\non_loss = \"go-on\"",
        ),
        ("vms_per_job = 2", "vms_per_job = 1"),
    ]);
    for part in [
        "no time of a job on `n1-highcpu-16`",
        "unknown lifetime `gcp-2019-highcpu-33`",
        "did you mean `gcp-2019-highcpu-32`?",
        "`spot.on_loss` and `bag` exclude each other",
        "`cluster.workers` and `bag` exclude each other",
        "holds 1 VMs of `n1-highcpu-32` twice",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = refused(&[
        (
            "parallel_jobs = [2, 4]",
            "parallel_jobs = [2, 2]\nlosses = { attempts = 3 }",
        ),
        ("replicas = 6", "replicas = 6\ngrid = \"scout\""),
    ]);
    for part in [
        "`parallel_jobs` holds 2 twice",
        "`bag.losses` and `spot` exclude each other",
        "`grid` and `bag` exclude each other",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = refused(&[
        ("[2, 4]", "{ from = 1, to = 1000 }"),
        (
            "mean_s = 700 },",
            &format!(
                "mean_s = 700 }},{}",
                (3..13)
                    .map(|n| format!(
                        "{{ vm = \"n1-highcpu-32\", vms_per_job = {n}, mean_s = 700 }},"
                    ))
                    .collect::<String>()
            ),
        ),
    ]);
    assert!(
        told.contains("can be run in 12000 ways; at most 10000"),
        "{told}"
    );
    let told = refused(&[("jobs = 20\n", "")]);
    assert!(told.contains("the key `bag.jobs` is missing"), "{told}");
    let told = refused(&[("n1-highcpu-2\"", "n1-highcpu-3\"")]);
    assert!(told.contains("n1-highcpu-3"), "{told}");
}

/// 100 jobs on the choice, with and without the counted lifetimes.
#[test]
fn the_shipped_scenario_chooses_among_sizes() {
    let scenario = repository().join("scenarios/bags.toml");
    let path = scenario.to_str().expect("the path is UTF-8");
    let sandbox = Sandbox::new();
    sandbox.run(&["check", path]).success();
    let json = sandbox
        .run(&["rank", path, "--runs", "20", "--format", "json"])
        .success();
    let value: serde_json::Value = serde_json::from_str(&stdout(&json)).expect("JSON");
    let rows = value["configurations"].as_array().expect("a list");
    assert_eq!(rows.len(), 12);
    let cost = |vm: &str, other: &str| {
        let row = rows
            .iter()
            .find(|row| row["vm"] == vm && row["other"] == other);
        row.and_then(|row| row["job_cost_usd"].as_f64())
            .expect("a figure")
    };
    // On 64 vCPUs in total, VMs of 32 are the cheapest.
    let of_32 = cost("n1-highcpu-32", "vms_per_job=2;parallel_jobs=4");
    assert!(of_32 < cost("n1-highcpu-16", "vms_per_job=4;parallel_jobs=4"));
    assert!(of_32 < cost("n1-highcpu-8", "vms_per_job=8;parallel_jobs=4"));
}
