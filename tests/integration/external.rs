//! Strategies that are programs.
//!
//! They are written in Python; where there is none, nothing is tested and a sentence says so.

use std::collections::BTreeMap;
use std::process::Command;

use crate::sandbox::{Rows, Sandbox, assert_same_files, repository_file, stderr};

fn without_python() -> bool {
    let missing = Command::new("python3").arg("--version").output().is_err();
    if missing {
        eprintln!("python3 is not installed: strategies that are programs were not tested");
    }
    missing
}

/// The first block of a language on the page.
fn block(language: &str) -> String {
    let page = repository_file("docs/own-strategy.md");
    let after = page.split(&format!("```{language}\n")).nth(1);
    let block = after.and_then(|rest| rest.split("```").next());
    block.expect("the page shows one").to_owned()
}

fn of_the_page() -> Sandbox {
    let sandbox = Sandbox::with(&block("toml"));
    sandbox.write("mine.py", &block("python"));
    sandbox
}

#[test]
fn the_one_of_the_page_is_the_same_on_any_number_of_threads() {
    if without_python() {
        return;
    }
    let sandbox = of_the_page();
    let run = |jobs: &str, out: &str| {
        sandbox
            .run(&["run", "scenario.toml", "--jobs", jobs, "--out", out])
            .success();
    };
    run("1", "one");
    run("3", "three");
    let one = sandbox.contents("one");
    assert_same_files(&sandbox.contents("three"), &one, "on three threads");
    let rows = Rows::parse(&sandbox.read("one/records.csv"));
    let mut regret: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for row in rows.iter() {
        if row.text("objective") == "time" {
            let of = (row.text("strategy"), "time");
            *regret.entry(of).or_default() += row.number("regret_time") / 10.0;
        }
    }
    // The best of five is not the best of sixteen in every replica, nor far off.
    let mine = regret[&("mine", "time")];
    assert!(0.0 < mine && mine < 0.3, "{regret:?}");
    // Each replica has a seed of its own.
    let chosen = |row: &crate::sandbox::Row<'_>| {
        format!(
            "{} {}",
            row.text("chosen_workers"),
            row.text("chosen_batch")
        )
    };
    let mut choices: Vec<String> = (rows.iter())
        .filter(|row| row.text("strategy") == "mine" && row.text("objective") == "time")
        .map(|row| chosen(&row))
        .collect();
    choices.sort();
    choices.dedup();
    assert!(choices.len() > 2, "{choices:?}");
}

/// Programs that go wrong, each in its own way, when a draw of the seed says so; else they choose 0.
const BAD: &str = r#"
import json, os, subprocess, sys, time

def choose(at=0):
    print(json.dumps({"choose": at}), flush=True)

how, count = sys.argv[1], 0
while line := sys.stdin.readline():
    told = json.loads(line)
    if told["search"]["seed"] % 2:
        choose()
        continue
    if how == "raises": raise ValueError("no such luck")
    elif how == "ends": sys.exit(0)
    elif how == "exits": sys.exit(7)
    elif how == "garbage": print("best is 3", flush=True); sys.stdin.readline()
    elif how == "hole": choose(99)
    elif how == "negative": choose(-1)
    elif how == "probes-a-hole": print('{"probe": {"configuration": 99}}', flush=True); sys.stdin.readline()
    elif how == "nan": print('{"predict": [NaN]}', flush=True); sys.stdin.readline()
    elif how == "few": print('{"predict": [1.0]}', flush=True); sys.stdin.readline()
    elif how == "two-lengths": print('{"probe": {"configuration": 0, "steps": 1, "usd": 1}}', flush=True); sys.stdin.readline()
    elif how == "sleeps": time.sleep(1000)
    elif how == "forks":
        subprocess.Popen(["sleep", "1000.123"])
        raise ValueError("left a child")
    elif how == "floods":
        while True: sys.stdout.write("x" * 65536)
    elif how == "eats":
        eaten = []
        while True: eaten.append(bytearray(1 << 24))
    elif how == "deaf":
        os.close(0); time.sleep(1000)
    elif how == "gives-up": print('{"fail": "no idea"}', flush=True)
"#;

#[test]
fn whatever_goes_wrong_fails_a_case_and_never_the_run() {
    if without_python() {
        return;
    }
    let ways = [
        "raises",
        "ends",
        "exits",
        "garbage",
        "hole",
        "negative",
        "probes-a-hole",
        "nan",
        "few",
        "two-lengths",
        "sleeps",
        "forks",
        "floods",
        "eats",
        "deaf",
        "gives-up",
    ];
    let mut scenario = format!(
        "name = \"bad\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = 12\nsearch.objectives = [\"time\"]\n\
         search.strategies = {ways:?}\n"
    );
    for way in ways {
        scenario += &format!(
            "[strategy.{way}]\ncommand = [\"python3\", \"bad.py\", \"{way}\"]\ntimeout_s = 3\nmemory_mib = 600\n"
        );
    }
    let sandbox = Sandbox::with(&scenario);
    sandbox.write("bad.py", BAD);
    sandbox
        .run(&["run", "scenario.toml", "--keep-going", "--out", "out"])
        .code(3);
    let records = Rows::parse(&sandbox.read("out/records.csv"));
    let failures = Rows::parse(&sandbox.read("out/failures.csv"));
    let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
    for row in failures.iter() {
        let reason = row.text("reason");
        let known = reasons.entry(row.text("strategy")).or_insert(reason);
        assert_eq!(*known, reason, "of {}", row.text("strategy"));
    }
    for way in ways {
        let rows: Vec<_> = (records.iter())
            .filter(|row| row.text("strategy") == way)
            .collect();
        let failed = rows
            .iter()
            .filter(|row| row.text("status") == "failed")
            .count();
        assert_eq!(rows.len(), 12, "{way}");
        assert!((1..12).contains(&failed), "{way}: {failed} of 12");
    }
    let listed: Vec<String> = (reasons.iter())
        .map(|(way, reason)| format!("{way}: {reason}"))
        .collect();
    insta::assert_snapshot!(listed.join("\n"));
    if cfg!(target_os = "linux") {
        let left = Command::new("pgrep")
            .args(["-f", "sleep 1000.123"])
            .output();
        if let Ok(left) = left {
            assert!(
                left.stdout.is_empty(),
                "a child of a program outlives the run"
            );
        }
    }
}

#[test]
fn a_run_goes_on_with_the_same_program_only() {
    if without_python() {
        return;
    }
    let sandbox = of_the_page();
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--resume"])
        .success();
    sandbox.edit("mine.py", "min(5, count)", "min(4, count)");
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--resume"])
        .code(2);
}

#[test]
fn mistakes_in_its_table_are_told_with_their_places() {
    let complaint = |table: &str, named: &str| {
        let sandbox = Sandbox::with(&format!(
            "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"{named}\"]\n{table}\n"
        ));
        stderr(&sandbox.run(&["check", "scenario.toml"]).code(2))
    };
    let told = [
        complaint("[strategy.mine]\ncommand = [\"no-such-program\"]", "mine"),
        complaint("[strategy.mine]\ncommand = [\"./mine\"]", "mine"),
        complaint("[strategy.mine]\ncommand = []", "mine"),
        complaint("[strategy.mine]\ntimeout_s = 0", "mine"),
        complaint("[strategy.mine]\ncommand = \"mine\"\nseed = 1", "mine"),
        complaint("[strategy.randon]\nprobes = 3", "random"),
        complaint("[strategy.oracle]\ncommand = [\"a\"]", "oracle"),
        complaint("[strategy.\"mine@3\"]\ncommand = [\"a\"]", "random"),
        complaint("[strategy.mine]\ncommand = [\"a\"]", "mime"),
    ];
    insta::assert_snapshot!(told.join("\n---\n"));
}
