//! Signals end the program within a second in any state; a second one ends it at once.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, stderr};

/// Time that a loaded machine may add to a second.
const MOST: Duration = Duration::from_secs(3);

/// A run of the program; killed when dropped.
struct Running(Child);

impl Running {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Running {
        let mut command = sandbox.scavsim();
        command.args(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("the program can be started"))
    }

    fn send(&self, signal: &str) {
        let process = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &process]).status();
        assert!(sent.expect("`kill` is there").success());
    }

    /// The exit code, soon after `signals`, of which the first ones do not end it.
    fn ends_by(mut self, signals: &[&str]) -> Option<i32> {
        let mut start = Instant::now();
        for signal in signals {
            assert_eq!(self.0.try_wait().expect("our child"), None, "{signals:?}");
            self.send(signal);
            start = Instant::now();
            std::thread::sleep(Duration::from_millis(20));
        }
        loop {
            if let Some(status) = self.0.try_wait().expect("it is our child") {
                return status.code();
            }
            assert!(start.elapsed() < MOST, "{signals:?} did not end it");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// With a workload of 10^12 samples an epoch: a case of hours in `event`.
fn endless(more: &str) -> Sandbox {
    let sandbox = Sandbox::with(&format!(
        "workloads = [\"./own\"]\ncluster = {{ workers = [8], batch = [1024] }}\n\
         search = {{ strategies = [\"oracle\"], objectives = [\"time\"] }}\n{more}"
    ));
    sandbox.workload("own");
    sandbox.edit(
        "own/workload.toml",
        "samples_per_epoch = { value = 50000,",
        "samples_per_epoch = { value = 1000000000000,",
    );
    sandbox
}

#[test]
fn a_case_that_takes_hours_ends_with_each_signal() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let sandbox = endless("fidelity = \"event\"\n");
        let run = Running::start(&sandbox, &["run", "scenario.toml", "--out", "out"]);
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(run.ends_by(&[signal]), Some(code), "{signal}");
        // It stopped itself: that is written down, and no case is.
        let manifest = sandbox.read("out/manifest.json");
        assert!(manifest.contains("\"finished\": 0"), "{manifest}");
        assert_eq!(sandbox.read("out/records.csv").lines().count(), 1);
    }
}

/// Through all the losses of 584 years: expectations need a minute, before the first case.
#[test]
fn expectations_that_take_long_end_by_themselves_with_each_signal() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        for jobs in ["1", "2"] {
            let sandbox = endless(
                "[spot]\nlifetime = \"gcp-2019\"\ncheckpoint = \"young-daly\"\ncheckpoint_write_s = 5\n\
                 [pricing]\npolicies = [\"gcp-2020-e2-preemptible\"]\n",
            );
            let mut command = sandbox.scavsim();
            command.args(["run", "scenario.toml", "--jobs", jobs]);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            let mut run = Running(command.spawn().expect("the program can be started"));
            let mut errors = run.0.stderr.take().expect("it is piped");
            std::thread::sleep(Duration::from_millis(700));
            assert_eq!(run.ends_by(&[signal]), Some(code), "{signal} {jobs}");
            let mut text = String::new();
            errors.read_to_string(&mut text).expect("it is text");
            assert!(text.contains("interrupted; nothing was run"), "{text}");
        }
    }
}

#[test]
fn every_protocol_stops_inside_a_case() {
    let protocols = [
        "asp = { servers = 1, service_s = 0.01 }",
        "ssp = { slack = 2 }",
        "backup = { spare = 1 }",
        "local-sgd = { period = 4 }",
        "speculative = { quantile = 0.75, spare = 0 }",
        "flexible = { after_s = 0.42 }",
    ];
    for sync in protocols {
        let sandbox = endless(&format!(
            "fidelity = \"event\"\nvariation.step_cv = 0.1\n[sync]\n{sync}\n"
        ));
        sandbox.run(&["check", "scenario.toml"]).success();
        let run = Running::start(&sandbox, &["run", "scenario.toml", "--out", "out"]);
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(run.ends_by(&["-INT"]), Some(130), "{sync}");
        assert!(
            sandbox
                .read("out/manifest.json")
                .contains("\"finished\": 0"),
            "{sync}"
        );
    }
}

#[test]
fn what_was_finished_before_an_endless_case_is_kept_and_gone_on_with() {
    let sandbox = endless("fidelity = \"event\"\nreplicas = 40\n");
    sandbox.edit(
        "scenario.toml",
        "[\"./own\"]",
        "[\"scavenger-resnet18\", \"./own\"]",
    );
    let arguments = ["run", "scenario.toml", "--out", "out", "--jobs", "1"];
    let run = Running::start(&sandbox, &arguments);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(run.ends_by(&["-TERM"]), Some(143));
    let rows = sandbox.read("out/records.csv");
    assert_eq!(rows.lines().count(), 41, "{rows}");
}

#[test]
fn a_reader_that_does_not_read_holds_up_no_signal() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.scavsim();
        // More than a pipe holds.
        command.args(["list", "vms", "--format", "json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let run = Running(command.spawn().expect("the program can be started"));
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(run.ends_by(&[signal]), Some(code));
    }
}

/// A table that is not read is work that checks no interrupt: after a signal it has a moment, which a second one ends.
#[test]
fn a_second_signal_ends_at_once() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\n\
         cluster = { workers = { from = 8, to = 20 }, batch = { from = 384, to = 1024, step = 8 } }\n\
         search = { strategies = [\"oracle\"], objectives = [\"time\"] }\n",
    );
    let told = |signals: &[&str]| {
        let mut command = sandbox.scavsim();
        command.args(["rank", "scenario.toml", "--format", "csv", "--runs", "1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = Running(command.spawn().expect("the program can be started"));
        let mut errors = run.0.stderr.take().expect("it is piped");
        let mut table = run.0.stdout.take().expect("it is piped");
        // After its first bytes it is being printed, and the rest is more than a pipe holds.
        table.read_exact(&mut [0]).expect("the table begins");
        let start = Instant::now();
        for signal in signals {
            run.send(signal);
            std::thread::sleep(Duration::from_millis(20));
        }
        let sent = start.elapsed();
        assert_eq!(run.ends_by(&[]), Some(130));
        let mut text = String::new();
        errors.read_to_string(&mut text).expect("it is text");
        (text, sent)
    };
    let note = "interrupted; what was written is kept";
    assert!(told(&["-INT"]).0.contains(note));
    // On a machine so slow that the moment may pass between the two, they show nothing.
    let soon = |(_, sent): &(String, Duration)| *sent < Duration::from_millis(500);
    let mut trials = (0..10).map(|_| told(&["-INT", "-INT"]));
    let (text, sent) = trials.find(soon).expect("one of ten is soon enough");
    assert!(!text.contains(note), "{text} {sent:?}");
}

#[test]
fn what_was_started_with_nohup_outlives_its_terminal() {
    let sandbox = endless("fidelity = \"event\"\n");
    let mut command = Command::new("nohup");
    command.current_dir(sandbox.path("."));
    command.args([env!("CARGO_BIN_EXE_scavsim"), "run", "scenario.toml"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let run = Running(command.spawn().expect("`nohup` is there"));
    std::thread::sleep(Duration::from_millis(700));
    run.send("-HUP");
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(run.ends_by(&["-TERM"]), Some(143));
}

#[test]
fn a_dry_run_answers_where_one_case_takes_hours() {
    let start = Instant::now();
    let sandbox = endless("fidelity = \"event\"\nreplicas = 50\n");
    let assert = sandbox.run(&["run", "scenario.toml", "--dry-run", "--jobs", "2"]);
    let told = stderr(&assert.success());
    assert!(
        start.elapsed() < Duration::from_secs(6),
        "{:?}",
        start.elapsed()
    );
    assert!(
        told.starts_with("scenario: more than 50 s on 2 threads"),
        "{told}"
    );
    assert!(
        told.contains("the first: it was not finished in 2 s"),
        "{told}"
    );
}
