//! Folders of results: whose they are, and that nothing of another run is left in them.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, assert_same_files, stderr, stdout};

/// A scenario with `[policy]` of 50 lives.
pub const POLICIES: &str = "job = { work_h = 5, deadline_h = 7, changeover_s = 600 }\n\
    market = { run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 50 }\n\
    policy.names = [\"greedy\", \"cost-to-go\"]\n";

const SEARCH: &str = "workloads = [\"scavenger-resnet18\"]\nreplicas = 2\n\
    search = { strategies = [\"oracle\", \"random\"], objectives = [\"time\"] }\n";

const RUN_LIVES: [&str; 4] = ["run", "lives.toml", "--out", "out"];
const RUN_SEARCH: [&str; 4] = ["run", "search.toml", "--out", "out"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("lives.toml", POLICIES);
    sandbox.write("search.toml", SEARCH);
    sandbox
}

fn overwriting<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--overwrite"]].concat()
}

/// A run of very many lives that has begun to write.
fn long_run(sandbox: &Sandbox) -> Child {
    let mut command = sandbox.scavsim();
    let command = command.args(RUN_LIVES);
    let command = command.args(["--jobs", "1", "-s", "market.replicas=500000"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let begun = Instant::now();
    let rows = || fs::metadata(sandbox.path("out/lives.partial.csv")).map_or(0, |file| file.len());
    while rows() == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "no row is written"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    run.expect("it can be started")
}

#[test]
fn two_runs_of_policies_at_once_do_not_mix_their_lives() {
    let sandbox = sandbox();
    let mut run = long_run(&sandbox);
    let told = stderr(&sandbox.run(&RUN_LIVES).code(1));
    assert!(
        told.contains("is writing to out; wait for its end"),
        "{told}"
    );
    run.kill().expect("it is ours");
    run.wait().expect("it is ours");
    assert_eq!(sandbox.files("out"), ["lives.partial.csv"]);
    sandbox.run(&RUN_LIVES).success();
    let files = ["lives.csv", "manifest.json", "summary.csv"];
    assert_eq!(sandbox.files("out"), files);
    assert_eq!(sandbox.read("out/lives.csv").lines().count(), 1 + 50 * 3);
    // As where nothing was killed, and as often as one likes.
    sandbox
        .run(&["run", "lives.toml", "--out", "other"])
        .success();
    sandbox.run(&RUN_LIVES).success();
    assert_same_files(
        &sandbox.contents("out"),
        &sandbox.contents("other"),
        "killed",
    );
}

#[test]
fn policies_and_searches_do_not_write_into_the_results_of_each_other() {
    let sandbox = sandbox();
    let refused = |arguments: &[&str], holds: &str| {
        let before = sandbox.contents("out");
        let told = stderr(&sandbox.run(arguments).code(2));
        assert!(told.contains(&format!("out holds {holds}")), "{told}");
        assert_same_files(&sandbox.contents("out"), &before, "refused");
    };
    let compare = ["compare", "search.toml", "--out", "out"];
    sandbox.run(&RUN_SEARCH).success();
    refused(&RUN_LIVES, "a finished run of `search`");
    refused(&compare, "a finished run of `search`");
    sandbox.run(&overwriting(&RUN_LIVES)).success();
    let files = ["lives.csv", "manifest.json", "summary.csv"];
    assert_eq!(sandbox.files("out"), files);
    let lives = "finished results of `lives` (kind: policies)";
    refused(&RUN_SEARCH, lives);
    refused(&compare, lives);
    refused(&[&RUN_LIVES[..], &["--seed", "2"]].concat(), lives);
    sandbox.run(&overwriting(&RUN_SEARCH)).success();
    let files = ["manifest.json", "records.csv", "summary.csv"];
    assert_eq!(sandbox.files("out"), files);
    // One that is not finished goes on, or is thrown away.
    let rows = sandbox.contents("out")["records.csv"].len();
    sandbox.kill("out", rows);
    refused(&RUN_LIVES, "a run of `search` that is not finished");
    sandbox.run(&overwriting(&RUN_LIVES)).success();
    assert_eq!(sandbox.files("out").len(), 3);
    sandbox
        .run(&["compare", "search.toml", "--out", "compared"])
        .success();
    let run = ["run", "search.toml", "--out", "compared"];
    let told = stderr(&sandbox.run(&run).code(2));
    assert!(
        told.contains("finished results (kind: comparison)"),
        "{told}"
    );
}

#[test]
fn lives_that_somebody_changed_are_told() {
    let sandbox = sandbox();
    sandbox.run(&RUN_LIVES).success();
    let told = stdout(&sandbox.run(&["verify", "out"]).success());
    assert!(
        told.contains("2 files have the hashes of the manifest"),
        "{told}"
    );
    let told = stderr(&sandbox.run(&["summary", "out"]).code(2));
    assert!(
        told.contains("out holds results of kind `policies`"),
        "{told}"
    );
    let lives = sandbox.read("out/lives.csv");
    sandbox.write("out/lives.csv", &lives.replacen("true", "false", 1));
    let told = stderr(&sandbox.run(&["verify", "out"]).code(2));
    assert!(
        told.contains("out/lives.csv is missing or was changed"),
        "{told}"
    );
}

#[cfg(unix)]
#[test]
fn lives_are_not_written_through_a_link() {
    let sandbox = sandbox();
    sandbox.write("victim", "mine");
    fs::create_dir(sandbox.path("out")).expect("the sandbox is writable");
    let link = |name: &str| {
        let link = sandbox.path("out").join(name);
        std::os::unix::fs::symlink("../victim", link).expect("it can be linked");
    };
    link("lives.partial.csv");
    let told = stderr(&sandbox.run(&RUN_LIVES).failure());
    assert!(
        told.contains("out/lives.partial.csv: it is a link"),
        "{told}"
    );
    fs::remove_file(sandbox.path("out/lives.partial.csv")).expect("it is ours");
    link("summary.csv");
    sandbox.run(&RUN_LIVES).success();
    assert!(!sandbox.path("out/summary.csv").is_symlink());
    assert_eq!(sandbox.read("victim"), "mine");
}
