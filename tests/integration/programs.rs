//! Programs that others name in their scenarios: none is started without consent.
#![cfg(unix)]

use crate::result_folders::POLICIES;
use crate::sandbox::{Sandbox, stderr};

/// A program that leaves a file where it was started.
const PROGRAM: &str = "command = [\"sh\", \"-c\", \"touch started\"]\n";

const SEARCH: &str = "workloads = [\"scavenger-resnet18\"]\nreplicas = 2\n\
    search = { strategies = [\"full\", \"mine\"], objectives = [\"time\"] }\n";

/// Two folders: someone else's, and the working folder.
fn elsewhere() -> (Sandbox, Sandbox) {
    let other = Sandbox::new();
    other.write("search.toml", &format!("{SEARCH}strategy.mine.{PROGRAM}"));
    let named = POLICIES.replace("\"cost-to-go\"", "\"mine\"");
    other.write("lives.toml", &format!("{named}policy.mine.{PROGRAM}"));
    (other, Sandbox::new())
}

fn is_started(other: &Sandbox) -> bool {
    let mark = other.path("started");
    let is_there = mark.exists();
    if is_there {
        std::fs::remove_file(mark).expect("it is ours");
    }
    is_there
}

#[test]
fn the_program_of_a_scenario_from_elsewhere_is_named_and_not_started() {
    let (other, here) = elsewhere();
    let [search, lives] = ["search.toml", "lives.toml"].map(|name| {
        let path = other.path(name);
        path.to_str().expect("it is UTF-8").to_owned()
    });
    let refused: &[&[&str]] = &[
        &["run", &search],
        &["run", &search, "--out", "out"],
        &["compare", &search],
        &["trace", &search, "--case", "2"],
        &["trace", &search, "--case", "2", "--out", "out"],
        &["run", &lives, "--out", "out"],
        &["compare", &lives],
        #[cfg(feature = "figures")]
        &["plot", &lives, "--out", "out"],
    ];
    for arguments in refused {
        let told = stderr(&here.run(arguments).code(2));
        assert!(told.contains("sh -c touch started in /"), "{told}");
        assert!(told.contains("None was started. `--programs`"), "{told}");
        assert!(
            !is_started(&other) && here.files(".").is_empty(),
            "{arguments:?}"
        );
        let agreed = [*arguments, &["--programs"]].concat();
        let told = stderr(&here.run(&agreed));
        assert!(is_started(&other), "{agreed:?}");
        assert!(!told.contains("None was started"), "{told}");
        let _ = std::fs::remove_dir_all(here.path("out"));
    }
}

#[test]
fn whoever_only_looks_starts_no_program() {
    let (other, _) = elsewhere();
    let looks: [&[&str]; 5] = [
        &["check", "search.toml"],
        &["check", "lives.toml"],
        &["rank", "search.toml", "--runs", "20"],
        &["run", "search.toml", "--dry-run"],
        &["run", "lives.toml", "--dry-run"],
    ];
    for arguments in looks {
        other.run(arguments).success();
        assert!(!is_started(&other), "{arguments:?}");
    }
    let told = stderr(&other.run(looks[3]).success());
    assert!(told.contains("search: without its programs: "), "{told}");
    // Programs in the working folder are the user's own.
    other.run(&["run", "search.toml"]).code(3);
    assert!(is_started(&other));
}

#[test]
fn the_program_of_a_paper_is_named_and_not_started() {
    let (other, here) = elsewhere();
    let paper = "citation = 'x'\nscenario = 'search.toml'\n";
    let figures = "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n\
        a,mean(time_h),4,h,0.9,relative,figure,prediction\n";
    for sandbox in [&other, &here] {
        sandbox.write("paper/paper.toml", paper);
        sandbox.write("paper/figures.csv", figures);
        sandbox.write("paper/search.toml", &other.read("search.toml"));
        let told = stderr(&sandbox.run(&["reproduce", "paper"]).code(2));
        assert!(
            told.contains("The paper in paper starts programs:\n"),
            "{told}"
        );
        assert!(told.contains("`mine`: sh -c touch started in /"), "{told}");
        assert!(!sandbox.path("paper/started").exists());
        sandbox.run(&["reproduce", "paper", "--programs"]);
        assert!(sandbox.path("paper/started").exists());
    }
}
