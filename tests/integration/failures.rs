//! Cases without a result: listed, and optionally the end of the run.

use crate::sandbox::{Rows, Sandbox, assert_same_files, stderr};

/// Time has a result; with cost and knee the cases are equal. The second workload is too long for the limit.
const SCENARIO: &str = r#"
name = "some"
workloads = ["scavenger-resnet18", "scavenger-resnet50"]
replicas = 100
search = { strategies = ["oracle", "default"], objectives = ["time", "cost"] }
limits = { max_time_h = 5.0 }
"#;

const RUN: [&str; 4] = ["run", "scenario.toml", "--out", "out"];

#[test]
fn failures_are_listed_with_their_reasons() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.run(&[&RUN[..], &["--keep-going"]].concat()).code(3);
    let records = Rows::parse(&sandbox.read("out/records.csv"));
    let failures = Rows::parse(&sandbox.read("out/failures.csv"));
    assert_eq!(
        failures.header.join(","),
        "case,workload,pricing,objective,strategy,replica,setting,reason"
    );
    let failed: Vec<_> = (records.iter())
        .filter(|row| row.text("status") == "failed")
        .collect();
    assert!(!failed.is_empty() && failed.len() < records.len());
    assert_eq!(failed.len(), failures.len());
    for (record, failure) in failed.into_iter().zip(failures.iter()) {
        for column in &failures.header {
            assert_eq!(record.text(column), failure.text(column));
        }
    }
}

#[test]
fn without_failures_there_is_no_list_not_even_an_old_one() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.run(&RUN).code(3);
    sandbox.edit("scenario.toml", "limits = { max_time_h = 5.0 }", "");
    sandbox.run(&RUN).success();
    let names = ["manifest.json", "records.csv", "summary.csv"];
    assert_eq!(sandbox.files("out"), names);
}

#[test]
fn fail_fast_ends_at_the_first_failure_for_any_number_of_threads() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&[&RUN[..], &["--fail-fast", "--jobs", "1"]].concat())
        .code(3);
    let one = sandbox.contents("out");
    let rows = sandbox.read("out/records.csv");
    let table = Rows::parse(&rows);
    let failed = |row: &crate::sandbox::Row<'_>| row.text("status") == "failed";
    assert_eq!(table.iter().filter(failed).count(), 1);
    assert!(table.iter().last().is_some_and(|row| failed(&row)));
    assert!(table.len() > 1);
    for jobs in ["2", "5"] {
        let assert = sandbox
            .run(&[&RUN[..], &["--fail-fast", "--overwrite", "--jobs", jobs]].concat())
            .code(3);
        assert!(stderr(&assert).starts_with(&format!(
            "stopped at a case without a result, after {} of 800 cases; what was finished is kept; `--resume` goes on with it\n",
            table.len()
        )));
        assert_same_files(&sandbox.contents("out"), &one, jobs);
    }

    // It can be resumed, up to the next failure or to the end.
    sandbox
        .run(&[&RUN[..], &["--fail-fast", "--resume"]].concat())
        .code(3);
    let next = Rows::parse(&sandbox.read("out/records.csv"));
    assert_eq!(next.iter().filter(failed).count(), 2);
    sandbox.run(&[&RUN[..], &["--resume"]].concat()).code(3);
    let gone_on = sandbox.contents("out");
    sandbox.run(&RUN).code(3);
    assert_same_files(&gone_on, &sandbox.contents("out"), "gone on");
}

/// 584 years are no result, in any fidelity, and are not simulated step by step.
#[test]
fn a_case_whose_clock_comes_to_its_end_fails_and_says_so() {
    let sandbox = Sandbox::with(
        r#"
workloads = ["./own"]
cluster = { workers = [8, 16], batch = [1024] }
variation = { step_cv = 0.1, epoch_cv = 0.02 }
search = { strategies = ["oracle", "default", "full"], objectives = ["time", "cost"] }
"#,
    );
    sandbox.workload("own");
    let samples = "samples_per_epoch = { value = ";
    sandbox.edit(
        "own/workload.toml",
        &format!("{samples}50000,"),
        &format!("{samples}1000000000000,"),
    );
    let assert = sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    assert!(
        stderr(&assert).contains("6 cases have no result"),
        "{}",
        stderr(&assert)
    );
    let rows = sandbox.read("out/records.csv");
    for row in Rows::parse(&rows).iter() {
        assert_eq!(row.text("status"), "failed");
        assert_eq!(
            row.text("reason"),
            "the simulated clock ended, after 584 years"
        );
        assert_eq!((row.text("time_h"), row.text("cost_usd")), ("", ""));
    }
}
