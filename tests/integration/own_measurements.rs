//! From the user's measurements to an answer: what is searched, what is left out, and the choice.

use crate::sandbox::{Sandbox, repository_file, stderr, stdout};

/// A sandbox with the workload `w`, imported from `table`.
fn imported(table: &str, more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.import_profile(table, more).success();
    sandbox
}

fn example() -> String {
    repository_file("scenarios/example-profile.csv")
}

/// The line above the table of the only block.
fn title(table: &str) -> &str {
    table.lines().nth(2).unwrap_or_default()
}

const BY_COST: &str = "workloads = [\"./w\"]\nreplicas = 3\n\
    [pricing]\npolicies = [\"aws-2026-own\"]\n[search]\nobjectives = [\"cost\"]\n";

#[test]
fn measured_configurations_without_epochs_are_left_out_aloud() {
    let sandbox = imported(&example(), &[]);
    sandbox.write("s.toml", &format!("{BY_COST}strategies = [\"oracle\"]\n"));
    let told = "24 measured, 20 searched, 4 left out: the epochs of batch 32, 1024 are not known";
    let run = sandbox.run(&["run", "s.toml"]).success();
    assert!(stderr(&run).contains(told), "{}", stderr(&run));
    let dry = sandbox.run(&["run", "s.toml", "--dry-run"]).success();
    assert!(stdout(&dry).contains(told), "{}", stdout(&dry));
    // If all are known there is nothing to report.
    let stated = imported(&example(), &["--epochs", "20"]);
    stated.write("s.toml", &format!("{BY_COST}strategies = [\"oracle\"]\n"));
    let run = stated.run(&["run", "s.toml"]).success();
    assert!(!stderr(&run).contains("left out"), "{}", stderr(&run));
}

/// A column for searches must not change the truth.
#[test]
fn noise_does_not_change_what_the_oracle_chooses_among() {
    let without: String = (example().lines())
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if cells[5] != "noise" {
                cells[5] = "";
            }
            cells.join(",") + "\n"
        })
        .collect();
    let oracle = |table: &str| {
        let sandbox = imported(table, &[]);
        sandbox.write("s.toml", &format!("{BY_COST}strategies = [\"oracle\"]\n"));
        let out = stdout(&sandbox.run(&["run", "s.toml"]).success());
        title(&out).to_owned()
    };
    let (with, without) = (oracle(&example()), oracle(&without));
    assert_eq!(with, without);
    assert!(with.contains("1 × 128 on 1 g"), "{with}");
}

#[test]
fn strategies_that_need_only_steps_run_without_noise() {
    let table: String = (example().lines())
        .map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let sandbox = imported(&table, &["--epochs", "20"]);
    let all = "strategies = [\"oracle\", \"full\", \"partial\", \"random\", \"same-job\"]\n";
    sandbox.write("s.toml", &format!("{BY_COST}{all}"));
    sandbox.run(&["run", "s.toml", "--out", "out"]).success();
    let rows = crate::sandbox::Rows::parse(&sandbox.read("out/records.csv"));
    for row in rows.iter() {
        let strategy = row.text("strategy");
        assert_eq!(row.text("status"), "ok", "{strategy}");
        if strategy == "full" {
            // Steps do not vary and epochs are given: it finds the oracle's choice, for the price of its probes.
            assert_eq!(row.text("chosen_batch"), row.text("oracle_batch"));
            assert_eq!(row.text("chosen_workers"), row.text("oracle_workers"));
            assert!(row.number("search_time_h") < 0.5);
            // Given values were not run.
            assert_eq!(row.number("known_runs"), 0.0);
        }
    }
}

#[test]
fn measured_epochs_without_noise_are_known_by_what_they_cost() {
    let sandbox = imported(
        "vm,workers,batch,step_s,epochs\na,1,64,0.2,10\na,2,64,0.12,\na,1,128,0.38,12\na,2,128,0.21,\n\
         a,4,128,0.13,\na,4,64,0.09,\n",
        &[],
    );
    sandbox.write(
        "s.toml",
        "workloads = [\"./w\"]\n[search]\nobjectives = [\"time\"]\nstrategies = [\"full\", \"partial\"]\n\
         [strategy]\nfull = { earlier_runs = true }\npartial = { earlier_runs = true }\n\
         [pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_hour_of = { a = 1 }\n",
    );
    sandbox.run(&["run", "s.toml", "--out", "out"]).success();
    let rows = crate::sandbox::Rows::parse(&sandbox.read("out/records.csv"));
    for row in rows.iter() {
        assert_eq!(
            (row.text("chosen_workers"), row.text("chosen_batch")),
            ("4", "128")
        );
        assert!(row.number("known_runs") > 0.0);
    }
}

#[test]
fn the_table_names_the_vm_type_where_there_is_a_choice() {
    let sandbox = imported(&example(), &[]);
    sandbox.write("s.toml", &format!("{BY_COST}strategies = [\"oracle\"]\n"));
    let out = stdout(&sandbox.run(&["run", "s.toml", "--out", "out"]).success());
    assert!(title(&out).contains("1 × 128 on 1 g"), "{out}");
    // The folder gives an equal summary.
    let again = stdout(&sandbox.run(&["summary", "out"]).success());
    assert_eq!(out, again);
}

#[test]
fn the_vms_of_a_kind_are_counted_as_they_are_held() {
    let sandbox = imported(
        "vm,workers,batch,step_s\nb/4,4,256,0.412\nb/4,8,256,0.268\n",
        &["--epochs", "9"],
    );
    sandbox.write(
        "s.toml",
        "workloads = [\"./w\"]\n[kind.four]\nvm = \"b/4\"\n[kind.other]\nvm = \"b/4\"\n[search]\nobjectives = [\"cost\"]\n\
         strategies = [\"oracle\"]\n[pricing]\npolicies = [\"p\"]\n[pricing.define.p]\nusd_per_hour_of = { b = 4 }\n",
    );
    let out = stdout(&sandbox.run(&["run", "s.toml", "--out", "out"]).success());
    assert!(title(&out).contains("4 × 256 on 1 b/4 (four)"), "{out}");
    let again = stdout(&sandbox.run(&["summary", "out"]).success());
    assert_eq!(out, again);
}

#[test]
fn a_workload_that_is_a_folder_beside_and_a_part_of_a_name_are_guessed() {
    let sandbox = imported(&example(), &[]);
    sandbox.write("s.toml", "workloads = [\"w\", \"resnet50\"]\n");
    let told = stderr(&sandbox.run(&["check", "s.toml"]).code(2));
    assert!(told.contains("write `./w`"), "{told}");
    assert!(
        told.contains("did you mean `scavenger-resnet50`?"),
        "{told}"
    );
}

#[test]
fn extrapolation_without_a_law_says_so() {
    let sandbox = imported("vm,workers,batch,step_s\na,1,64,0.2\n", &["--epochs", "9"]);
    sandbox.write(
        "s.toml",
        "workloads = [\"./w\"]\n[cluster]\nworkers = [1, 4]\noutside = \"extrapolate\"\n",
    );
    let told = stderr(&sandbox.run(&["check", "s.toml"]).code(2));
    assert!(told.contains("asks laws that `p` does not have"), "{told}");
    assert!(told.contains("no law of steps on `a`"), "{told}");
}

/// The log that a training writes itself, as shown in `docs/recorder.md`.
#[test]
fn the_file_of_the_recorder_is_a_profile() {
    let page = repository_file("docs/recorder.md");
    let file = page
        .split("```csv\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let sandbox = imported(file.expect("the page shows a file"), &["--epochs", "12"]);
    let head = sandbox.read("w/workload.toml");
    assert!(head.contains("[laws.pooled"), "{head}");
    sandbox.write("s.toml", "workloads = [\"./w\"]\nreplicas = 2\n");
    sandbox.run(&["run", "s.toml"]).success();
}
