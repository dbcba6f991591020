//! The library stops within a second only by its interrupt, in any state: its process is not ended.
//!
//! The program has a watchdog, which hides code that ignores the interrupt; a notebook has none. Each scenario is stopped in
//! a process of its own, whose computing time after the interrupt is measured: other work on the machine does not count.

use std::process::Command;
use std::time::Duration;

use cpu_time::ProcessTime;
use scavsim::{Interrupt, Scenario};

use crate::sandbox::repository;

/// Seconds of computing that may follow an interrupt on one thread.
const MOST_S: f64 = 1.0;
/// What the process must stop, and after how many seconds of computing.
const ASKED: &str = "SCAVSIM_STOP";

/// Not a test itself: the process that is stopped.
#[test]
#[ignore = "run by the tests below"]
fn stopped() {
    let Ok(asked) = std::env::var(ASKED) else {
        return;
    };
    let (after_s, file) = asked.split_once(' ').expect("seconds and a file");
    let after_s: f64 = after_s.parse().expect("seconds");
    let own = file.contains('\n');
    let interrupt = Interrupt::default();
    let begun = ProcessTime::now();
    let computed = |since: &ProcessTime| since.elapsed().as_secs_f64();
    let took_s = std::thread::scope(|scope| {
        let working = scope.spawn(|| {
            let options = Scenario::options().interrupt(&interrupt).jobs(1);
            let scenario = if own {
                options.parse(file)
            } else {
                options.open(file)
            };
            match scenario {
                Ok(scenario) => drop(scenario.run(|_| ())),
                Err(mistakes) => assert!(interrupt.is_raised(), "{mistakes}"),
            }
        });
        while computed(&begun) < after_s && !working.is_finished() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let raised = ProcessTime::now();
        interrupt.raise();
        working.join().expect("it ends");
        computed(&raised)
    });
    println!("took {took_s:.3} s");
    assert!(took_s < MOST_S, "{took_s:.2} s after the interrupt");
}

fn stop(file: &str, after_s: f64) {
    let program = std::env::current_exe().expect("it is a test");
    let done = Command::new(program)
        .args(["--exact", "stopping::stopped", "--ignored", "--nocapture"])
        .env(ASKED, format!("{after_s} {file}"))
        .current_dir(repository().join("scenarios"))
        .output()
        .expect("it can be started");
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    let why = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.success() && told.contains("took "),
        "{file:.60}, stopped after {after_s} s: {told}{why}"
    );
    println!(
        "{file:.60} {after_s}: {}",
        told.lines()
            .find(|l| l.starts_with("took"))
            .unwrap_or_default()
    );
}

/// Barriers minutes apart: one update is thousands of steps of each worker.
fn rare_barriers() -> String {
    let text = std::fs::read_to_string(repository().join("scenarios/flexible.toml"));
    let text = text.expect("it is shipped");
    assert!(text.contains("after_s = 0.42"), "{text}");
    text.replace("after_s = 0.42", "after_s = 420.0")
}

#[test]
fn what_is_prepared_for_long_hears_it() {
    for after_s in [0.2, 1.3] {
        stop("llm-plans.toml", after_s);
        stop(&rare_barriers(), after_s);
    }
    stop("gpu-catalogue.toml", 0.5);
    stop("spot.toml", 0.4);
}

/// `cargo test --release --test integration -- --ignored stopping::every`
#[test]
#[ignore = "some minutes"]
fn every_shipped_scenario_hears_it_at_any_time() {
    let mut files: Vec<String> = std::fs::read_dir(repository().join("scenarios"))
        .expect("they are shipped")
        .map(|entry| entry.expect("it is readable").file_name())
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    files.sort();
    // Times that are equal in every run of the test, and differ between scenarios.
    let mut luck: u64 = 0x9e37_79b9_7f4a_7c15;
    for file in &files {
        for most_s in [0.05, 0.5, 3.0] {
            luck = luck
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let share = (luck >> 11) as f64 / (1u64 << 53) as f64;
            stop(file, most_s * share);
        }
    }
    stop(&rare_barriers(), 3.0);
}
