//! Results that can be verified: changes are found, even if all hashes were updated.

use scavsim::report::manifest::{self, Identity};
use serde_json::json;

use crate::sandbox::{Sandbox, assert_same_files, stderr, stdout};

const SCENARIO: &str = "name = \"small\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = 12\nvariation.step_cv = 0.1\n\
    search = { strategies = [\"oracle\", \"random\"], objectives = [\"time\", \"cost\"] }\n";

const VERIFY: [&str; 4] = ["verify", "out", "--scenario", "scenario.toml"];

fn finished() -> Sandbox {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    sandbox
}

fn manifest(sandbox: &Sandbox, folder: &str) -> Identity {
    serde_json::from_str(&sandbox.read(&format!("{folder}/manifest.json"))).expect("it is JSON")
}

#[test]
fn results_are_what_their_scenario_comes_to() {
    let sandbox = finished();
    let before = sandbox.contents("out");
    let told = stdout(&sandbox.run(&VERIFY).success());
    assert!(
        told.contains("48 rows have the hashes of the manifest"),
        "{told}"
    );
    assert!(told.contains("20 of 48 cases evaluated again"), "{told}");
    // The draw again; all cases; none.
    let draw = told.split("--draw ").nth(1).expect("it is told");
    let draw: String = draw.chars().take_while(char::is_ascii_digit).collect();
    let again = [&VERIFY[..], &["--draw", &draw]].concat();
    assert_eq!(stdout(&sandbox.run(&again).success()), told);
    let all = [&VERIFY[..], &["--again", "1000"]].concat();
    let told = stdout(&sandbox.run(&all).success());
    assert!(told.contains("48 of 48 cases"), "{told}");
    let told = stdout(&sandbox.run(&["verify", "out", "--again", "0"]).success());
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(sandbox.contents("out"), before);
    // A summary by other columns, and another format of the records.
    for more in [
        &["--summary-by", "strategy,chosen_vm"][..],
        &["--records", "jsonl"],
    ] {
        let run = ["run", "scenario.toml", "--out", "out", "--overwrite"];
        sandbox.run(&[&run[..], more].concat()).success();
        sandbox.run(&VERIFY).success();
    }
    // For another scenario, or for none.
    let told = stderr(&sandbox.run(&["verify", "out"]).code(2));
    assert!(told.contains("--scenario FILE"), "{told}");
    sandbox.edit("scenario.toml", "0.1", "0.2");
    let told = stderr(&sandbox.run(&VERIFY).code(2));
    assert!(
        told.contains("the text of the scenario file is another"),
        "{told}"
    );
}

#[test]
fn whatever_is_changed_is_told() {
    let sandbox = finished();
    let changes: &[(&str, &str, &str)] = &[
        (
            "manifest.json",
            "\"scenario\": \"small\"",
            "\"scenario\": \"large\"",
        ),
        ("manifest.json", "\"replicas\": 12", "\"replicas\": 13"),
        (
            "manifest.json",
            "\"cases\": 48",
            "\"cases\": 1000000000000000",
        ),
        ("manifest.json", "paper-fixed", "other-fixed"),
        ("manifest.json", "\"manifest_hash\"", "\"no_hash\""),
        ("summary.csv", "oracle", "orakel"),
    ];
    for (file, from, to) in changes {
        let path = format!("out/{file}");
        let right = sandbox.read(&path);
        assert!(right.contains(from), "{file} {from}: {right}");
        sandbox.write(&path, &right.replacen(from, to, 1));
        let resume = ["run", "scenario.toml", "--out", "out", "--resume"];
        for arguments in [&resume[..], &["verify", "out", "--again", "0"]] {
            let told = stderr(&sandbox.run(arguments).code(2));
            assert!(told.contains(file), "{arguments:?} {from}: {told}");
        }
        if *file == "manifest.json" {
            sandbox.run(&["summary", "out"]).code(2);
        }
        sandbox.write(&path, &right);
    }
    sandbox.run(&VERIFY).success();
}

/// All hashes are valid: they were recomputed. But the rows cannot be those of the scenario.
#[test]
fn a_forgery_with_right_hashes_is_found_by_evaluating_again() {
    let sandbox = finished();
    let wanted = manifest(&sandbox, "out")["scenario_hash"].clone();
    // Rows of a luckier world under the name of this one.
    sandbox.write(
        "forged.toml",
        &SCENARIO.replace("step_cv = 0.1", "step_cv = 0.0"),
    );
    sandbox
        .run(&["run", "forged.toml", "--out", "out", "--overwrite"])
        .success();
    let mut forged = manifest(&sandbox, "out");
    forged.insert("scenario_hash".to_owned(), wanted);
    manifest::seal(&mut forged);
    sandbox.write("out/manifest.json", &json!(forged).to_string());
    sandbox.run(&["verify", "out", "--again", "0"]).success();
    sandbox.run(&["summary", "out"]).success();
    let told = stderr(&sandbox.run(&VERIFY).code(2));
    assert!(told.contains("is not what its scenario comes to"), "{told}");
    assert!(told.contains("evaluated again"), "{told}");
}

/// Antithetic pairs are also pairs when the rows are read back.
#[test]
fn rows_of_antithetic_replicas_come_to_the_summary_of_the_run() {
    let sandbox = Sandbox::with(&SCENARIO.replace("replicas", "antithetic = true\nreplicas"));
    let run = ["run", "scenario.toml", "--out", "out"];
    sandbox.run(&run).success();
    sandbox.run(&VERIFY).success();
    let whole = sandbox.contents("out");
    let half = whole["records.csv"].len() / 2;
    sandbox.left_by_a_kill("out", &whole, &whole["records.csv"][..half]);
    sandbox.run(&[&run[..], &["--resume"]].concat()).success();
    assert_same_files(&sandbox.contents("out"), &whole, "resumed");
    for shard in ["1/2", "2/2"] {
        let run = ["run", "scenario.toml", "--out", "parts", "--shard", shard];
        sandbox.run(&run).success();
    }
    sandbox.run(&["merge", "parts"]).success();
    assert_eq!(
        sandbox.contents("parts")["summary.csv"],
        whole["summary.csv"]
    );
}
