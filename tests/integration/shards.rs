//! Merged parts of a run equal the run.

use std::fs;

use crate::sandbox::{Files, Sandbox, assert_same_files, stderr, stdout};

const SCENARIO: &str = r#"
name = "parts"
workloads = ["scavenger-resnet18", "scavenger-resnet50"]
replicas = 150
variation = { step_cv = 0.05, noise_cv = 0.10, epoch_cv = 0.02 }
search = { strategies = ["oracle", "partial", "random"], objectives = ["time", "cost"] }
limits = { max_cost_usd = 20.0 }
"#;

fn forms() -> &'static str {
    if cfg!(feature = "parquet") {
        "csv,jsonl,parquet"
    } else {
        "csv,jsonl"
    }
}

/// The run without shards: its files, its output and its exit code.
fn whole(sandbox: &Sandbox) -> (Files, String) {
    let arguments = [
        "run",
        "scenario.toml",
        "--out",
        "whole",
        "--records",
        forms(),
    ];
    let assert = sandbox.run(&arguments).code(3);
    assert!(sandbox.contents("whole").contains_key("failures.csv"));
    (sandbox.contents("whole"), stdout(&assert))
}

fn shard(sandbox: &Sandbox, shard: &str, more: &[&str]) -> assert_cmd::assert::Assert {
    let arguments = ["run", "scenario.toml", "--out", "out", "--shard", shard];
    sandbox.run(&[&arguments[..], more].concat())
}

/// All shards of `count`, the last first.
fn all(sandbox: &Sandbox, count: u64) {
    for index in (1..=count).rev() {
        let jobs = ["1", "2", "5"][index as usize % 3];
        let assert = shard(sandbox, &format!("{index}/{count}"), &["--jobs", jobs]);
        assert_eq!(stdout(&assert), "");
        assert!(matches!(assert.get_output().status.code(), Some(0 | 3)));
    }
}

#[test]
fn merged_shards_are_the_run_byte_for_byte_for_any_number_of_them() {
    let sandbox = Sandbox::with(SCENARIO);
    let (right, printed) = whole(&sandbox);
    for count in [1, 3, 8, 40] {
        all(&sandbox, count);
        let assert = sandbox.run(&["merge", "out", "--records", forms()]).code(3);
        assert_eq!(stdout(&assert), printed);
        assert_same_files(&sandbox.contents("out"), &right, &format!("{count} shards"));
        fs::remove_dir_all(sandbox.path("out")).expect("it was written");
    }
}

/// Expectations from runs are in the manifest of the whole run, and in that of its merged parts.
#[test]
fn merged_shards_say_how_well_expectations_are_known() {
    // Without checkpoints one workload is known, and no run of the other ends; with them both are.
    for (checkpoint, code, known) in [
        ("\"none\"", 3, 1),
        ("\"young-daly\", checkpoint_write_s = 4.3", 0, 2),
    ] {
        let sandbox = Sandbox::with(&format!(
            r#"
name = "parts"
workloads = ["scavenger-resnet18", "scavenger-resnet50"]
replicas = 70
cluster = {{ pairs = [[12, 1024], [16, 1024]], start_up_s = 0 }}
spot = {{ lifetime = "gcp-2019", checkpoint = {checkpoint} }}
search = {{ strategies = ["oracle"], objectives = ["time"] }}
"#
        ));
        sandbox
            .run(&["run", "scenario.toml", "--out", "whole"])
            .code(code);
        let right = sandbox.contents("whole");
        let manifest = sandbox.read("whole/manifest.json");
        let with = |value: &str| {
            let said = format!("\"standard_error\": {value}");
            manifest.matches(&said).count()
        };
        assert_eq!(
            (with("0.00"), with("null")),
            (known, 2 - known),
            "{manifest}"
        );
        for count in [1, 3] {
            all(&sandbox, count);
            sandbox.run(&["merge", "out"]).code(code);
            assert_same_files(&sandbox.contents("out"), &right, &format!("{count} shards"));
            fs::remove_dir_all(sandbox.path("out")).expect("it was written");
        }
    }
}

#[test]
fn shards_of_a_slow_fidelity_are_as_fine_as_its_simulations() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.edit("scenario.toml", "replicas = 150", "replicas = 2");
    sandbox.edit(
        "scenario.toml",
        "replicas = 2",
        "replicas = 2\nfidelity = \"event\"",
    );
    let (right, _) = whole(&sandbox);
    all(&sandbox, 4);
    sandbox.run(&["merge", "out", "--records", forms()]).code(3);
    assert_same_files(&sandbox.contents("out"), &right, "event");
    for index in 1..=4 {
        let rows = sandbox.read(&format!("out/shards/000{index}-of-0004.csv"));
        // Two objectives share a simulation, and two replicas a task; six of them go to four shards.
        assert!(matches!(rows.lines().count() - 1, 4 | 8));
    }
}

#[test]
fn a_shard_that_is_there_is_skipped_and_one_that_is_damaged_made_again() {
    let sandbox = Sandbox::with(SCENARIO);
    let first = shard(&sandbox, "2/3", &[]);
    let right = sandbox.contents("out/shards");
    assert_eq!(right.len(), 3);
    let again = shard(&sandbox, "2/3", &[]);
    assert!(stderr(&again).starts_with("parts: shard 2 of 3 is already there\n"));
    assert_eq!(first.get_output().status, again.get_output().status);

    let rows = sandbox.read("out/shards/0002-of-0003.csv");
    sandbox.write("out/shards/0002-of-0003.csv", &rows.replace("0.1", "0.2"));
    let again = shard(&sandbox, "2/3", &[]);
    assert!(!stderr(&again).contains("already there"));
    assert_same_files(&sandbox.contents("out/shards"), &right, "damaged");
    // Their sums are verified, too.
    let path = sandbox.path("out/shards/0002-of-0003.sums");
    let mut sums = fs::read(&path).expect("it was written");
    let middle = sums.len() / 2;
    sums[middle] ^= 1;
    fs::write(&path, sums).expect("it is writable");
    let again = shard(&sandbox, "2/3", &[]);
    assert!(!stderr(&again).contains("already there"));
    assert_same_files(&sandbox.contents("out/shards"), &right, "damaged sums");
    // Another seed is another shard.
    let other = shard(&sandbox, "2/3", &["--seed", "4"]);
    assert!(!stderr(&other).contains("already there"));
    assert_ne!(sandbox.contents("out/shards"), right);
}

/// The message of `merge` about shards that are not one run. Nothing is written.
fn refused(sandbox: &Sandbox) -> String {
    let assert = sandbox.run(&["merge", "out"]).code(2);
    assert_eq!(sandbox.contents("out").len(), 0);
    stderr(&assert)
}

#[test]
fn shards_that_are_not_one_run_are_refused_with_all_reasons() {
    let sandbox = Sandbox::with(SCENARIO);
    assert!(refused(&sandbox).contains("cannot read out/shards"));
    fs::create_dir_all(sandbox.path("out/shards")).expect("the sandbox is writable");
    assert!(refused(&sandbox).contains("there are no shards in out/shards"));

    shard(&sandbox, "2/4", &[]);
    assert!(refused(&sandbox).contains("shards 1, 3, 4 of 4 are missing in out/shards"));
    all(&sandbox, 4);
    let other = shard(&sandbox, "3/4", &["--seed", "9"]);
    // This is reported before the hours are spent.
    let note = "0001-of-0004.json is of another run; `merge` refuses both together\n";
    assert!(stderr(&other).contains(note), "{}", stderr(&other));
    let told = refused(&sandbox);
    assert!(
        told.contains("0003-of-0004.json belongs to another run: `seed` was 0, is now 9"),
        "{told}"
    );
    shard(&sandbox, "3/4", &[]);

    // Another division of the run.
    shard(&sandbox, "1/2", &[]);
    assert!(refused(&sandbox).contains("0001-of-0004.json is one of 4 shards"));
    for name in ["0001-of-0002.csv", "0001-of-0002.sums", "0001-of-0002.json"] {
        fs::remove_file(sandbox.path("out/shards").join(name)).expect("it is there");
    }

    for extension in ["csv", "sums", "json"] {
        let from = sandbox.path(&format!("out/shards/0004-of-0004.{extension}"));
        let to = sandbox.path(&format!("out/shards/copy.{extension}"));
        fs::copy(from, to).expect("it was written");
    }
    assert!(refused(&sandbox).contains("shard 4 is there twice"));
    for name in ["copy.csv", "copy.sums", "copy.json"] {
        fs::remove_file(sandbox.path("out/shards").join(name)).expect("it is there");
    }

    let rows = sandbox.read("out/shards/0001-of-0004.csv");
    let cut = rows.len() - 10;
    sandbox.write("out/shards/0001-of-0004.csv", &rows[..cut]);
    fs::remove_file(sandbox.path("out/shards/0002-of-0004.csv")).expect("it is there");
    sandbox.write("out/shards/0003-of-0004.json", "{}");
    let sums = fs::read(sandbox.path("out/shards/0004-of-0004.sums")).expect("it was written");
    let cut = &sums[..sums.len() - 5];
    fs::write(sandbox.path("out/shards/0004-of-0004.sums"), cut).expect("it is writable");
    let told = refused(&sandbox);
    for part in [
        "0001-of-0004.csv is not what its manifest describes",
        "make it again: `--shard 1/4`",
        "cannot read out/shards/0002-of-0004.csv",
        "0004-of-0004.csv is not what its manifest describes",
        "make it again: `--shard 4/4`",
        "0003-of-0004.json: it has no `manifest_hash`",
        "shard 3 of 4 is missing in out/shards",
    ] {
        assert!(told.contains(part), "{told}");
    }
    // All of it can be repaired.
    all(&sandbox, 4);
    sandbox.run(&["merge", "out"]).code(3);
}

#[test]
fn a_shard_that_does_not_exist_is_refused() {
    let sandbox = Sandbox::with(SCENARIO);
    for wrong in ["0/3", "4/3", "1", "1/0", "x/y"] {
        let assert = shard(&sandbox, wrong, &[]).code(2);
        assert!(stderr(&assert).contains("expected I/N with I from 1 to N"));
    }
    shard(&sandbox, "1/2", &["--resume"]).code(2);
    shard(&sandbox, "1/2", &["--fail-fast"]).code(2);
    shard(&sandbox, "1/2", &["--records", "csv"]).code(2);
    sandbox
        .run(&["run", "scenario.toml", "--shard", "1/2"])
        .code(2);
    assert!(!sandbox.path("out").exists());
}
