//! Imports of measurements as workload folders.

use std::fs;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, repository, stderr};

/// The message of a refused import, after a check that it wrote nothing.
fn refused(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let before = sandbox.files(".");
    let assert = sandbox.run(arguments).code(2).stdout("");
    assert_eq!(sandbox.files("."), before, "something was written");
    stderr(&assert)
}

/// The message of a refused profile.
fn refused_profile(table: &str, more: &[&str]) -> String {
    let sandbox = Sandbox::new();
    let assert = sandbox.import_profile(table, more).code(2).stdout("");
    assert_eq!(sandbox.files("."), ["p.csv"], "something was written");
    stderr(&assert)
}

#[test]
fn every_mistake_of_a_profile_at_once() {
    let told = refused_profile(
        "vm,workers,batch,step_s,compute_s,communication_s,noise,epochs\n\
         g5.xlarge,1,64,-0.2,,,,\n\
         g5.xlarge,2,128,NaN,,,,\n\
         g5.xlarge,2,1,0.2,,,,\n\
         g5.xlarge,4,256,0.3,0.2,0.2,,\n\
         g5.xlarge,4,512,0.3,,0.3,,\n\
         g5.xlarge,4,1024,0.3,,0.1,0.2,\n\
         ,0,x,0.3,,,,0\n",
        &[],
    );
    assert_snapshot!(told);
}

#[test]
fn a_profile_without_epochs_or_with_half_a_split() {
    let told = refused_profile(
        "vm,workers,batch,step_s,communication_s\na,1,64,0.2,\na,2,128,0.3,0.1\nb,1,64,0.2,\n",
        &[],
    );
    assert_snapshot!(told);
    let told = refused_profile("vm,workers,batch,step_s\n", &[]);
    assert!(told.contains("the table has no rows"), "{told}");
    let told = refused_profile("vm,workers,step_s\na,1,0.5\n", &[]);
    assert!(told.contains("`batch`"), "{told}");
}

#[test]
fn options_of_a_profile_that_are_not_possible() {
    // clap reads a bare negative number as an option.
    let more = ["--epochs", "NaN", "--restore-s=-1", "--probe-steps", "0"];
    let told = refused_profile("vm,workers,batch,step_s\na,1,8,0.5\n", &more);
    for option in ["--epochs", "--restore-s", "--probe-steps"] {
        assert!(told.contains(option), "{told}");
    }
}

#[test]
fn repeats_are_averaged_and_their_spread_told() {
    let sandbox = Sandbox::new();
    let table = "vm,workers,batch,step_s,epochs\na,1,64,0.19,10\na,1,64,0.21,12\na,2,128,0.3,\n";
    let assert = sandbox.import_profile(table, &[]).success();
    let report = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(
        report.contains("differ by up to 10.0 % (at 1 x a, batch 64)"),
        "{report}"
    );
    let steps = sandbox.read("w/steps.csv");
    assert!(
        steps.contains("a,1,64,0.2,,measured,p.csv: median of 2"),
        "{steps}"
    );
    assert!(sandbox.read("w/epochs.csv").contains("64,11,measured"));
    assert!(
        sandbox
            .read("w/workload.toml")
            .contains("communication = \"unknown\"")
    );
}

#[test]
fn a_folder_is_replaced_only_by_force_and_only_if_it_is_a_workload() {
    let sandbox = Sandbox::new();
    let import = |more: &[&str]| {
        sandbox.import_profile("vm,workers,batch,step_s,epochs\na,1,8,0.5,9\n", more)
    };
    import(&[]).success();
    sandbox.write("w/old.txt", "");
    let told = stderr(&import(&[]).code(2).stdout(""));
    assert!(told.contains("--force"), "{told}");
    import(&["--force"]).success();
    let files = ["epochs.csv", "old.txt", "steps.csv", "workload.toml"];
    assert_eq!(sandbox.files("w"), files);
    assert_eq!(sandbox.files("."), ["p.csv", "w"]);
    fs::remove_file(sandbox.path("w/workload.toml")).expect("it is there");
    let told = stderr(&import(&["--force"]).code(2).stdout(""));
    assert!(told.contains("this is no workload"), "{told}");
    assert_eq!(sandbox.files("w"), files[..3]);
}

/// A run accepts everything that an import accepts.
#[test]
fn measurements_that_no_scenario_would_take_are_refused_before_anything_is_written() {
    let sandbox = Sandbox::new();
    let table = fs::read_to_string(repository().join("scenarios/example-profile.csv"));
    let table = table.expect("it is checked in");
    let damaged = table.replace("g6e.xlarge,2,128,0.1536", "g6e.xlarge,2,128,0.1");
    assert_ne!(table, damaged);
    sandbox.write("raw.csv", &damaged);
    let told = refused(
        &sandbox,
        &[
            "import",
            "profile",
            "raw.csv",
            "--samples-per-epoch",
            "50000",
            "--out",
            "wl",
        ],
    );
    assert!(
        told.contains("these measurements make no workload"),
        "{told}"
    );
    assert!(told.contains("not below its step"), "{told}");
    assert_eq!(sandbox.files("."), ["raw.csv"]);
}

#[test]
fn force_replaces_only_what_an_import_writes_and_never_its_own_input() {
    let sandbox = Sandbox::new();
    let table = fs::read_to_string(repository().join("scenarios/example-profile.csv"));
    sandbox.write("raw.csv", &table.expect("it is checked in"));
    let import = |input: &str, more: &[&str]| {
        let arguments = [
            "import",
            "profile",
            input,
            "--samples-per-epoch",
            "50000",
            "--out",
            "wl",
        ];
        sandbox.run(&[&arguments[..], more].concat())
    };
    import("raw.csv", &[]).success();
    let written = sandbox.contents("wl");
    sandbox.write("wl/thesis.txt", "years of work");
    fs::create_dir(sandbox.path("wl/notes")).expect("the sandbox is writable");
    sandbox.write("wl/notes/a.txt", "more");
    sandbox.write("wl/phi.csv", "left by another import");
    fs::copy(sandbox.path("raw.csv"), sandbox.path("wl/raw.csv")).expect("it is writable");

    let told = stderr(&import("wl/raw.csv", &["--force"]).code(2));
    assert!(
        told.contains("wl/raw.csv lies in wl, which would be replaced"),
        "{told}"
    );
    assert!(sandbox.path("wl/raw.csv").is_file());

    import("raw.csv", &["--force", "--epochs", "7"]).success();
    assert_eq!(sandbox.read("wl/thesis.txt"), "years of work");
    assert_eq!(sandbox.read("wl/notes/a.txt"), "more");
    assert!(sandbox.path("wl/raw.csv").is_file());
    // A table that the import does not write would change the workload.
    assert!(!sandbox.path("wl/phi.csv").exists());
    let mut now = sandbox.contents("wl");
    now.retain(|name, _| name != "thesis.txt" && name != "raw.csv");
    assert!(now.keys().eq(written.keys()), "{:?}", now.keys());
    assert_eq!(sandbox.files("."), ["raw.csv", "wl"]);
}

#[test]
fn a_vm_type_that_nobody_sells_is_told_when_it_is_imported() {
    let table = "vm,workers,batch,step_s\nNAME,1,32,0.5\nNAME,2,64,0.6\n";
    let told = |vm: &str| {
        let sandbox = Sandbox::new();
        let imported = sandbox
            .import_profile(&table.replace("NAME", vm), &["--epochs", "3"])
            .success();
        sandbox.write("s.toml", "workloads = [\"./w\"]\n");
        let run = sandbox.run(&["check", "s.toml"]).get_output().status.code();
        (stderr(&imported).contains("needs a price"), run)
    };
    assert_eq!(told("g5.xlarge"), (false, Some(0)));
    assert_eq!(told("my-own-box"), (true, Some(2)));
}
