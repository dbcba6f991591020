//! Any application in the form of the Pollux artifact.

use std::fmt::Write;
use std::fs;

use crate::sandbox::{Sandbox, stderr};

/// An application nobody has heard of: initial batch 32, 4 passes over 20,000 samples.
fn folder(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path(name)).expect("the sandbox is writable");
    let mut placements = "placement,local_bsz,step_time,sync_time\n".to_owned();
    for vms in [1_u32, 2, 4, 8] {
        for local in [8_u32, 16, 32] {
            let sync = if vms > 1 {
                0.05 + 0.01 * f64::from(vms)
            } else {
                0.001
            };
            let step = 0.04 + 0.004 * f64::from(local) + sync;
            let _ = writeln!(
                placements,
                "{},{local}.0,{step:.5},{sync:.5}",
                "1".repeat(vms as usize)
            );
        }
    }
    sandbox.write(&format!("{name}/placements.csv"), &placements);
    for batch in [32_u32, 64, 128] {
        let text = run(batch, 2500.0);
        sandbox.write(&format!("{name}/validation-{batch}.csv"), &text);
    }
    sandbox
}

/// A run to so much progress, with a noise scale of ten times the initial batch.
fn run(batch: u32, target: f64) -> String {
    let mut text = "progress,iteration,metric,grad_sqr,grad_var\n".to_owned();
    let gain = f64::from(batch) / 32.0;
    let pace = 11.0 * gain / (10.0 + gain);
    for pass in 1..=4 {
        let progress = target * f64::from(pass) / 4.0;
        let _ = writeln!(text, "{progress},{},0.9,0.001,0.01", progress / pace);
    }
    text
}

const IMPORT: [&str; 5] = ["import", "pollux", "tiny", "--out", "w"];

fn report(sandbox: &Sandbox, more: &[&str]) -> String {
    let assert = sandbox.run(&[&IMPORT[..], more].concat()).success();
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

fn refused(sandbox: &Sandbox, more: &[&str]) -> String {
    let told = stderr(
        &sandbox
            .run(&[&IMPORT[..], more].concat())
            .code(2)
            .stdout(""),
    );
    assert!(!sandbox.path("w").exists());
    // Where lines are broken is not what is asked here.
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_application_that_nobody_knows_speaks_for_itself() {
    let sandbox = folder("tiny");
    let report = report(&sandbox, &[]);
    for expected in [
        "initial batch 32, target at 2500 of its steps",
        "samples per epoch: 20000 (2500 steps of 32 samples in 4 rows, taken for one per epoch)",
        "restore_s 60 (default of the import; no measurement)",
    ] {
        assert!(report.contains(expected), "{expected}\n{report}");
    }
    assert!(!report.contains("scalability"), "{report}");
    let head = sandbox.read("w/workload.toml");
    assert!(
        head.contains("goodput = { initial_batch = 32, target_progress = 2500 }"),
        "{head}"
    );
    assert!(
        head.contains("the statistical progress of 2500 steps at batch 32 (4 epochs)"),
        "{head}"
    );
    assert!(sandbox.read("w/steps.csv").contains("g4dn.12xlarge,8,128,"));
    assert!(
        sandbox
            .read("w/epochs.csv")
            .starts_with("batch,epochs,origin,source\n32,4,measured")
    );
}

#[test]
fn options_say_what_the_files_do_not() {
    let sandbox = folder("tiny");
    fs::rename(
        sandbox.path("tiny/placements.csv"),
        sandbox.path("tiny/steps.csv"),
    )
    .expect("it is there");
    for batch in [32, 64, 128] {
        let named = |form: &str| sandbox.path(&form.replace('*', &batch.to_string()));
        fs::rename(named("tiny/validation-*.csv"), named("tiny/bs*_run.csv")).expect("it is there");
    }
    let told = refused(&sandbox, &[]);
    assert!(
        told.contains("tiny has neither placements.csv nor scalability.csv"),
        "{told}"
    );
    assert!(told.contains("tiny has no validation-*.csv"), "{told}");
    let named = ["--placements", "steps.csv", "--validation", "bs*_run.csv"];
    let more = [
        "--samples-per-epoch",
        "40000",
        "--restore-s",
        "7",
        "--target-progress",
        "1500",
        "--initial-batch",
        "32",
    ];
    let again = sandbox.read("tiny/bs64_run.csv");
    sandbox.write("tiny/bs064_run.csv", &again);
    let twice = refused(&sandbox, &named);
    let expected = "bs064_run.csv and bs64_run.csv are of one batch";
    assert!(twice.contains(expected), "{twice}");
    fs::remove_file(sandbox.path("tiny/bs064_run.csv")).expect("it is there");
    let told = report(&sandbox, &[&named[..], &more].concat());
    assert!(told.contains("target at 1500 of its steps"), "{told}");
    assert!(
        told.contains("samples per epoch: 40000 (given when it was imported)"),
        "{told}"
    );
    // 1500 steps of 32 samples, whatever the run did behind.
    assert!(sandbox.read("w/epochs.csv").contains("\n32,1.2,measured"));
    let file = sandbox.read("w/phi.csv");
    assert!(file.contains("32,1500,"), "{file}");
    let head = sandbox.read("w/workload.toml");
    assert!(
        head.contains("1500 steps at batch 32 (1.2 epochs)"),
        "{head}"
    );
    // Files are called what they are called.
    assert!(file.contains("bs64_run: pace of the run"), "{file}");
    assert!(told.contains("bs*_run.csv"), "{told}");
    let wrong = [
        "--epochs",
        "0",
        "--target-progress",
        "NaN",
        "--initial-batch",
        "0",
        "--validation",
        "runs.csv",
        "--scalability",
        "gone.csv",
    ];
    let told = stderr(
        &sandbox
            .run(&[&IMPORT[..], &["--force"], &wrong].concat())
            .code(2),
    );
    for expected in [
        "--epochs is",
        "--target-progress is",
        "--initial-batch is",
        "--validation is",
        "gone.csv",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    let both = ["--epochs", "4", "--samples-per-epoch", "9", "--force"];
    let told = stderr(&sandbox.run(&[&IMPORT[..], &named, &both].concat()).code(2));
    assert!(told.contains("exclude each other"), "{told}");
}

#[test]
fn repeats_are_averaged_over_both_files_and_their_spread_is_told() {
    let sandbox = folder("tiny");
    let rows =
        "num_nodes,num_replicas,local_bsz,step_time,sync_time\n2,2,16,0.19,0.09\n6,6,16,0.3,0.1\n";
    sandbox.write("tiny/scalability.csv", rows);
    let told = report(&sandbox, &[]);
    // 0.174 and 0.19 s.
    assert!(told.contains("1 placements and batches were repeated and averaged: repeats differ by 8.8 % in the mean, by 8.8 % at most (2 workers, local batch 16)"), "{told}");
    let steps = sandbox.read("w/steps.csv");
    assert!(
        steps.contains("g4dn.12xlarge,2,32,0.182,0.0797144586,measured,placements: median of 2"),
        "{steps}"
    );
    sandbox.write("tiny/scalability.csv", &rows.replace("0.19,", "1.9,"));
    fs::remove_dir_all(sandbox.path("w")).expect("it was written");
    let told = refused(&sandbox, &[]);
    assert!(
        told.contains("a step of 1.9 s, and of 0.174 s for the same placement"),
        "{told}"
    );
    assert!(told.contains("tiny/scalability.csv:2:8"), "{told}");
}

#[test]
fn an_end_that_misses_the_target_by_a_rounding_error_counts() {
    let sandbox = folder("tiny");
    sandbox.write("tiny/validation-64.csv", &run(64, 2499.9));
    sandbox.write("tiny/validation-128.csv", &run(128, 2499.0));
    let told = report(&sandbox, &[]);
    assert!(
        told.contains("batch 128 dropped: it ended at progress 2499"),
        "{told}"
    );
    let epochs = sandbox.read("w/epochs.csv");
    assert!(
        epochs.contains("\n64,") && !epochs.contains("\n128,"),
        "{epochs}"
    );
}

#[test]
fn runs_that_contradict_themselves_are_no_workload() {
    // The run at the initial batch is missing: that at 64 makes nearly two steps of progress in one.
    let sandbox = folder("tiny");
    fs::remove_file(sandbox.path("tiny/validation-32.csv")).expect("it is there");
    let told = refused(&sandbox, &[]);
    assert!(told.contains("validation run at batch 64"), "{told}");
    assert!(
        told.contains("is the run at the initial batch missing"),
        "{told}"
    );
    let told = refused(&sandbox, &["--initial-batch", "32"]);
    assert!(
        told.contains("an initial batch of 32, where the smallest validation run is at 64"),
        "{told}"
    );
    // A little off is told and taken.
    let sandbox = folder("tiny");
    let long = run(32, 2500.0).replace(",2500,0.9", ",2430,0.9");
    sandbox.write("tiny/validation-32.csv", &long);
    let assert = sandbox.run(&IMPORT).success();
    let told = stderr(&assert);
    assert!(
        told.contains("warning: validation run at batch 32: 2430 steps"),
        "{told}"
    );
    assert!(told.contains("(+2.88 %)"), "{told}");
}

#[test]
fn a_known_name_on_other_data_is_refused() {
    let sandbox = folder("tiny");
    let told = refused(&sandbox, &["--app", "bert"]);
    assert!(
        told.contains("`bert` has 88644 samples per epoch, and these files 20000"),
        "{told}"
    );
    let told = refused(&sandbox, &["--app", "brt"]);
    assert!(told.contains("unknown Pollux application `brt`"), "{told}");
    assert!(told.contains("did you mean `bert`?"), "{told}");
}
