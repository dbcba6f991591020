//! `scavsim compare`.

use std::collections::BTreeMap;

use insta::assert_snapshot;

use crate::reproduction::assert_current;
use crate::sandbox::{
    Row, Rows, Sandbox, assert_same_files, repository, repository_file, stderr, stdout,
};

fn compared(files: &[&str], more: &[&str]) -> String {
    let mut arguments = vec!["compare".to_owned()];
    arguments.extend(files.iter().map(|file| {
        let path = repository().join(format!("scenarios/compare-{file}"));
        path.to_string_lossy().into_owned()
    }));
    arguments.extend(more.iter().map(|word| (*word).to_owned()));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    stdout(&Sandbox::new().run(&arguments).success())
}

#[test]
fn the_comparison_on_scout_in_results_is_current() {
    let text = compared(&["scout.toml"], &["--repeats", "1,10,100"]);
    assert_current("compare-scout.txt", &text);
}

#[test]
fn the_comparison_on_trimtuner_in_results_is_current() {
    let files = ["trimtuner-cnn.toml", "trimtuner-rnn.toml"];
    let text = compared(&files, &["--repeats", "1,10,100"]);
    assert_current("compare-trimtuner.txt", &text);
}

#[test]
fn the_comparison_on_llm_pilot_in_results_is_current() {
    let text = compared(&["llm-pilot.toml"], &["--repeats", "1,10,100"]);
    assert_current("compare-llm-pilot.txt", &text);
}

/// The value of little history: 36 runs of other jobs, and probes of searches of earlier jobs.
#[test]
fn the_comparison_with_little_history_in_results_is_current() {
    let strategies = "search.strategies=[\"value-of-information\", \"value-of-information-history\", \"average-best\", \"collaborative-filtering\", \"rgpe\"]";
    let text = ["search.known_runs=36", "search.fleet=true"].map(|set| {
        let more = ["--repeats", "1,10,100", "-s", set, "-s", strategies];
        let text = compared(&["llm-pilot.toml"], &more);
        format!("$ scavsim compare scenarios/compare-llm-pilot.toml --repeats 1,10,100 -s {set}\n{text}\n")
    });
    assert_current("compare-little-history.txt", &text.concat());
}

#[test]
fn the_comparison_of_cheap_versions_in_results_is_current() {
    let files = ["fidelity.toml", "fidelity-rnn.toml"];
    let text = compared(&files, &["--repeats", "1,10,100"]);
    assert_current("compare-fidelity.txt", &text);
}

/// The compared figures equal those in records of a run.
#[test]
fn figures_are_those_of_records() {
    let sandbox = Sandbox::with(&repository_file("scenarios/compare-scout.toml"));
    let set = ["-s", "search.repeats=10", "--replicas", "4"];
    sandbox
        .run(&[&["run", "scenario.toml", "--out", "out"], &set[..]].concat())
        .success();
    let mut sums: BTreeMap<(String, String), [f64; 4]> = BTreeMap::new();
    for row in Rows::parse(&sandbox.read("out/records.csv")).iter() {
        let key = (
            row.text("workload").to_owned(),
            row.text("strategy").to_owned(),
        );
        let sum = sums.entry(key).or_default();
        let is = |it: bool| f64::from(u8::from(it));
        let own = [
            row.number("repeated_net_cost"),
            is(row.number("right") == 1.0),
            is(row.number("regret_cost") <= 0.1),
            1.0,
        ];
        *sum = std::array::from_fn(|at| sum[at] + own[at]);
    }
    let compared = sandbox
        .run(&[&["compare", "scenario.toml", "--format", "units"], &set[..]].concat())
        .success();
    let units = Rows::parse(&stdout(&compared));
    assert_eq!(units.iter().count(), 18 * STRATEGIES);
    for unit in units.iter() {
        let key = (
            unit.text("workload").to_owned(),
            unit.text("strategy").to_owned(),
        );
        let [net, exact, near, count] = sums[&key];
        for (column, sum) in [("net", net), ("exact", exact), ("within_tenth", near)] {
            let mean = sum / count;
            assert!(
                (unit.number(column) - mean).abs() <= 1e-9 * mean.abs().max(1.0),
                "{column}: {key:?}"
            );
        }
    }
}

#[test]
fn threads_change_nothing_and_halves_are_other_grids() {
    let of = |more: &[&str]| {
        compared(
            &["trimtuner-cnn.toml"],
            &[&["--replicas", "3", "--format", "units"], more].concat(),
        )
    };
    let whole = of(&["-j", "1"]);
    assert_eq!(whole, of(&["-j", "3"]));
    let halves = of(&["--halves", "2"]);
    assert_eq!(halves.lines().count(), 2 * (whole.lines().count() - 1) + 1);
    assert_eq!(halves, of(&["--halves", "2", "-j", "3"]));
}

#[test]
fn all_three_tables_are_written() {
    let sandbox = Sandbox::with(&repository_file("scenarios/compare-trimtuner-rnn.toml"));
    let run = [
        "compare",
        "scenario.toml",
        "--replicas",
        "2",
        "--out",
        "out",
        "--repeats",
        "1,5",
    ];
    sandbox.run(&run).success();
    let all = [
        "cases.csv",
        "curves.csv",
        "manifest.json",
        "strategies.csv",
        "units.csv",
    ];
    assert_eq!(sandbox.files("out"), all);
    assert_eq!(
        sandbox.read("out/strategies.csv").lines().count(),
        1 + 2 * 19
    );
    // Equal inputs give equal output, with any number of threads.
    let again: Vec<&str> = run
        .iter()
        .map(|word| if *word == "out" { "again" } else { word })
        .collect();
    sandbox.run(&[&again[..], &["-j", "1"]].concat()).success();
    assert_same_files(
        &sandbox.contents("again"),
        &sandbox.contents("out"),
        "on one thread",
    );
}

/// JSON has the rows of all three tables.
#[test]
fn json_has_what_the_tables_have() {
    let sandbox = Sandbox::with(&repository_file("scenarios/compare-trimtuner-rnn.toml"));
    let of = |format| {
        let words = ["compare", "scenario.toml", "--replicas", "2", "--format"];
        stdout(&sandbox.run(&[&words[..], &[format]].concat()).success())
    };
    let json: serde_json::Value = serde_json::from_str(&of("json")).expect("it is JSON");
    for (key, format) in [
        ("strategies", "csv"),
        ("units", "units"),
        ("curves", "curves"),
    ] {
        let text = of(format);
        let table = Rows::parse(&text);
        let items = json[key].as_array().expect("it is a list");
        assert_eq!(items.len(), table.len(), "{key}");
        for (row, item) in table.iter().zip(items) {
            for column in &table.header {
                let cell = row.text(column);
                match &item[column] {
                    serde_json::Value::String(text) => assert_eq!(text, cell),
                    serde_json::Value::Null => assert_eq!(cell, ""),
                    number => assert_eq!(number.as_f64(), cell.parse().ok(), "{column}"),
                }
            }
        }
    }
}

/// Strategies of the shipped comparisons on whole runs.
const STRATEGIES: usize = 23;

/// Medians and 90th percentiles of a strategy match its cases.
#[test]
fn quantiles_are_those_of_cases() {
    let sandbox = Sandbox::with(
        "grid = \"scout\"\nreplicas = 5\nsearch = { strategies = [\"random@6\", \"cheapest\"], objectives = [\"cost\", \"time\"] }\n",
    );
    sandbox
        .run(&[
            "compare",
            "scenario.toml",
            "--repeats",
            "1,10",
            "--out",
            "out",
        ])
        .success();
    let cases = Rows::parse(&sandbox.read("out/cases.csv"));
    let strategies = Rows::parse(&sandbox.read("out/strategies.csv"));
    assert_eq!(strategies.iter().count(), 2 * 2 * 2);
    for strategy in strategies.iter() {
        let own = ["strategy", "objective", "repeats"].map(|key| strategy.text(key).to_owned());
        let is_own = |row: &Row<'_>| {
            ["strategy", "objective", "repeats"].map(|key| row.text(key).to_owned()) == own
        };
        let mut nets: Vec<f64> = (cases.iter())
            .filter(is_own)
            .map(|row| row.number("net"))
            .collect();
        assert_eq!(nets.len(), 18 * 5);
        nets.sort_by(f64::total_cmp);
        for (column, share) in [("net_median", 0.5), ("net_p90", 0.9)] {
            let place = share * (nets.len() - 1) as f64;
            let (low, high) = (nets[place.floor() as usize], nets[place.ceil() as usize]);
            let own = low + (high - low) * place.fract();
            assert!(
                (own - strategy.number(column)).abs() <= 1e-12 * own.abs().max(1.0),
                "{column}"
            );
        }
    }
}

/// A scenario with a program among its strategies.
fn with_program(program: &str, arguments: &str, strategies: &str, jobs: &str) -> Sandbox {
    let sandbox = Sandbox::with(&format!(
        "name = \"{program}\"\ngrid = \"scout\"\n{jobs}replicas = 4\n\
         search = {{ strategies = [{strategies}\"{program}\"], objectives = [\"cost\", \"time\"] }}\n\
         [strategy.{program}]\ncommand = [\"python3\", \"{program}.py\"{arguments}]\n"
    ));
    if program == "gambler" {
        sandbox.write(
            "gambler.py",
            &repository_file("examples/strategies/gambler.py"),
        );
    }
    sandbox
}

/// It would lead by its lucky cases.
#[test]
fn whoever_gives_up_without_luck_is_last_in_every_table() {
    if crate::external::without_python() {
        return;
    }
    let others = "\"cheapest\", \"dearest\", \"random@6\", \"latin-hypercube@1\", ";
    let sandbox = with_program("gambler", ", \"0.05\"", others, "");
    let run = sandbox
        .run(&[
            "compare",
            "scenario.toml",
            "--repeats",
            "1,100",
            "--out",
            "out",
        ])
        .success();
    let text = stdout(&run);
    // It is last in the table of each block, with the reason.
    assert_eq!(text.matches("\ngambler fails in ").count(), 4, "{text}");
    assert!(text.contains(" × no luck"), "{text}");
    for table in text.split("\nstrategy ").skip(1).take(4) {
        let names: Vec<&str> = (table.lines().skip(1))
            .map_while(|line| line.split_whitespace().next())
            .take(5)
            .collect();
        assert_eq!(names.last(), Some(&"gambler"), "{table}");
    }
    let strategies = Rows::parse(&sandbox.read("out/strategies.csv"));
    for block in strategies.iter().collect::<Vec<_>>().chunks(5) {
        let rank = |row: &Row<'_>| row.number("rank");
        let [others @ .., gambler] = block else {
            panic!("five strategies");
        };
        assert_eq!(gambler.text("strategy"), "gambler");
        assert!(others.iter().all(|row| rank(row) < rank(gambler)));
        assert!(gambler.number("failed_share") > 0.5);
        assert!(others.iter().all(|row| row.number("failed_share") == 0.0));
    }
    let failures = Rows::parse(&sandbox.read("out/failures.csv"));
    assert!(
        failures
            .iter()
            .all(|row| row.text("strategy") == "gambler" && row.text("reason") == "no luck")
    );
    // A comparison without failures has no file of them.
    sandbox.edit("scenario.toml", ", \"gambler\"]", "]");
    sandbox
        .run(&["compare", "scenario.toml", "--out", "out"])
        .success();
    assert!(!sandbox.path("out/failures.csv").exists());
    let manifest: serde_json::Value =
        serde_json::from_str(&sandbox.read("out/manifest.json")).expect("JSON");
    assert_eq!(manifest["scenarios"][0]["seed"], 0);
}

/// A case that fails is charged its spending, and R runs of the worst configuration that completes.
#[test]
fn a_failure_costs_what_it_spent_and_the_worst_runs() {
    if crate::external::without_python() {
        return;
    }
    let job = "kmeans_huge_spark15";
    let sandbox = with_program("loser", "", "", &format!("jobs = [\"{job}\"]\n"));
    sandbox.write(
        "loser.py",
        "import json, sys\n\
         sys.stdin.readline()\n\
         print(json.dumps({'probe': {'configuration': 3, 'to_target': True}}), flush=True)\n\
         sys.stdin.readline()\n\
         print(json.dumps({'fail': 'no idea'}), flush=True)\n",
    );
    sandbox
        .run(&[
            "compare",
            "scenario.toml",
            "--repeats",
            "1,7",
            "--out",
            "out",
        ])
        .success();
    let price = |vm: &str| match vm {
        "c4.large" | "m4.large" => 0.1,
        "c4.xlarge" => 0.199,
        "c4.2xlarge" => 0.398,
        "m4.xlarge" => 0.2,
        "m4.2xlarge" => 0.4,
        "r4.large" => 0.133,
        "r4.xlarge" => 0.266,
        "r4.2xlarge" => 0.532,
        other => panic!("{other}"),
    };
    let table = Rows::parse(&repository_file("data/grids/scout/rows.csv"));
    let runs: Vec<(bool, [f64; 2])> = (table.iter())
        .filter(|row| row.text("workload_dir") == job)
        .map(|row| {
            let seconds = row.number("elapsed_time_s");
            let usd = seconds / 3600.0 * row.number("nodes") * price(row.text("vm_type"));
            (row.text("completed") == "True", [usd, seconds])
        })
        .collect();
    let cases = Rows::parse(&sandbox.read("out/cases.csv"));
    assert_eq!(cases.iter().count(), 2 * 2 * 4);
    for case in cases.iter() {
        let by = usize::from(case.text("objective") == "time");
        let done = || runs.iter().filter(|run| run.0).map(|run| run.1[by]);
        let (best, worst) = (
            done().fold(f64::INFINITY, f64::min),
            done().fold(0.0, f64::max),
        );
        let repeats = case.number("repeats");
        let net = (runs[3].1[by] + repeats * worst) / (repeats * best) - 1.0;
        assert!((case.number("net") - net).abs() <= 1e-9 * net, "{net}");
        assert_eq!(case.text("reason"), "no idea");
        assert!((case.number("regret") - (worst / best - 1.0)).abs() <= 1e-9 * net);
    }
}

#[test]
fn what_cannot_be_compared_is_told() {
    let sandbox = Sandbox::new();
    let scenario = |strategies: &str, objectives: &str| {
        format!(
            "grid = \"scout\"\nsearch = {{ strategies = [{strategies}], objectives = [{objectives}] }}\n"
        )
    };
    sandbox.write("a.toml", &scenario("\"random\"", "\"cost\""));
    sandbox.write("b.toml", &scenario("\"cheapest\"", "\"cost\""));
    sandbox.write("knee.toml", &scenario("\"random\"", "\"knee\""));
    sandbox.write("oracle.toml", &scenario("\"oracle\"", "\"cost\""));
    let told = |arguments: &[&str]| {
        let run = sandbox.run(&[&["compare"], arguments].concat()).code(2);
        format!("$ {}\n{}", arguments.join(" "), stderr(&run))
    };
    let all = [
        told(&["a.toml", "b.toml"]),
        told(&["oracle.toml"]),
        told(&["a.toml", "--repeats", "0"]),
        told(&["a.toml", "--against", "cheapest"]),
        told(&["missing.toml"]),
    ];
    assert_snapshot!(all.join("\n"));
    let knee = stdout(&sandbox.run(&["compare", "knee.toml"]).success());
    assert!(knee.contains("knee · run once"), "{knee}");
}

#[test]
fn the_comparison_of_looks_at_steps_in_results_is_current() {
    let files = ["steps-scavenger.toml", "steps-pollux.toml"];
    let text = compared(&files, &["--repeats", "1,10"]);
    assert_current("compare-steps.txt", &text);
}

#[path = "../../benches/studies/claims.rs"]
mod claims;

#[test]
fn the_claims_of_papers_in_results_are_current() {
    let printed = claims::document();
    assert_current("claims.md", &printed);
    // The gallery has the first sentence, and no count of its own.
    let sentence = printed.lines().nth(2).expect("a sentence");
    let page = repository_file("docs/gallery.md");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(sentence), "{sentence}");
}
