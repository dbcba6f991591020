//! A run that is stopped leaves whole rows, from the first case on.

use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Rows, Sandbox};

/// No wait is longer; all end as soon as what they wait for is there.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks every few milliseconds until there is something.
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

/// A run that would take hours; killed when dropped, whatever becomes of the test.
struct LongRun(Child);

impl LongRun {
    fn start(sandbox: &Sandbox, fidelity: &str, jobs: &str) -> Self {
        let arguments = [
            "run",
            "scenario.toml",
            "--out",
            "out",
            "--replicas",
            "4000000000",
        ];
        let child = sandbox
            .scavsim()
            .args(arguments)
            .args(["--fidelity", fidelity, "--jobs", jobs])
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

/// The number of rows in `file`, all of them whole and without a gap from case 0 on.
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

/// Stops a run with `signal`; checks what it leaves.
fn stopped_by(signal: &str, fidelity: &str, jobs: &str) {
    let sandbox = sandbox();
    let run = LongRun::start(&sandbox, fidelity, jobs);
    run.wait_for_rows(&sandbox, 1);
    run.send(signal);
    assert_eq!(run.end().code(), Some(130));

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

    // What was kept is the beginning of what would have been.
    let short = ["run", "scenario.toml", "--out", "short", "--replicas", "3"];
    sandbox
        .run(&[&short[..], &["--fidelity", fidelity]].concat())
        .success();
    let beginning = sandbox.read("short/records.csv");
    assert!(sandbox.read("out/records.csv").starts_with(&beginning));
}

#[test]
fn ctrl_c_keeps_what_was_finished() {
    stopped_by("-INT", "event", "2");
}

#[test]
fn a_polite_kill_keeps_what_was_finished() {
    stopped_by("-TERM", "fast", "1");
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
        ["manifest.json", "records.partial.csv"]
    );
    assert!(
        sandbox
            .read("out/manifest.json")
            .contains("\"complete\": false")
    );
    assert!(whole_rows(&sandbox, "out/records.partial.csv") > 1000);
}

#[test]
fn ctrl_c_without_a_result_folder_still_shows_the_summary() {
    let sandbox = sandbox();
    // The folder is only there to see when the run is under way.
    let run = LongRun::start(&sandbox, "step", "1");
    run.wait_for_rows(&sandbox, 1);
    run.send("-INT");
    assert_eq!(run.end().code(), Some(130));
}
