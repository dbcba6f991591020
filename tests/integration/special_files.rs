//! Links, pipes and devices in place of files: nothing outside of a folder is written, and nothing blocks.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, stderr};

const SCENARIO: &str = "workloads = [\"scavenger-resnet18\"]\n\
    search = { strategies = [\"oracle\"], objectives = [\"time\"] }\n";

fn pipe(sandbox: &Sandbox, name: &str) {
    let made = Command::new("mkfifo").arg(sandbox.path(name)).status();
    assert!(made.is_ok_and(|made| made.success()), "a pipe can be made");
}

/// The message of a refused command, without delay.
fn refused(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let start = Instant::now();
    let mut child = sandbox
        .scavsim()
        .args(arguments)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it can be started");
    while child.try_wait().expect("it is ours").is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().expect("it is ours");
            panic!("{arguments:?} waits for ever");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it is ours");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
    told
}

#[test]
fn no_link_is_followed_out_of_the_output_folder() {
    let sandbox = Sandbox::with(SCENARIO);
    for (name, records) in [
        ("records.partial.csv", "csv"),
        ("records.partial.jsonl", "jsonl"),
        ("failures.partial.csv", "csv"),
    ] {
        sandbox.write("victim", "mine");
        fs::create_dir(sandbox.path("out")).expect("the sandbox is writable");
        symlink("../victim", sandbox.path("out").join(name)).expect("it can be linked");
        let arguments = ["run", "scenario.toml", "--out", "out", "--records", records];
        for more in [&[][..], &["--resume"]] {
            let told = refused(&sandbox, &[&arguments[..], more].concat());
            assert!(
                told.contains("it is a link, which is not followed"),
                "{told}"
            );
        }
        assert_eq!(sandbox.read("victim"), "mine");
        assert_eq!(sandbox.files("out"), [name]);
        fs::remove_dir_all(sandbox.path("out")).expect("it is ours");
    }
    // Files that are written to a temporary name replace a link.
    fs::create_dir(sandbox.path("out")).expect("the sandbox is writable");
    for name in ["records.csv", "manifest.json", "summary.csv"] {
        symlink("../victim", sandbox.path("out").join(name)).expect("it can be linked");
    }
    let run = ["run", "scenario.toml", "--out", "out", "--overwrite"];
    let with = sandbox.run(&run).get_output().status.code();
    if with == Some(0) {
        assert!(!sandbox.path("out/records.csv").is_symlink());
    }
    assert_eq!(sandbox.read("victim"), "mine");
}

#[test]
fn no_pipe_is_waited_for() {
    let sandbox = Sandbox::with(SCENARIO);
    fs::create_dir(sandbox.path("out")).expect("the sandbox is writable");
    pipe(&sandbox, "out/records.partial.csv");
    let told = refused(&sandbox, &["run", "scenario.toml", "--out", "out"]);
    assert!(
        told.contains("out/records.partial.csv: it is not a regular file"),
        "{told}"
    );

    sandbox
        .run(&["run", "scenario.toml", "--out", "done"])
        .success();
    fs::remove_file(sandbox.path("done/records.csv")).expect("it is there");
    pipe(&sandbox, "done/records.csv");
    let told = refused(&sandbox, &["summary", "done"]);
    assert!(told.contains("it is not a regular file"), "{told}");

    pipe(&sandbox, "pipe.csv");
    let import = [
        "import",
        "profile",
        "pipe.csv",
        "--samples-per-epoch",
        "5",
        "--out",
        "wl",
    ];
    let told = refused(&sandbox, &import);
    assert!(
        told.contains("cannot read pipe.csv: it is not a regular file"),
        "{told}"
    );
}

#[test]
fn what_was_made_for_a_run_that_cannot_begin_goes_again() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.write("taken.toml", SCENARIO);
    fs::create_dir_all(sandbox.path("there")).expect("the sandbox is writable");
    sandbox.write("there/taken", "a file where a folder belongs");
    let told = refused(
        &sandbox,
        &["run", "scenario.toml", "taken.toml", "--out", "there"],
    );
    assert!(told.contains("there/taken"), "{told}");
    assert_eq!(sandbox.files("there"), ["taken"]);
}

#[test]
fn damaged_results_are_refused_with_one_code() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--shard", "1/1"])
        .success();
    let damage = |file: &str, from: &str, to: &str| {
        let text = sandbox.read(file);
        assert!(text.contains(from), "{file}: {text}");
        sandbox.write(file, &text.replacen(from, to, 1));
    };
    damage("out/manifest.json", "\"complete\"", "complete");
    damage(
        "out/shards/0001-of-0001.json",
        "\"records_hash\"",
        "records_hash",
    );
    for arguments in [
        &["summary", "out"][..],
        &["merge", "out"],
        &["run", "scenario.toml", "--out", "out", "--resume"],
    ] {
        refused(&sandbox, arguments);
    }
}

#[test]
fn a_path_cannot_command_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("a\u{1b}[31m.toml", &format!("name = \"a\"\n{SCENARIO}"));
    let told = sandbox.run(&["check", "a\u{1b}[31m.toml"]).success();
    let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
    assert!(told.starts_with("a\\u{1b}[31m.toml: ok"), "{told}");
    let told = stderr(&sandbox.run(&["summary", "\u{1b}[31m"]).code(2));
    assert!(!told.contains('\u{1b}'), "{told:?}");
}

#[test]
fn no_folder_that_is_a_link_is_written_to() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    fs::create_dir(sandbox.path("elsewhere")).expect("the sandbox is writable");
    for name in ["shards", "figures"] {
        symlink("../elsewhere", sandbox.path("out").join(name)).expect("it can be linked");
    }
    for arguments in [
        &["run", "scenario.toml", "--out", "out", "--shard", "1/2"][..],
        #[cfg(feature = "figures")]
        &["plot", "out"],
    ] {
        let assert = sandbox.run(arguments).failure();
        assert!(
            stderr(&assert).contains("it is a link"),
            "{}",
            stderr(&assert)
        );
    }
    assert!(sandbox.files("elsewhere").is_empty());
    // A link that the user names is intended.
    #[cfg(feature = "figures")]
    sandbox
        .run(&["plot", "out", "--out", "out/figures"])
        .success();
}

#[test]
fn nothing_hidden_is_left_of_what_was_killed() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.workload("own");
    let import = |more: &[&str]| {
        let words = [
            "import",
            "profile",
            "p.csv",
            "--samples-per-epoch",
            "50000",
            "--out",
            "w",
        ];
        sandbox.run(&[&words[..], more].concat())
    };
    let profile = crate::sandbox::repository_file("scenarios/example-profile.csv");
    sandbox.write("p.csv", &profile);
    import(&[]).success();
    let right = sandbox.contents("w");
    // Killed in the middle, before any renaming; and after renaming all but the notes.
    let moved = |from: &str, to: &str| {
        fs::rename(sandbox.path(from), sandbox.path(to)).expect("it can be moved");
    };
    for is_new_there in [false, true] {
        sandbox.write("w/notes.txt", "mine");
        fs::create_dir(sandbox.path("w.partial")).expect("it is writable");
        moved("w", "w.partial/old");
        sandbox.write("w.partial/new/workload.toml", "half");
        if is_new_there {
            moved("w.partial/new", "w");
        }
        import(&["--force"]).success();
        let files = ["own", "p.csv", "scenario.toml", "w"];
        assert_eq!(sandbox.files("."), files);
        assert_eq!(sandbox.read("w/notes.txt"), "mine");
        for (name, bytes) in &right {
            assert!(sandbox.contents("w")[name] == *bytes, "{name}");
        }
    }
    // A user's file is not a remainder of an import.
    sandbox.write("w.partial/thesis.tex", "mine");
    let told = stderr(&import(&["--force"]).code(1));
    assert!(told.contains("w.partial is in the way"), "{told}");
    assert_eq!(sandbox.read("w.partial/thesis.tex"), "mine");
}

/// For a comparison, a trace and a shard.
#[test]
fn nothing_hidden_is_left_of_commands_that_were_killed() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\nreplicas = 2000\nfidelity = \"event\"\nvariation.step_cv = 0.1\n",
    );
    let all: [&[&str]; 3] = [
        &["compare", "scenario.toml", "--out", "out"],
        &["bench", "run", "--strategy", "random", "--out", "out"],
        &["run", "scenario.toml", "--shard", "1/2", "--out", "out"],
    ];
    for arguments in all {
        let mut child = sandbox
            .scavsim()
            .args(arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it can be started");
        let begun = Instant::now();
        let files = || [sandbox.files("out"), sandbox.files("out/shards")].concat();
        while files()
            .iter()
            .all(|name| name == "shards" || name == ".scavsim-probe")
        {
            let is_late = begun.elapsed() > Duration::from_secs(60);
            assert!(!is_late, "{arguments:?} begins no file");
        }
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        for name in files() {
            let is_told = name == "shards" || name.contains(".partial.");
            assert!(is_told, "{arguments:?} leaves {name}");
        }
        fs::remove_dir_all(sandbox.path("out")).expect("it is ours");
    }
}

/// Devices and pipes stay unchanged; a full device fails like a disk.
#[test]
fn devices_and_pipes_are_written_into() {
    let sandbox = Sandbox::new();
    let profile = crate::sandbox::repository_file("scenarios/example-profile.csv");
    sandbox.write("p.csv", &profile);
    pipe(&sandbox, "pipe");
    for device in ["null", "full"] {
        symlink(format!("/dev/{device}"), sandbox.path(device)).expect("it can be linked");
    }
    let advise = |option: &str, out: &str| {
        let words = "advise p.csv --samples-per-epoch 50000 --runs 20 --force".split(' ');
        let words: Vec<&str> = words.chain([option, out]).collect();
        sandbox.run(&words)
    };
    advise("--sky", "null").success();
    assert!(sandbox.path("null").is_symlink());
    let full = |option| {
        let told = stderr(&advise(option, "full").code(1));
        assert!(told.contains("cannot write full: "), "{told}");
        assert!(sandbox.path("full").is_symlink());
    };
    full("--sky");
    #[cfg(feature = "figures")]
    full("--report");
    let path = sandbox.path("pipe");
    let heard = std::thread::spawn(|| fs::read_to_string(path));
    advise("--sky", "pipe").success();
    let heard = heard.join().expect("it ends").expect("it is text");
    advise("--sky", "sky.yaml").success();
    assert_eq!(heard, sandbox.read("sky.yaml"));
    let files = ["full", "null", "p.csv", "pipe", "sky.yaml"];
    assert_eq!(sandbox.files("."), files);
}

/// As on a full disk, files can grow to a few blocks only.
#[test]
fn a_full_disk_leaves_nothing_half_written_and_the_message_names_the_file() {
    let sandbox = Sandbox::new();
    let profile = crate::sandbox::repository_file("scenarios/example-profile.csv");
    sandbox.write("p.csv", &profile);
    sandbox.write("p.toml", crate::result_folders::POLICIES);
    let full = |blocks: u32, arguments: &str| {
        let scavsim = env!("CARGO_BIN_EXE_scavsim");
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec {scavsim} {arguments}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited]).current_dir(sandbox.path("."));
        let output = shell.env("SCAVSIM_PRICES", "builtin").output();
        let output = output.expect("there is a shell");
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let advise = "advise p.csv --samples-per-epoch 50000 --runs 20 --sky sky.yaml";
    let told = full(0, advise);
    assert!(told.contains("cannot write sky.yaml"), "{told}");
    let told = full(8, "bench export suite");
    assert!(told.contains("cannot write suite"), "{told}");
    let told = full(1, "run p.toml --out lives");
    assert!(told.contains("cannot write lives/manifest.json"), "{told}");
    assert_eq!(sandbox.files("."), ["lives", "p.csv", "p.toml"]);
}

/// The message names the unwritable file, even if the folder is gone.
#[test]
fn a_folder_that_goes_away_under_a_run_is_named() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\nreplicas = 400\nfidelity = \"event\"\nvariation.step_cv = 0.1\n",
    );
    let mut command = sandbox.scavsim();
    command.args(["run", "scenario.toml", "--jobs", "1", "--out", "out"]);
    let run = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped());
    let run = run.spawn().expect("it can be started");
    let begun = Instant::now();
    while !sandbox.path("out/records.partial.csv").exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it does not begin"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::rename(sandbox.path("out"), sandbox.path("moved")).expect("it can be moved");
    let output = run.wait_with_output().expect("it is ours");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("out/"), "{told}");
}

#[test]
fn no_message_commands_the_terminal() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\n\"\u{9b}31m\" = 1\n\"a\u{202e}b\" = 1\nname = \"x\u{9b}y\"\n",
    );
    let told = sandbox.run(&["check", "scenario.toml"]).code(2);
    let told = stderr(&told);
    assert!(
        told.contains("\\u{9b}31m") && told.contains("a\\u{202e}b"),
        "{told:?}"
    );
    assert!(!told.contains(['\u{9b}', '\u{202e}']), "{told:?}");
}
