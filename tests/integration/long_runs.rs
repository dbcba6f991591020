//! Long or large runs ask before they begin, and estimates are near the real time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, stderr};

const LONG: &str = "name = \"long\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = 1000000000\n\
    variation = { step_cv = 0.05 }\npricing.policies = [\"paper-fixed\"]\n\
    search = { strategies = [\"oracle\", \"partial\", \"random\"], objectives = [\"time\", \"cost\"] }\n";

#[test]
fn a_run_of_hours_begins_only_by_yes() {
    let sandbox = Sandbox::with(LONG);
    let begin = Instant::now();
    let refused = sandbox.run(&["run", "scenario.toml"]).code(2);
    let text = stderr(&refused);
    assert!(
        begin.elapsed() < Duration::from_secs(60),
        "{:?}",
        begin.elapsed()
    );
    assert!(text.contains("long: it would take about "), "{text}");
    assert!(
        text.contains("; it was not started. `--yes` starts it"),
        "{text}"
    );
    // No disk has room for all of its records.
    let refused = sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(2);
    let text = stderr(&refused);
    assert!(text.contains("of records.csv where "), "{text}");
    assert!(
        sandbox
            .files("out")
            .iter()
            .all(|name| !name.ends_with(".csv"))
    );

    let mut running = Command::new(env!("CARGO_BIN_EXE_scavsim"))
        .current_dir(sandbox.path("."))
        .args([
            "run",
            "scenario.toml",
            "--out",
            "yes",
            "--yes",
            "--jobs",
            "1",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let has_begun = || {
        sandbox
            .files("yes")
            .iter()
            .any(|name| name.starts_with("records."))
    };
    while !has_begun() {
        assert!(
            running.try_wait().expect("it is a child").is_none(),
            "it ended"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    running.kill().expect("it runs");
    running.wait().expect("it is a child");
}

#[test]
fn a_short_run_is_not_asked_about() {
    let sandbox = Sandbox::with(LONG);
    let assert = sandbox
        .run(&["run", "scenario.toml", "--replicas", "2000"])
        .success();
    assert_eq!(stderr(&assert), "");
}

/// Seconds in `about 75 s on 2 threads`.
fn told_s(text: &str) -> f64 {
    let (_, rest) = text.split_once("about ").expect("an estimate");
    let mut words = rest.split(' ');
    let number: f64 = words
        .next()
        .and_then(|word| {
            if word == "a" {
                Some(1.0)
            } else {
                word.parse().ok()
            }
        })
        .expect("a number");
    let unit = match words.next() {
        Some(unit) if unit == "s" || unit.starts_with("second") => 1.0,
        Some("min") => 60.0,
        other => panic!("{other:?} in {text}"),
    };
    number * unit
}

/// Other processes on the machine affect both: the nearest of a few attempts counts.
#[test]
fn an_estimate_is_near_what_the_run_takes() {
    let many = "name = \"many\"\nreplicas = 4\nworkloads = [\"scavenger-transformer\"]\n\
        vm.synthetic = { like = \"e2-standard-4\", compute_scale = { from = 0.1, to = 10, factor = 1.0476 }, \
        network_scale = { from = 0.1, to = 10.1, step = 0.2 } }\n\
        cluster = { vm = [\"synthetic\"], search = \"each-vm\" }\nvariation = { step_cv = 0.05, epoch_cv = 0.02 }\n\
        search = { strategies = [\"oracle\", \"full\", \"partial\", \"random\"], objectives = [\"time\"] }\n";
    for (text, replicas) in [(LONG, "150000"), (many, "20")] {
        let sandbox = Sandbox::with(text);
        let run = [
            "run",
            "scenario.toml",
            "--replicas",
            replicas,
            "--jobs",
            "2",
        ];
        let mut ratios = Vec::new();
        for _ in 0..4 {
            let dry = sandbox.run(&[&run[..], &["--dry-run"]].concat()).success();
            let told = told_s(&stderr(&dry));
            let begin = Instant::now();
            sandbox
                .run(&[&run[..], &["--format", "csv"]].concat())
                .success();
            let took = begin.elapsed().as_secs_f64();
            assert!(took > 0.5, "{took} s are too few to tell");
            ratios.push(told / took);
            if (0.5..=2.0).contains(&(told / took)) {
                break;
            }
        }
        let is_near = |ratio: &f64| (0.5..=2.0).contains(ratio);
        assert!(ratios.iter().any(is_near), "{ratios:?}");
    }
}
