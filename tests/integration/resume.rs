//! A run that goes on behind what an earlier one left ends as one that was never stopped.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Files, Sandbox, assert_same_files, stderr, stdout};

/// Some cases have a result, some none, some a result that is special.
const SCENARIO: &str = r#"
name = "some"
workloads = ["scavenger-resnet18", "./short", "scavenger-resnet50"]
replicas = 2
variation = { step_cv = 0.05, noise_cv = 0.10, epoch_cv = 0.02 }
search = { strategies = ["oracle", "partial", "default"], objectives = ["time", "knee"] }
limits = { max_time_h = 5.0 }
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.workload("short");
    sandbox.edit("short/workload.toml", "value = 50000", "value = 500");
    sandbox
}

const RUN: [&str; 4] = ["run", "scenario.toml", "--out", "out"];

/// What a run that is not stopped leaves in `out`, with what it prints.
fn whole(sandbox: &Sandbox, more: &[&str]) -> (Files, String) {
    let assert = sandbox.run(&[&RUN[..], more].concat());
    let files = sandbox.contents("out");
    fs::remove_dir_all(sandbox.path("out")).expect("it was written");
    (files, stdout(&assert))
}

/// The manifest of a run that has not ended.
fn unfinished(manifest: &[u8]) -> String {
    let mut manifest: Value = serde_json::from_slice(manifest).expect("it is JSON");
    manifest["complete"] = false.into();
    manifest["finished"] = 0.into();
    manifest["failed"] = 0.into();
    manifest.to_string()
}

#[test]
fn a_run_goes_on_behind_the_last_whole_row_wherever_it_was_cut() {
    let sandbox = sandbox();
    let (right, printed) = whole(&sandbox, &[]);
    let rows = &right["records.csv"];
    let lines: Vec<usize> = (0..rows.len()).filter(|&at| rows[at] == b'\n').collect();
    assert_eq!(lines.len(), 1 + 3 * 2 * 3 * 2);
    // Within the header, a row, its last cell; before and behind the end of a row; in the last row.
    let cuts = [
        0,
        7,
        lines[0],
        lines[0] + 1,
        lines[1] - 3,
        lines[1],
        lines[1] + 1,
    ]
    .into_iter()
    .chain((lines[4]..lines[5]).step_by(41))
    .chain([lines[35] + 9, lines[36] - 1, lines[36], lines[36] + 1]);
    for cut in cuts {
        fs::create_dir(sandbox.path("out")).expect("the sandbox is writable");
        fs::write(sandbox.path("out/records.partial.csv"), &rows[..cut])
            .expect("the sandbox is writable");
        sandbox.write("out/manifest.json", &unfinished(&right["manifest.json"]));
        let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat());
        assert_eq!(stdout(&assert), printed);
        let whole = lines
            .iter()
            .filter(|&&end| end < cut)
            .count()
            .saturating_sub(1);
        let note = format!("some: going on behind {whole} of 36 cases\n");
        assert!(stderr(&assert).starts_with(&note), "{}", stderr(&assert));
        assert_same_files(&sandbox.contents("out"), &right, &format!("cut at {cut}"));
        fs::remove_dir_all(sandbox.path("out")).expect("it was written");
    }
}

#[test]
fn rows_that_are_not_those_of_their_cases_are_evaluated_again() {
    let sandbox = sandbox();
    let (right, _) = whole(&sandbox, &[]);
    let rows = String::from_utf8(right["records.csv"].clone()).expect("it is UTF-8");
    let lines: Vec<&str> = rows.split_inclusive('\n').collect();
    let swapped = [&lines[..3], &[lines[4], lines[3]], &lines[5..]]
        .concat()
        .concat();
    let lost = [&lines[..6], &lines[7..]].concat().concat();
    let zeros = lines[..9].concat() + &"\0".repeat(4096);
    let renamed = lines[..3].concat() + &lines[3..].concat().replace("partial", "full");
    let column = lines[0].split(',').position(|name| name == "time_h");
    let mut cells: Vec<&str> = lines[5].split(',').collect();
    cells[column.expect("there is such a column")] = "inf";
    let infinite = lines[..5].concat() + &cells.join(",") + &lines[6..].concat();
    for wrong in [swapped, lost, zeros, renamed, infinite] {
        fs::create_dir_all(sandbox.path("out")).expect("the sandbox is writable");
        sandbox.write("out/records.partial.csv", &wrong);
        sandbox.write("out/manifest.json", &unfinished(&right["manifest.json"]));
        sandbox.run(&[&RUN[..], &["--resume"]].concat());
        assert_same_files(&sandbox.contents("out"), &right, &wrong[..200]);
    }
}

#[test]
fn a_run_that_is_complete_is_left_alone() {
    let sandbox = sandbox();
    sandbox.run(&RUN).code(3);
    let before = sandbox.contents("out");
    let time = |name| {
        fs::metadata(sandbox.path(name))
            .and_then(|m| m.modified())
            .ok()
    };
    let written = time("out/manifest.json");
    let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat()).success();
    assert_eq!(stdout(&assert), "");
    assert_eq!(stderr(&assert), "some: already complete\n");
    assert_same_files(&sandbox.contents("out"), &before, "resumed");
    assert_eq!(time("out/manifest.json"), written);
}

#[test]
fn a_run_goes_on_whatever_form_its_records_have_and_may_change_it() {
    let sandbox = sandbox();
    for (first, then) in [("jsonl", "jsonl"), ("jsonl", "csv"), ("csv", "jsonl,csv")] {
        let (right, _) = whole(&sandbox, &["--records", then]);
        let stopped = ["--fail-fast", "--records", first];
        sandbox.run(&[&RUN[..], &stopped].concat()).code(3);
        let on = sandbox.run(&[&RUN[..], &["--resume", "--records", then]].concat());
        assert!(stderr(&on).starts_with("some: going on behind 25 of 36 cases\n"));
        assert_same_files(&sandbox.contents("out"), &right, then);
        fs::remove_dir_all(sandbox.path("out")).expect("it was written");
    }
}

#[test]
fn where_nothing_is_a_run_starts() {
    let sandbox = sandbox();
    let (right, printed) = whole(&sandbox, &[]);
    let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(3);
    assert_eq!(stdout(&assert), printed);
    assert_same_files(&sandbox.contents("out"), &right, "started");
}

#[test]
fn another_run_is_refused_and_told_apart() {
    let sandbox = sandbox();
    sandbox.run(&[&RUN[..], &["--fail-fast"]].concat()).code(3);
    let before = sandbox.contents("out");
    let refused = |more: &[&str], said: &[&str]| {
        let assert = sandbox
            .run(&[&RUN[..], &["--resume"], more].concat())
            .code(2);
        assert_eq!(stdout(&assert), "");
        for part in said {
            assert!(stderr(&assert).contains(part), "{}", stderr(&assert));
        }
        assert_same_files(&sandbox.contents("out"), &before, "refused");
    };
    refused(&["--seed", "7"], &["`seed` was 0, is now 7"]);
    refused(
        &["--replicas", "5", "--fidelity", "step"],
        &[
            "`replicas` was 2, is now 5",
            "`fidelity` was fast, is now step",
            "`cases` was 36, is now 90",
        ],
    );
    let restore = sandbox.read("short/workload.toml");
    sandbox.edit("short/workload.toml", "value = 500,", "value = 501,");
    refused(&[], &["the data of workload `short` have changed"]);
    sandbox.write("short/workload.toml", &restore);
    sandbox.edit("scenario.toml", "replicas = 2", "replicas = 2 # two");
    refused(&[], &["the text of the scenario file is another"]);
    sandbox.edit("scenario.toml", "replicas = 2 # two", "replicas = 2");
    sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(3);

    let version = format!(r#""scavsim": "{}""#, env!("CARGO_PKG_VERSION"));
    sandbox.edit("out/manifest.json", &version, r#""scavsim": "0.0.9""#);
    let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(2);
    assert!(stderr(&assert).contains("it was made by scavsim 0.0.9, this is "));
    sandbox.write("out/manifest.json", "{");
    let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(2);
    assert!(stderr(&assert).contains("cannot read out/manifest.json"));
}

#[test]
fn data_of_workloads_that_are_only_stored_count_too() {
    let sandbox = sandbox();
    sandbox.edit("scenario.toml", r#", "./short", "#, ", ");
    let stored = r#"search = { stored = ["scavenger-resnet18", "./short"], "#;
    sandbox.edit("scenario.toml", "search = { ", stored);
    sandbox.run(&RUN);
    sandbox.edit("short/workload.toml", "value = 500,", "value = 501,");
    let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(2);
    assert!(stderr(&assert).contains("the data of workload `short` have changed"));
}

#[test]
fn what_an_older_run_left_is_never_taken_over() {
    let sandbox = sandbox();
    let (right, _) = whole(&sandbox, &["--seed", "2"]);
    sandbox.run(&[&RUN[..], &["--seed", "1"]].concat()).code(3);
    let other_form = ["--seed", "2", "--records", "jsonl"];
    sandbox.run(&[&RUN[..], &other_form].concat()).code(3);
    assert!(!sandbox.path("out/records.csv").exists());
    // A file that was killed before it had its name.
    sandbox.write("out/.scavsim-Zx81Qp", "half a summ");
    sandbox
        .run(&[&RUN[..], &["--seed", "2", "--resume"]].concat())
        .code(3);
    assert_same_files(&sandbox.contents("out"), &right, "resumed");
}

#[cfg(unix)]
mod stopped {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use scavsim::rng::mix;

    use super::*;

    /// Moments at which a run is killed, spread over its length.
    const MOMENTS: u32 = 20;

    /// Long enough to be stopped on the way.
    fn long() -> Sandbox {
        let sandbox = sandbox();
        sandbox.edit("scenario.toml", "replicas = 2", "replicas = 400");
        sandbox
    }

    fn formats() -> &'static str {
        match cfg!(feature = "parquet") {
            true => "csv,jsonl,parquet",
            false => "csv,jsonl",
        }
    }

    /// Starts to run, or to go on, and sends `signal` after `delay`; whether that stopped it.
    fn stop(sandbox: &Sandbox, arguments: &[&str], delay: Duration, signal: &str) -> bool {
        let mut child = sandbox
            .scavsim()
            .args(RUN)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        std::thread::sleep(delay);
        let pid = child.id().to_string();
        // It may have ended already; it is still our child, so its number is not another's.
        let _ = Command::new("kill").args([signal, &pid]).status();
        let status = child.wait().expect("it is our child");
        matches!(status.code(), None | Some(130))
    }

    /// What a killed run leaves is whole, as far as it has its name; unfinished rows are the
    /// beginning of what they were to be. The system may cut a write off between two pages.
    fn assert_whole(files: &Files, right: &Files, when: &str) {
        for (name, bytes) in files {
            if name == "manifest.json" {
                let manifest: Value = serde_json::from_slice(bytes).expect("it is JSON");
                assert!(manifest["complete"].is_boolean(), "{when}");
            } else if name == "records.partial.csv" {
                let rows = &right["records.csv"];
                assert!(rows.starts_with(bytes), "{when}: rows differ");
            } else if let Some(right) = right.get(name) {
                assert!(bytes == right, "{when}: {name} is not whole");
            } else {
                let unfinished = name.contains(".partial.") || name.starts_with(".scavsim-");
                assert!(unfinished, "{when}: {name}");
            }
        }
    }

    #[test]
    fn a_run_that_was_killed_at_any_moment_ends_as_if_it_was_not() {
        let sandbox = long();
        let forms = ["--records", formats(), "--jobs", "2"];
        let (right, printed) = whole(&sandbox, &forms);
        // The second time the program and its data are in memory.
        let start = Instant::now();
        whole(&sandbox, &forms);
        let length = start.elapsed();
        let mut killed = 0;
        for moment in 0..MOMENTS {
            let luck = |n: u64| (mix(u64::from(moment), n) >> 11) as f64 / (1u64 << 53) as f64;
            let first = length.mul_f64((f64::from(moment) + luck(1)) / f64::from(MOMENTS));
            let second = length.mul_f64(luck(2));
            killed += u32::from(stop(&sandbox, &forms, first, "-KILL"));
            let when = format!("killed after {first:?} of {length:?}");
            assert_whole(&sandbox.contents("out"), &right, &when);
            // The run that goes on is stopped in turn.
            let again = [&forms[..], &["--resume"]].concat();
            let signal = ["-KILL", "-INT"][moment as usize % 2];
            stop(&sandbox, &again, second, signal);
            let assert = sandbox.run(&[&RUN[..], &again].concat());
            let printed_now = stdout(&assert);
            let complete = printed_now.is_empty() && stderr(&assert).contains("already complete");
            assert!(complete || printed_now == printed, "{}", stderr(&assert));
            let when = format!("{when}, then {signal} after {second:?}");
            assert_same_files(&sandbox.contents("out"), &right, &when);
            fs::remove_dir_all(sandbox.path("out")).expect("it was written");
        }
        assert!(
            killed >= MOMENTS / 2,
            "only {killed} had not ended before they were killed"
        );
    }

    /// A file may not grow beyond a limit: to a program that is what a full disk is.
    #[test]
    fn a_full_disk_is_told_and_leaves_whole_rows() {
        let sandbox = long();
        let (right, _) = whole(&sandbox, &[]);
        let limited = sandbox
            .scavsim()
            .get_program()
            .to_string_lossy()
            .into_owned();
        let output = Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; ulimit -f 300; exec "$@""#, "sh"])
            .arg(limited)
            .args(RUN)
            .current_dir(sandbox.path("."))
            .output()
            .expect("there is a shell");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(
            told.starts_with("error: cannot write out/records.partial.csv: ")
                && told.ends_with("; the rows before are kept in it\n"),
            "{told}"
        );
        let left = sandbox.contents("out");
        assert_whole(&left, &right, "full");
        assert!(left["records.partial.csv"].len() > 100_000);
        assert!(left["records.partial.csv"].ends_with(b"\n"));
        sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(3);
        assert_same_files(&sandbox.contents("out"), &right, "resumed");
    }
}
