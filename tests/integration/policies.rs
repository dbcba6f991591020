//! Policies that decide during a run, through the program.

use crate::reproduction::assert_current;
use crate::sandbox::{Sandbox, repository, stderr, stdout};

/// What `scavsim run` prints for a shipped scenario.
fn printed(name: &str) -> String {
    let scenario = format!("scenarios/policies/{name}.toml");
    let mut command = Sandbox::new().scavsim();
    command.current_dir(repository());
    let output = command
        .args(["run", &scenario])
        .output()
        .expect("it starts");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    format!("$ scavsim run {scenario}\n{text}")
}

#[test]
fn the_policies_in_results_are_current() {
    let texts = ["skynomad", "deadline", "exponential"].map(printed);
    assert_current("policies.txt", &texts.join("\n"));
}

const SCENARIO: &str = r#"
[job]
work_h = 5
deadline_h = 7
changeover_s = 600

[market]
run_h = 2
pause_h = 1
spot_usd_per_h = 1
on_demand_usd_per_h = 3
replicas = 30

[policy]
names = ["greedy", "cost-to-go"]
"#;

#[test]
fn threads_change_no_byte() {
    let sandbox = Sandbox::with(SCENARIO);
    let with = |jobs: &str, out: &str| {
        let run = sandbox
            .run(&["run", "scenario.toml", "--jobs", jobs, "--out", out])
            .success();
        let rows = sandbox.read(&format!("{out}/lives.csv"));
        assert_eq!(rows.lines().count(), 1 + 30 * 3);
        (
            stdout(&run),
            rows,
            sandbox.read(&format!("{out}/summary.csv")),
        )
    };
    assert_eq!(with("1", "one"), with("3", "three"));
}

#[test]
fn what_says_nothing_of_them_is_refused() {
    let sandbox = Sandbox::with(SCENARIO);
    let run = sandbox.run(&[
        "run",
        "scenario.toml",
        "--fidelity",
        "fast",
        "--format",
        "clusters",
    ]);
    let told = stderr(&run.code(2));
    assert!(
        told.contains("--fidelity") && told.contains("`table`, `csv`, `json`"),
        "{told}"
    );
    sandbox.edit("scenario.toml", "deadline_h = 7", "deadline_h = 5");
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(told.contains("before the fastest run ends"), "{told}");
    let told = stderr(&sandbox.run(&["compare", "scenario.toml"]).code(2));
    assert!(told.contains("are for `scavsim run`"), "{told}");
}
