//! The effect of a changed key, compared with the unchanged run and paper.

use serde_json::Value;

use crate::sandbox::{Sandbox, stderr, stdout};

const SCENARIO: &str = "name = \"some\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = 6\n\
     search = { strategies = [\"partial\", \"default\"], objectives = [\"time\", \"cost\"] }\n";

fn rows(sandbox: &Sandbox, options: &[&str]) -> Vec<Value> {
    let all = [&["run", "scenario.toml", "--format", "json"], options].concat();
    let text = stdout(&sandbox.run(&all).success());
    serde_json::from_str(&text).expect("JSON")
}

fn figure(row: &Value, name: &str) -> f64 {
    row[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name}: {row}"))
}

/// VMs with a higher price increase the cost in proportion, and need equal time.
#[test]
fn each_value_has_a_row_with_the_paired_difference() {
    let priced = "[pricing]\npolicies = [\"mine\"]\ndefine.mine = { usd_per_vm_hour = 1 }\n";
    let sandbox = Sandbox::with(&format!("{SCENARIO}{priced}"));
    let change = "pricing.define.mine.usd_per_vm_hour=[1, 2]";
    let all = rows(&sandbox, &["--what-if", change]);
    // Two objectives, three strategies with the oracle, two values.
    assert!(all.len() >= 8, "{all:#?}");
    for row in &all {
        let dearer = row["what if"]
            .as_str()
            .is_some_and(|what| what.ends_with("= 2"));
        let [base, new, more] = ["base", "new", "more"].map(|name| figure(row, name));
        assert!((new - base - more).abs() < 0.02, "{row}");
        let expected = if dearer && row["in"] == "USD" {
            2.0
        } else {
            1.0
        };
        assert!((new / base - expected).abs() < 0.01, "{row}");
        assert!(
            figure(row, "from") <= more && more <= figure(row, "to"),
            "{row}"
        );
    }
}

#[test]
fn the_same_value_changes_nothing_and_mistakes_are_told_together() {
    let sandbox = Sandbox::with(SCENARIO);
    let all = rows(&sandbox, &["--what-if", "replicas=6"]);
    assert!(!all.is_empty());
    assert!(all.iter().all(|row| figure(row, "more") == 0.0), "{all:#?}");
    let text = stdout(
        &sandbox
            .run(&[
                "run",
                "scenario.toml",
                "--what-if",
                "seed=[1,2,3,4]",
                "--width",
                "80",
            ])
            .success(),
    );
    let last: Vec<&str> = text.lines().rev().take(12).collect();
    assert!(
        last.iter().any(|line| line.starts_with("what if")),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let wrong = [
        "run",
        "scenario.toml",
        "--what-if",
        "replicas=0",
        "--what-if",
        "replicsa=3",
    ];
    let said = stderr(&sandbox.run(&wrong).code(2).stdout(""));
    assert!(
        said.contains("replicas") && said.contains("2 mistakes"),
        "{said}"
    );
    let nothing = sandbox.run(&["run", "scenario.toml", "--what-if", "replicas"]);
    assert!(stderr(&nothing.code(2)).contains("sets nothing"));
}

/// SkyNomad costs more if machines start more slowly, also from a folder of it.
#[test]
fn a_paper_is_beside_itself_with_a_changed_key() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.run(&["example", "skynomad"]).success();
    let shipped = [
        "reproduce",
        "skynomad",
        "--what-if",
        "job.changeover_s=1800",
        "--only",
        "mean USD of five",
    ];
    let told = stdout(&sandbox.run(&shipped).success());
    assert!(told.contains("job.changeover_s = 1800"), "{told}");
    let own = shipped.map(|word| {
        if word == "skynomad" {
            "./skynomad"
        } else {
            word
        }
    });
    assert_eq!(stdout(&sandbox.run(&own).success()), told);
    let wrong = ["reproduce", "skynomad", "--what-if", "job.changeover_s=-1"];
    assert!(stderr(&sandbox.run(&wrong).code(2)).contains("changeover_s"));
    let none = ["reproduce", "skynomad", "--only", "figure 77"];
    assert!(stderr(&sandbox.run(&none).code(2)).contains("no figure `figure 77`"));
    sandbox.run(&["example", "papers/scavenger"]).success();
    let there = stderr(&sandbox.run(&["example", "skynomad"]).code(2));
    assert!(there.contains("already there"), "{there}");
}
