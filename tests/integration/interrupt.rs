//! A run that is stopped leaves whole rows, from the first case on.

use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Rows, Sandbox, assert_same_files, stderr};

/// Maximum wait; all waits end as soon as their condition holds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Checks every few milliseconds until there is a value.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "no {what} in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A run that would last hours; killed when dropped, also if the test fails.
struct LongRun(Child);

impl LongRun {
    fn start(sandbox: &Sandbox, fidelity: &str, jobs: &str) -> Self {
        Self::start_with(sandbox, &["--fidelity", fidelity, "--jobs", jobs])
    }

    fn start_with(sandbox: &Sandbox, more: &[&str]) -> Self {
        let arguments = [
            "run",
            "scenario.toml",
            "--out",
            "out",
            "--replicas",
            "4000000000",
            "--yes",
        ];
        let child = sandbox
            .scavsim()
            .args(arguments)
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        LongRun(child)
    }

    /// Waits until `bytes` bytes of rows are in the unfinished file.
    fn wait_for_rows(&self, sandbox: &Sandbox, bytes: u64) {
        let partial = sandbox.path("out/records.partial.csv");
        wait_for("rows", || {
            let length = fs::metadata(&partial).ok()?.len();
            (length >= bytes).then_some(())
        });
    }

    fn send(&self, signal: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("`kill` is there").success());
    }

    fn end(mut self) -> ExitStatus {
        wait_for("end", || self.0.try_wait().expect("it is our child"))
    }
}

impl Drop for LongRun {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sandbox() -> Sandbox {
    Sandbox::with(
        r#"
workloads = ["scavenger-resnet18"]
cluster = { workers = [8], batch = [1024] }
variation = { step_cv = 0.05, epoch_cv = 0.02 }
search = { strategies = ["oracle"], objectives = ["time"] }
"#,
    )
}

/// The number of rows in `file`, all of them complete and without a gap from case 0 on.
fn whole_rows(sandbox: &Sandbox, file: &str) -> usize {
    let text = sandbox.read(file);
    assert!(text.ends_with('\n'), "the last row is cut off");
    let rows = Rows::parse(&text);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row.text("case"), number.to_string());
        assert_eq!(row.text("status"), "ok");
    }
    rows.len()
}

/// Stops a run with `signal`; checks its output.
fn stopped_by(signal: &str, code: i32, fidelity: &str, jobs: &str) {
    let sandbox = sandbox();
    let run = LongRun::start(&sandbox, fidelity, jobs);
    run.wait_for_rows(&sandbox, 1);
    run.send(signal);
    assert_eq!(run.end().code(), Some(code));

    let names = ["manifest.json", "records.csv", "summary.csv"];
    assert_eq!(sandbox.files("out"), names);
    let rows = whole_rows(&sandbox, "out/records.csv");
    assert!(rows > 0);
    let manifest: serde_json::Value =
        serde_json::from_str(&sandbox.read("out/manifest.json")).expect("it is JSON");
    assert_eq!(manifest["complete"], false);
    assert_eq!(manifest["finished"], rows);
    let summary = sandbox.read("out/summary.csv");
    let summary = Rows::parse(&summary);
    assert_eq!(summary.len(), 1);
    let counted = summary.iter().map(|row| row.number("replicas"));
    assert_eq!(counted.sum::<f64>(), rows as f64);

    // The output is a prefix of the whole run's.
    let short = ["run", "scenario.toml", "--out", "short", "--replicas", "3"];
    sandbox
        .run(&[&short[..], &["--fidelity", fidelity]].concat())
        .success();
    let beginning = sandbox.read("short/records.csv");
    assert!(sandbox.read("out/records.csv").starts_with(&beginning));
}

#[test]
fn ctrl_c_keeps_what_was_finished() {
    stopped_by("-INT", 130, "event", "2");
}

#[test]
fn a_polite_kill_keeps_what_was_finished() {
    stopped_by("-TERM", 143, "fast", "1");
}

#[test]
fn a_killed_run_leaves_whole_rows_under_another_name() {
    let sandbox = sandbox();
    let run = LongRun::start(&sandbox, "fast", "2");
    run.wait_for_rows(&sandbox, 1 << 20);
    run.send("-KILL");
    assert_eq!(run.end().code(), None);
    assert_eq!(
        sandbox.files("out"),
        [
            "manifest.json",
            "records.partial.csv",
            "records.partial.hashes"
        ]
    );
    assert!(
        sandbox
            .read("out/manifest.json")
            .contains("\"complete\": false")
    );
    // The system may cut a write off between two pages when it kills.
    let rows = sandbox.read("out/records.partial.csv");
    let end = rows.rfind('\n').map_or(0, |at| at + 1);
    sandbox.write("out/records.partial.csv", &rows[..end]);
    assert!(whole_rows(&sandbox, "out/records.partial.csv") > 1000);
}

#[test]
fn ctrl_c_without_a_result_folder_still_shows_the_summary() {
    let sandbox = sandbox();
    // The folder only shows when the run is in progress.
    let run = LongRun::start(&sandbox, "event", "1");
    run.wait_for_rows(&sandbox, 1);
    run.send("-INT");
    assert_eq!(run.end().code(), Some(130));
}

/// The message of a run that may not use the folder of another.
fn kept_out(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let before = sandbox.files("out");
    let assert = sandbox.run(arguments).code(1).stdout("");
    assert_eq!(sandbox.files("out"), before);
    let told = stderr(&assert);
    assert!(told.starts_with("error: another scavsim"), "{told}");
    assert!(
        told.ends_with("is writing to out; wait for its end, or choose another folder\n"),
        "{told}"
    );
    told
}

/// A run of a few cases.
const SHORT: [&str; 6] = ["run", "scenario.toml", "--out", "out", "--replicas", "3"];

#[test]
fn two_runs_do_not_share_a_folder() {
    let sandbox = sandbox();
    let run = LongRun::start(&sandbox, "fast", "1");
    run.wait_for_rows(&sandbox, 1);
    let told = kept_out(&sandbox, &SHORT);
    if cfg!(target_os = "linux") && fs::read_to_string("/proc/locks").is_ok_and(|t| !t.is_empty()) {
        let process = format!("error: another scavsim, process {},", run.0.id());
        assert!(told.starts_with(&process), "{told}");
    }
    kept_out(&sandbox, &[&SHORT[..], &["--resume"]].concat());
    kept_out(&sandbox, &[&SHORT[..], &["--shard", "1/2"]].concat());
    kept_out(&sandbox, &["merge", "out"]);

    // The folder is free after any kind of end.
    run.send("-KILL");
    run.end();
    sandbox.run(&SHORT).code(2);
    sandbox
        .run(&[&SHORT[..], &["--overwrite"]].concat())
        .success();
    let names = ["manifest.json", "records.csv", "summary.csv"];
    assert_eq!(sandbox.files("out"), names);
}

#[test]
fn shards_are_written_side_by_side_but_not_beside_a_run() {
    let sandbox = sandbox();
    let run = LongRun::start_with(&sandbox, &["--shard", "2/3"]);
    wait_for("shard", || {
        (!sandbox.files("out/shards").is_empty()).then_some(())
    });
    kept_out(&sandbox, &SHORT);
    kept_out(&sandbox, &["merge", "out"]);
    for shard in ["1/2", "2/2"] {
        sandbox
            .run(&[&SHORT[..], &["--shard", shard]].concat())
            .success();
    }
    drop(run);
    sandbox.run(&["merge", "out"]).success();
    sandbox.run(&[&SHORT[..3], &["short"], &SHORT[4..]].concat());
    assert_same_files(
        &sandbox.contents("out"),
        &sandbox.contents("short"),
        "merged",
    );
}

/// Engines that retry may do that: the bytes are equal, and the files are renamed in one step.
#[test]
fn the_same_shard_twice_at_the_same_time_does_no_harm() {
    let sandbox = sandbox();
    sandbox.run(&[&SHORT[..3], &["whole", "--replicas", "20000"]].concat());
    let arguments = [&SHORT[..4], &["--replicas", "20000", "--shard", "1/1"]].concat();
    let twins: Vec<Child> = (0..2)
        .map(|_| {
            let mut command = sandbox.scavsim();
            let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
            let child = silent.args(&arguments).spawn();
            child.expect("the program can be started")
        })
        .collect();
    for mut twin in twins {
        assert_eq!(twin.wait().expect("it is our child").code(), Some(0));
    }
    let names = ["0001-of-0001.csv", "0001-of-0001.json", "0001-of-0001.sums"];
    assert_eq!(sandbox.files("out/shards"), names);
    sandbox.run(&["merge", "out"]).success();
    assert_same_files(
        &sandbox.contents("out"),
        &sandbox.contents("whole"),
        "merged",
    );
}
