//! Suites of searches: their questions, their contents, and mistakes in them.

use insta::assert_snapshot;
use serde_json::Value;

use crate::bench::{JOBS, reasons, run, sandbox, tiny, verify};
use crate::external::without_python;
use crate::sandbox::{Row, Rows, Sandbox, repository, repository_file, stderr, stdout};

/// The results of a suite equal those of `compare` on an equal half.
#[test]
fn a_suite_comes_to_what_a_comparison_does() {
    let sandbox = sandbox();
    run(&sandbox, "random@6", "mine", &[]).success();
    let scenario = format!(
        "name = \"scout\"\ngrid = \"scout\"\n{JOBS}\nseed = 7\nreplicas = 2\n[search]\n\
         strategies = [\"random@6\"]\nobjectives = [\"cost\", \"time\"]\n"
    );
    sandbox.write("scenario.toml", &scenario);
    let compare = [
        "compare",
        "scenario.toml",
        "--halves",
        "1",
        "--repeats",
        "1,10",
        "--format",
        "units",
    ];
    let units = Rows::parse(&stdout(&sandbox.run(&compare).success()));
    let submission: Value =
        serde_json::from_str(&sandbox.read("mine/submission.json")).expect("JSON");
    let totals = submission["totals"].as_array().expect("a list");
    assert_eq!(totals.len(), 4);
    for total in totals {
        let is_own = |row: &Row<'_>| {
            row.text("objective") == total["objective"]
                && total["repeats"].as_u64() == row.text("repeats").parse().ok()
        };
        let nets: Vec<f64> = units
            .iter()
            .filter(is_own)
            .map(|row| row.number("net"))
            .collect();
        assert_eq!(nets.len(), 2);
        let net = total["net"].as_f64().expect("a figure");
        assert!(
            (net - nets.iter().sum::<f64>() / 2.0).abs() < 1e-12,
            "{total} {nets:?}"
        );
    }
}

/// On a grid without other jobs a program gets none; one that needs them fails there and is charged.
#[test]
fn where_a_grid_lacks_other_jobs_searches_are_made_all_the_same() {
    if without_python() {
        return;
    }
    let sandbox = sandbox();
    let shipped: toml::Table = repository_file("data/bench/v1.toml").parse().expect("TOML");
    let cnn = &shipped["grid"][1];
    let grid = format!(
        "[[grid]]\nname = {}\nspec = {}\nrows = {}\nstarts = 1\n",
        cnn["name"], cnn["spec"], cnn["rows"]
    );
    sandbox.write("tiny.toml", &(tiny() + &grid));
    sandbox.write(
        "examples/forest.py",
        &repository_file("examples/strategies/forest.py"),
    );
    run(&sandbox, "examples/forest.py", "forest", &[]).success();
    let told = stdout(&run(&sandbox, "average-best", "average", &[]).success());
    assert!(
        told.contains("20 searches of suite tiny, 4 of them failed"),
        "{told}"
    );
    assert!(
        told.contains("4: strategy `average-best` cannot be used: no other job than"),
        "{told}"
    );
    verify(&sandbox, "average").success();
    verify(&sandbox, "forest").success();
    let told = stderr(&run(&sandbox, "partial", "out", &[]).code(2));
    assert!(told.contains("strategy `partial` cannot be used"), "{told}");
}

#[test]
fn every_mistake_of_a_suite_is_told_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bad.toml",
        "name = \"a b/c\"\nversion = 0\nluck = 1\nrepeats = [1, 10, 1]\nobjectives = [\"knee\", \"cost\"]\n\
         [[grid]]\nname = \"scuot\"\nstarts = 1\n\
         [[grid]]\nname = \"scout\"\nspec = \"0\"\nrows = \"0\"\nstarts = 1\n\
         [[grid]]\nname = \"trimtuner-cnn\"\n",
    );
    let refused = |suite: &str, strategy: &str| {
        let run = ["bench", "run", "--suite", suite, "--strategy", strategy];
        stderr(&sandbox.run(&[&run[..], &["--out", "out"]].concat()).code(2))
    };
    assert_snapshot!(refused("bad.toml", "random"));
    assert!(!sandbox.path("out").exists());
    assert_snapshot!(refused("v9", "random"));
    let misspelt = tiny().replace("lr_huge_spark", "lr_hug_spark");
    sandbox.write("tiny.toml", &misspelt);
    assert_snapshot!(refused("tiny.toml", "randon"));
    sandbox.write("tiny.toml", &tiny());
    assert_snapshot!(refused("tiny.toml", "randon"));
}

/// The cards in the repository are the program's output for the grids.
#[test]
fn cards_are_those_of_the_grids() {
    let sandbox = Sandbox::new();
    for entry in std::fs::read_dir(repository().join("data/grids")).expect("it is there") {
        let entry = entry.expect("it is readable");
        if !entry.path().is_dir() {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let card = stdout(&sandbox.run(&["bench", "cards", &name]).success());
        let file = entry.path().join("CARD.md");
        if std::env::var_os("SCAVSIM_RENEW").is_some() {
            std::fs::write(&file, &card).expect("it is writable");
        }
        assert_eq!(
            card,
            std::fs::read_to_string(file).expect("it is checked in"),
            "{name}"
        );
    }
    let told = stderr(&sandbox.run(&["bench", "cards", "scuot"]).code(2));
    assert!(told.contains("unknown grid `scuot`"), "{told}");
}

#[test]
fn an_archive_has_all_that_its_hashes_say() {
    let sandbox = sandbox();
    let export = |out: &str| sandbox.run(&["bench", "export", out, "--suite", "tiny.toml"]);
    export("one").success();
    export("two").success();
    export("two").code(2);
    let hashes = sandbox.read("one/B3SUMS");
    assert_eq!(hashes, sandbox.read("two/B3SUMS"));
    let names: Vec<&str> = hashes.lines().map(|line| &line[66..]).collect();
    let of = |file: &str| format!("grids/scout/{file}");
    let expected = ["CARD.md", "LICENSE", "grid.toml", "rows.csv"].map(of);
    assert_eq!(names, [&expected[..], &["suite.toml".to_owned()]].concat());
    for line in hashes.lines() {
        let text = sandbox.read(&format!("one/{}", &line[66..]));
        assert_eq!(
            blake3::hash(text.as_bytes()).to_hex().as_str(),
            &line[..64],
            "{line}"
        );
    }
}

/// A strategy's earlier runs are of jobs of other programs.
#[test]
fn nothing_is_known_of_the_job_itself() {
    let text = "grid = \"scavenger\"\n[search]\nstrategies = [\"random\", \"value-of-information-history\"]\nobjectives = [\"cost\"]\n";
    let taken = |scenario: &scavsim::scenario::Scenario| {
        let plan = scavsim::experiment::Plan::new(scenario).expect("it was checked");
        let arenas = plan.arenas();
        let own = arenas.flat_map(|arena| {
            let all = arena
                .contenders
                .iter()
                .flat_map(|contender| &contender.taken);
            all.map(|run| run.workload == arena.workload)
                .collect::<Vec<_>>()
        });
        own.collect::<Vec<bool>>()
    };
    let mut scenario = crate::replay::scenario(text);
    let told = taken(&scenario);
    assert!(told.contains(&true), "{told:?}");
    scenario.subject_mut().leave_own_out();
    let told = taken(&scenario);
    assert!(!told.is_empty() && !told.contains(&true), "{told:?}");
}

#[test]
fn no_strategy_stands_on_a_leaderboard_under_the_name_of_another() {
    let sandbox = sandbox();
    let other = ["--name", "random@4"];
    let told = stderr(&run(&sandbox, "random@3", "out", &other).code(2));
    assert!(
        told.contains(
            "`random@4` is no name for a leaderboard: it is the name of another strategy"
        ),
        "{told}"
    );
    run(&sandbox, "random@3", "out", &[]).success();
    verify(&sandbox, "out").success();
    let honest = sandbox.read("out/submission.json");
    let said = "\"random@3\"";
    assert_eq!(honest.matches(said).count(), 2, "{honest}");
    // In the name only, and in both.
    let refused = |times: usize, why: &str| {
        sandbox.write(
            "out/submission.json",
            &honest.replacen(said, "\"random@4\"", times),
        );
        let told = stdout(&verify(&sandbox, "out").code(1));
        assert!(reasons(&told).contains(why), "{told}");
    };
    refused(
        1,
        "a name that cannot be shown: it is the name of another strategy",
    );
    refused(2, "`random@4` makes other searches than these");
    // Claims to be a different program.
    let program = honest.replace(said, "\"mine.py\"");
    sandbox.write("out/submission.json", &program);
    let told = stdout(&verify(&sandbox, "out").code(1));
    assert!(
        reasons(&told).contains("`mine.py` is no built-in strategy, and has no `command`"),
        "{told}"
    );
    // A program with the name of a strategy would be ambiguous.
    sandbox.write("programs/random", "");
    let other = ["--name", "mine"];
    let told = stderr(&run(&sandbox, "programs/random", "other", &other).code(2));
    assert!(
        told.contains("the program `programs/random` has the name of the strategy `random`"),
        "{told}"
    );
    let twice = honest.replacen('{', "{\n  \"name\": \"other\",", 1);
    sandbox.write("out/submission.json", &twice);
    let told = stdout(&verify(&sandbox, "out").code(1));
    assert!(
        reasons(&told).contains("the key `name` appears twice"),
        "{told}"
    );
}
