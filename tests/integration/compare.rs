//! `scavsim compare`.

use std::collections::BTreeMap;

use insta::assert_snapshot;

use crate::reproduction::assert_current;
use crate::sandbox::{Rows, Sandbox, repository, repository_file, stderr, stdout};

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

/// What is compared is what a run has in its records.
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
    assert_eq!(units.iter().count(), 18 * 17);
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
    assert_eq!(
        sandbox.files("out"),
        ["curves.csv", "strategies.csv", "units.csv"]
    );
    assert_eq!(
        sandbox.read("out/strategies.csv").lines().count(),
        1 + 2 * 17
    );
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
        told(&["knee.toml"]),
        told(&["oracle.toml"]),
        told(&["a.toml", "--repeats", "0"]),
        told(&["missing.toml"]),
    ];
    assert_snapshot!(all.join("\n"));
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
    // The README has the first sentence, and no count of its own.
    let sentence = printed.lines().nth(2).expect("a sentence");
    let readme = repository_file("README.md");
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains(sentence), "{sentence}");
}
