//! Measurements made into workload folders.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::fits::{WORKLOADS, shared_data};
use crate::sandbox::{Sandbox, repository, stderr};

/// The arguments behind each embedded workload, with the raw data under `shared`.
fn recipe(workload: &str, shared: &Path) -> Vec<String> {
    let text = |path: &str| shared.join(path).display().to_string();
    let mlperf = |rcp: &str, submitter: &str, accelerator: &str, round: &str| {
        let file = text(&format!("mlperf-rcp/{rcp}"));
        let runs = text("mlperf-training-summary/mlperf_training_runs.csv");
        [
            "mlperf-rcp",
            &file,
            "--runs",
            &runs,
            "--submitter",
            submitter,
            "--accelerator",
            accelerator,
            "--round",
            round,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let a100 = "NVIDIA A100-SXM4-80GB (400W)";
    let h100 = "NVIDIA H100-SXM5-80GB";
    match workload {
        "mlperf-resnet" => {
            let habana = "Intel-HabanaLabs";
            mlperf(
                "training_4.0.0/rcps_resnet.json",
                habana,
                "Habana Gaudi",
                "v1.1",
            )
        }
        "mlperf-bert" => mlperf("training_5.1.0/rcps_bert.json", "Azure", a100, "v1.1"),
        "mlperf-rnnt" => mlperf("training_3.1.0/rcps_rnnt.json", "NVIDIA", a100, "v1.1"),
        "mlperf-retinanet" => mlperf("training_5.1.0/rcps_retinanet.json", "NVIDIA", h100, "v4.0"),
        "mlperf-stable-diffusion" => {
            let file = "training_5.0.0/rcps_stable_diffusion.json";
            mlperf(file, "NVIDIA", h100, "v4.0")
        }
        pollux => {
            let application = pollux.trim_start_matches("pollux-");
            let folder = text(&format!("pollux-osdi21/{application}"));
            vec!["pollux".into(), folder]
        }
    }
}

const ALL: [&str; 8] = [
    "mlperf-bert",
    "mlperf-resnet",
    "mlperf-retinanet",
    "mlperf-rnnt",
    "mlperf-stable-diffusion",
    "pollux-bert",
    "pollux-cifar10",
    "pollux-imagenet",
];

/// To make them again, run this test with `SCAVSIM_MAKE_WORKLOADS` set.
#[test]
fn importing_again_gives_the_embedded_workloads_byte_for_byte() {
    let Some(shared) = shared_data("") else {
        return;
    };
    for workload in ALL {
        let sandbox = Sandbox::new();
        let mut arguments = vec!["import".to_owned()];
        arguments.extend(recipe(workload, &shared));
        arguments.extend(["--out".to_owned(), workload.to_owned()]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let report = sandbox.run(&arguments).success();
        println!(
            "{workload}\n{}",
            String::from_utf8_lossy(&report.get_output().stdout)
        );
        let kept = repository().join(WORKLOADS).join(workload);
        if std::env::var_os("SCAVSIM_MAKE_WORKLOADS").is_some() {
            fs::create_dir_all(&kept).expect("the repository is writable");
            for file in sandbox.files(workload) {
                let text = sandbox.read(&format!("{workload}/{file}"));
                fs::write(kept.join(file), text).expect("the repository is writable");
            }
        }
        let mut names: Vec<_> = fs::read_dir(&kept)
            .expect("the workload is checked in")
            .map(|e| {
                e.expect("it is readable")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        assert_eq!(sandbox.files(workload), names, "{workload}");
        for file in names {
            let got = sandbox.read(&format!("{workload}/{file}"));
            let want = fs::read_to_string(kept.join(&file)).expect("it is text");
            assert!(got == want, "{workload}/{file} differs");
        }
    }
}

/// The message with which an import refuses, after making sure that it wrote nothing.
fn refused(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let before = sandbox.files(".");
    let assert = sandbox.run(arguments).code(2).stdout("");
    assert_eq!(sandbox.files("."), before, "something was written");
    stderr(&assert)
}

/// The same of a profile.
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
    // clap takes a bare negative number for an option.
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

#[test]
fn mistakes_in_a_pollux_folder() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("ncf2")).expect("the sandbox is writable");
    sandbox.write(
        "ncf2/placements.csv",
        "placement,local_bsz,step_time,sync_time\n\
         10,4,0.5,0.1\n1,0,0.5,0.1\n1,4,0.5,0.5\n2,4,inf,0.1\n3,4,0.5,0.1\n3,4,0.6,0.1\n",
    );
    sandbox.write(
        "ncf2/validation-8.csv",
        "progress,iteration,metric,grad_sqr,grad_var\n5,5,1,2,3\n5,6,1,2,-3\n",
    );
    let told = refused(&sandbox, &["import", "pollux", "ncf2", "--out", "w"]);
    assert_snapshot!(told);
    let told = refused(
        &sandbox,
        &["import", "pollux", "nowhere", "--app", "bert", "--out", "w"],
    );
    assert!(told.contains("cannot read nowhere"), "{told}");
}

const RCP: &str = r#"{
  "a": {"Benchmark": "bert", "BS": 256, "Epochs to converge": [2500000, 2600000]},
  "b": {"Benchmark": "bert", "BS": 512, "Epochs to converge": [2700000]}
}
"#;

const RUNS: &str = "round,submitter,division,system,benchmark,number_of_nodes,accelerators_per_node,accelerator,global_batch_size,train_samples,status,run_seconds,last_eval_epoch_or_samples\n";

fn mlperf(runs: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("rcp.json", RCP);
    sandbox.write("runs.csv", &format!("{RUNS}{runs}"));
    sandbox
}

const MLPERF: [&str; 7] = [
    "import",
    "mlperf-rcp",
    "rcp.json",
    "--runs",
    "runs.csv",
    "--out",
    "w",
];

#[test]
fn bert_runs_that_log_one_epoch_count_the_samples_they_trained() {
    // The second gives the size of the set instead, so the convergence point decides.
    let sandbox = mlperf(
        "v1.1,X,closed,s,bert,1,8,A,256,2560000,success,1000,1\n\
         v1.1,X,closed,s,bert,2,8,A,512,156725653,success,1000,1\n\
         v1.1,X,closed,s,bert,2,8,A,512,2700000,aborted,9000,1\n",
    );
    let assert = sandbox.run(&MLPERF).success();
    let report = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(report.contains("1 dropped (not successful)"), "{report}");
    let steps = sandbox.read("w/steps.csv");
    assert!(steps.contains("a/8,8,256,0.1,,derived"), "{steps}");
    // 1000 s over 2,700,000 / 512 steps.
    assert!(steps.contains("a/8,16,512,0.18962963,,derived"), "{steps}");
}

#[test]
fn runs_of_several_submitters_are_not_mixed() {
    let sandbox = mlperf(
        "v4.0,X,closed,s,bert,1,8,A,256,,success,1000,2560000\n\
         v4.0,Y,closed,s,bert,1,8,A,256,,success,1000,2560000\n",
    );
    assert_snapshot!(refused(&sandbox, &MLPERF));
    sandbox
        .run(&[&MLPERF[..], &["--submitter", "y"]].concat())
        .success();
}

#[test]
fn a_run_that_logged_another_epoch_than_its_last_is_dropped() {
    let run = |samples: u32| format!("v4.0,X,closed,s,bert,1,8,A,256,,success,1000,{samples}\n");
    let sandbox = mlperf(
        &[2_560_000, 2_560_000, 2_560_000, 1_536_000]
            .map(run)
            .concat(),
    );
    let assert = sandbox.run(&MLPERF).success();
    let report = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(
        report.contains("1 dropped (step more than 20 % off"),
        "{report}"
    );
    assert!(
        sandbox
            .read("w/steps.csv")
            .contains("a/8,8,256,0.1,,derived")
    );
}

#[test]
fn ssd_before_it_was_retinanet_is_another_task() {
    let sandbox = mlperf("v1.1,X,closed,s,ssd,1,8,A,256,,success,1000,60\n");
    sandbox.write(
        "rcp.json",
        r#"{"a": {"Benchmark": "ssd", "BS": 256, "Epochs to converge": [4]}}"#,
    );
    assert!(refused(&sandbox, &MLPERF).contains("no run is left"));
}

#[test]
fn convergence_points_of_something_else() {
    let sandbox = mlperf("");
    sandbox.write(
        "other.json",
        r#"{"x": {"Benchmark": "chess", "BS": 1, "Epochs to converge": [1]}}"#,
    );
    let two = [
        "import",
        "mlperf-rcp",
        "rcp.json",
        "other.json",
        "--out",
        "w",
    ];
    assert!(refused(&sandbox, &two).contains("a point of `chess`"));
    let one = ["import", "mlperf-rcp", "other.json", "--out", "w"];
    assert!(refused(&sandbox, &one).contains("unknown MLPerf benchmark `chess`"));
}

/// What an import accepts, a run accepts.
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
    // A table that the import does not write would change what the workload is.
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
