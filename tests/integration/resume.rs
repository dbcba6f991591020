//! A resumed run ends like one that was never stopped.

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

/// The scenario in tasks of four cases: two replicas for two objectives.
fn sandbox_in_tasks() -> Sandbox {
    let sandbox = sandbox();
    let fidelity = "name = \"some\"\nfidelity = \"event\"";
    sandbox.edit("scenario.toml", "name = \"some\"", fidelity);
    sandbox
}

const RUN: [&str; 4] = ["run", "scenario.toml", "--out", "out"];

/// Files in `out` and output of a run that is not stopped.
fn whole(sandbox: &Sandbox, more: &[&str]) -> (Files, String) {
    let assert = sandbox.run(&[&RUN[..], more].concat());
    let files = sandbox.contents("out");
    fs::remove_dir_all(sandbox.path("out")).expect("it was written");
    (files, stdout(&assert))
}

/// A run can be killed when its manifest is complete and only a file for resuming is left to remove.
#[test]
fn what_a_killed_run_left_beside_a_complete_result_goes() {
    let sandbox = sandbox();
    sandbox.run(&RUN).code(3);
    let right = sandbox.contents("out");
    sandbox.write("out/records.partial.hashes", "some\n");
    let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat());
    assert!(stderr(&assert).contains("already complete"));
    assert_eq!(sandbox.contents("out"), right);
}

#[test]
fn a_run_goes_on_behind_the_last_whole_task_wherever_it_was_cut() {
    let sandbox = sandbox_in_tasks();
    let (right, printed) = whole(&sandbox, &[]);
    let rows = &right["records.csv"];
    let lines: Vec<usize> = (0..rows.len()).filter(|&at| rows[at] == b'\n').collect();
    assert_eq!(lines.len(), 1 + 3 * 2 * 3 * 2);
    // Within the header, a row, its last cell; before and after the end of a row; in the last row.
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
        sandbox.left_by_a_kill("out", &right, &rows[..cut]);
        let assert = sandbox.run(&[&RUN[..], &["--resume"]].concat());
        assert_eq!(stdout(&assert), printed);
        let whole = lines
            .iter()
            .filter(|&&end| end < cut)
            .count()
            .saturating_sub(1)
            / 4
            * 4;
        let note = format!("some: resuming after {whole} of 36 cases\n");
        assert!(stderr(&assert).starts_with(&note), "{}", stderr(&assert));
        assert_same_files(&sandbox.contents("out"), &right, &format!("cut at {cut}"));
        fs::remove_dir_all(sandbox.path("out")).expect("it was written");
    }
}

/// It is unknown which figures are true: it continues after none of them, and removes nothing.
#[test]
fn rows_that_somebody_changed_are_refused_with_their_lines() {
    let sandbox = sandbox();
    let (right, _) = whole(&sandbox, &[]);
    let rows = String::from_utf8(right["records.csv"].clone()).expect("it is UTF-8");
    let lines: Vec<&str> = rows.split_inclusive('\n').collect();
    let swapped = [&lines[..3], &[lines[4], lines[3]], &lines[5..]]
        .concat()
        .concat();
    let lost = [&lines[..6], &lines[7..]].concat().concat();
    let renamed = lines[..3].concat() + &lines[3..].concat().replace("partial", "full");
    let first_renamed = (3..)
        .find(|&at| lines[at].contains("partial"))
        .expect("it is there")
        + 1;
    let column = lines[0].split(',').position(|name| name == "time_h");
    let with_time = |time: &str| {
        let mut cells: Vec<&str> = lines[5].split(',').collect();
        cells[column.expect("there is such a column")] = time;
        lines[..5].concat() + &cells.join(",") + &lines[6..].concat()
    };
    for (wrong, line) in [
        (swapped, 4),
        (lost, 7),
        (renamed, first_renamed),
        (with_time("inf"), 6),
        (with_time("-5"), 6),
        (with_time(""), 6),
        (lines[..4].concat() + "\n" + &lines[4..].concat(), 5),
        (rows.replacen("case,", "kase,", 1), 1),
    ] {
        sandbox.left_by_a_kill("out", &right, wrong.as_bytes());
        let before = sandbox.contents("out");
        let told = stderr(&sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(2));
        let at = format!("out/records.partial.csv: line {line} is not ");
        assert!(told.contains(&at), "{at}: {told}");
        assert!(told.contains("--overwrite"), "{told}");
        assert_same_files(&sandbox.contents("out"), &before, "refused");
        sandbox.run(&[&RUN[..], &["--overwrite"]].concat()).code(3);
        assert_same_files(&sandbox.contents("out"), &right, "overwritten");
    }
    // Rows that a kill cuts off, or fills with zeros, are evaluated again.
    for torn in [
        lines[..9].concat() + &"\0".repeat(4096),
        rows[..9].to_owned(),
    ] {
        sandbox.left_by_a_kill("out", &right, torn.as_bytes());
        sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(3);
        assert_same_files(&sandbox.contents("out"), &right, "torn");
    }
}

/// Whether it ended normally or was stopped.
#[test]
fn rows_of_a_run_that_ended_are_verified_in_every_form() {
    let sandbox = sandbox_in_tasks();
    sandbox.edit("scenario.toml", "replicas = 2", "replicas = 9");
    for form in stopped_forms() {
        let file = format!("out/records.{form}");
        let usual = sandbox.run(&[&RUN[..], &["--records", form]].concat());
        let usual = stdout(&usual.code(3));
        sandbox
            .run(&["summary", "out"])
            .success()
            .stdout(usual.clone());
        let right = fs::read(sandbox.path(&file)).expect("it was written");
        let resume = [&RUN[..], &["--resume", "--records", form]].concat();
        let mut refused = 0;
        for at in (1..20).map(|part| right.len() * part / 30) {
            let mut wrong = right.clone();
            wrong[at] ^= 2;
            fs::write(sandbox.path(&file), &wrong).expect("it is writable");
            let summary = sandbox.run(&["summary", "out"]);
            if summary.get_output().status.code() == Some(0) {
                // Some bytes of some formats do not affect a record.
                assert_eq!((stdout(&summary), form), (usual.clone(), "parquet"));
                continue;
            }
            refused += 1;
            for told in [summary, sandbox.run(&resume)] {
                let told = stderr(&told.code(2).stdout(""));
                assert!(
                    told.contains(&file) && told.contains("--overwrite"),
                    "{told}"
                );
            }
        }
        assert!(refused > 9, "{form}: {refused}");
        fs::write(sandbox.path(&file), &right).expect("it is writable");
        sandbox.run(&resume).success();
        if form == "csv" {
            let rows = String::from_utf8(right).expect("it is UTF-8");
            let row = rows.find("\n100,").expect("there are 162 rows");
            // A figure of it, after its decimal point.
            let digit = row + rows[row..].find('.').expect("it has figures") + 1;
            let other = if rows[digit..].starts_with('7') {
                "3"
            } else {
                "7"
            };
            let wrong = [&rows[..digit], other, &rows[digit + 1..]].concat();
            sandbox.write(&file, &wrong);
            let told = stderr(&sandbox.run(&["summary", "out"]).code(2).stdout(""));
            // The third task of the sixth strategy, of five each.
            let lines = "error: out/records.csv: lines 100 to 103 are not what the run wrote";
            assert!(told.starts_with(lines), "{told}");
        }
    }
    // The manifest of a stopped one also knows its rows, and their number.
    sandbox
        .run(&[&RUN[..], &["--fail-fast", "--overwrite"]].concat())
        .code(3);
    let rows = sandbox.read("out/records.csv");
    let cut = rows.trim_end().rfind('\n').expect("there are rows") + 1;
    for wrong in [rows.replacen(",ok,", ",no,", 1), rows[..cut].to_owned()] {
        sandbox.write("out/records.csv", &wrong);
        let told = stderr(&sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(2));
        assert!(
            told.contains("that the run wrote") || told.contains("are not what"),
            "{told}"
        );
        assert_eq!(sandbox.read("out/records.csv"), wrong);
    }
}

fn stopped_forms() -> Vec<&'static str> {
    if cfg!(feature = "parquet") {
        vec!["jsonl", "parquet", "csv"]
    } else {
        vec!["jsonl", "csv"]
    }
}

#[test]
fn a_run_that_is_not_finished_is_not_replaced_unless_asked_for() {
    let sandbox = sandbox();
    let (right, _) = whole(&sandbox, &[]);
    for killed in [true, false] {
        if killed {
            sandbox.left_by_a_kill("out", &right, &right["records.csv"][..9000])
        } else {
            drop(sandbox.run(&[&RUN[..], &["--fail-fast"]].concat()).code(3))
        }
        let before = sandbox.contents("out");
        for seed in ["0", "5"] {
            let told = stderr(&sandbox.run(&[&RUN[..], &["--seed", seed]].concat()).code(2));
            assert!(
                told.contains("out holds a run of `some` that is not finished"),
                "{told}"
            );
            assert!(
                told.contains("--resume") && told.contains("--overwrite"),
                "{told}"
            );
            assert_same_files(&sandbox.contents("out"), &before, "refused");
        }
        // Shards are next to it; their sums would not be.
        sandbox
            .run(&[&RUN[..], &["--seed", "5", "--shard", "1/1"]].concat())
            .code(3);
        let told = stderr(&sandbox.run(&["merge", "out"]).code(2));
        assert!(told.contains("replace it with `--overwrite`"), "{told}");
        assert!(!told.contains("another folder"), "{told}");
        assert_same_files(&sandbox.contents("out"), &before, "refused");
        sandbox.run(&["merge", "out", "--overwrite"]).code(3);
        assert!(sandbox.read("out/manifest.json").contains("\"seed\": 5"));
        sandbox.run(&[&RUN[..], &["--overwrite"]].concat()).code(3);
        assert_same_files(&sandbox.contents("out"), &right, "overwritten");
    }
    // A finished one is replaced.
    sandbox.run(&[&RUN[..], &["--seed", "5"]].concat()).code(3);
    sandbox.run(&["merge", "out"]).code(3);
    // Without rows nothing is lost.
    sandbox.left_by_a_kill("out", &right, &right["records.csv"][..20]);
    sandbox.run(&RUN).code(3);
    assert_same_files(&sandbox.contents("out"), &right, "nothing lost");
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
    let sandbox = sandbox_in_tasks();
    for (first, then) in [("jsonl", "jsonl"), ("jsonl", "csv"), ("csv", "jsonl,csv")] {
        let (right, _) = whole(&sandbox, &["--records", then]);
        let stopped = ["--fail-fast", "--records", first];
        sandbox.run(&[&RUN[..], &stopped].concat()).code(3);
        let on = sandbox.run(&[&RUN[..], &["--resume", "--records", then]].concat());
        assert!(stderr(&on).starts_with("some: resuming after 24 of 36 cases\n"));
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
        &["--replicas", "5", "--fidelity", "event"],
        &[
            "`replicas` was 2, is now 5",
            "`fidelity` was fast, is now event",
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
    sandbox.edit_manifest("out/manifest.json", &version, r#""scavsim": "0.0.9""#);
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
    // Files that were killed before they were renamed.
    sandbox.write("out/summary.partial.csv", "half a summ");
    sandbox.write("out/records.partial.partial.hashes", "16 ab");
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

    /// Times at which a run is killed, spread over its length. More of them, and other sinks: `kills`.
    const MOMENTS: u32 = 8;

    /// Long enough to be stopped before its end.
    fn long() -> Sandbox {
        let sandbox = sandbox();
        sandbox.edit("scenario.toml", "replicas = 2", "replicas = 400");
        sandbox
    }

    fn formats() -> &'static str {
        if cfg!(feature = "parquet") {
            "csv,jsonl,parquet"
        } else {
            "csv,jsonl"
        }
    }

    /// Starts or resumes a run, and sends `signal` after `delay`; returns whether that stopped it.
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

    /// Renamed files of a killed run are complete; unfinished rows are a prefix of the complete ones. The system may cut a
    /// write off between two pages.
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
                assert!(name.contains(".partial."), "{when}: {name}");
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
            // The resumed run is stopped, too.
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

    /// A file size limit has the effect of a full disk.
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
