//! This project's own strategy: in the program for a job that is run once, and on measured grids for jobs that are run again.

use scavsim::search::Objective;
use scavsim::search::value_of_information::Constants;

use crate::sandbox::{Rows, Sandbox, repository_file, stderr};
use study::{jobs, mean as overhead};

// The bench prints more.
#[allow(dead_code)]
#[path = "../../benches/studies/value_of_information.rs"]
mod study;

const OWN: &str = "value-of-information";

/// All cases of some strategies.
fn rows(text: &str, strategies: &[&str], objective: &str) -> Rows {
    let sandbox = Sandbox::with(&format!(
        "{text}\nsearch = {{ strategies = {strategies:?}, objectives = [\"{objective}\"] }}\n"
    ));
    sandbox.run(&["run", "scenario.toml", "--out", "out"]);
    Rows::parse(&sandbox.read("out/records.csv"))
}

/// Mean of a column over the cases of a strategy, all of which have a result.
fn mean(rows: &Rows, strategy: &str, column: &str) -> f64 {
    let values: Vec<f64> = (rows.iter())
        .filter(|row| row.text("strategy") == strategy)
        .map(|row| row.number(column))
        .collect();
    assert!(!values.is_empty(), "{strategy} has no cases");
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean overhead over the optimum on 18 jobs: 0.79 of cost and 0.11 of time, as below. Peers by their own rule have more; by
/// time it chooses the most expensive cluster, which is hard to beat in one run.
#[test]
fn a_job_that_runs_once_costs_less_than_with_the_peers() {
    for (objective, bound, peers) in [
        ("cost", 0.87, ["ei-per-cost", "cherrypick"]),
        ("time", 0.13, ["ei-per-cost", "dearest"]),
    ] {
        let column = format!("overhead_net_{objective}");
        let all = [OWN, peers[0], peers[1]];
        let rows = rows("grid = \"scout\"\nreplicas = 3", &all, objective);
        let own = mean(&rows, OWN, &column);
        assert!(own < bound, "{objective}: {own}");
        for peer in peers {
            let reached: Vec<f64> = (rows.iter())
                .filter(|row| row.text("strategy") == peer && !row.text(&column).is_empty())
                .map(|row| row.number(&column))
                .collect();
            let other = reached.iter().sum::<f64>() / reached.len() as f64;
            assert!(own <= other, "{objective}: {own}, {peer} {other}");
        }
    }
}

/// Epochs are known as for `partial`, so it probes steps and searches for about a hundredth of the job.
#[test]
fn where_steps_can_be_looked_at_it_looks() {
    let rows = rows(
        "grid = \"scavenger\"\nreplicas = 1",
        &[OWN, "partial"],
        "cost",
    );
    let (own, partial) = (
        mean(&rows, OWN, "overhead_net_cost"),
        mean(&rows, "partial", "overhead_net_cost"),
    );
    assert!(mean(&rows, OWN, "search_share_cost") < 0.015);
    assert!(own < 0.015 && own <= partial + 0.002, "{own} {partial}");
}

/// On a simulated cluster, after one cold start.
#[test]
fn on_a_simulated_cluster_it_comes_as_near_as_partial_search() {
    let text = "workloads = [\"scavenger-resnet18\", \"scavenger-resnet50\", \"scavenger-transformer\"]\nreplicas = 20";
    for objective in ["time", "cost"] {
        let rows = rows(text, &[OWN, "partial"], objective);
        let regret = format!("regret_{objective}");
        let (own, partial) = (mean(&rows, OWN, &regret), mean(&rows, "partial", &regret));
        assert!(own <= partial + 0.01, "{objective}: {own} {partial}");
    }
}

#[test]
fn a_budget_ends_it_and_a_wrong_one_is_refused() {
    let share = |budget: &str| {
        let text = format!("grid = \"scavenger\"\nreplicas = 1\n{budget}");
        mean(&rows(&text, &[OWN], "cost"), OWN, "search_share_cost")
    };
    assert!(share("strategy.value-of-information.budget = 1") < share(""));
    let sandbox = Sandbox::with(
        "grid = \"scout\"\nsearch.strategies = [\"value-of-information\"]\nstrategy.value-of-information.budget = 0\n",
    );
    let check = sandbox.run(&["check", "scenario.toml"]).code(2);
    assert!(stderr(&check).contains("budget"), "{}", stderr(&check));
}

/// For any number of threads, and although all searches of a job share their first beliefs.
#[test]
fn the_same_seed_gives_the_same_searches() {
    let of = |threads: &str| {
        let sandbox = Sandbox::with(
            "grid = \"trimtuner-rnn\"\nreplicas = 3\nsearch.strategies = [\"value-of-information\"]\n",
        );
        sandbox
            .run(&["run", "scenario.toml", "--out", "out", "--jobs", threads])
            .success();
        sandbox.read("out/records.csv")
    };
    assert_eq!(of("1"), of("3"));
}

#[test]
fn the_jobs_that_constants_were_chosen_on_are_apart_from_the_others() {
    let count = |family, tuned| jobs(family, tuned).len();
    assert_eq!((count("scout", true), count("scout", false)), (9, 9));
    assert_eq!(
        (count("trimtuner", true), count("trimtuner", false)),
        (1, 1)
    );
}

/// Mean overhead over the optimum at 1, 10 and 100 runs; bounds are measured values plus a tenth.
#[test]
fn overheads_are_what_they_were() {
    let constants = Constants::default();
    let mut beyond = Vec::new();
    for (family, tuned, objective, bounds) in BOUNDS {
        let jobs = jobs(family, *tuned);
        for (runs, bound) in [1, 10, 100].into_iter().zip(bounds) {
            let found = overhead(&jobs, *objective, runs, &constants, false);
            println!("{family} tuned {tuned} {objective:?} {runs}: {found:.3}");
            if found > bound * 1.1 + 0.01 {
                beyond.push(format!("{family} {tuned} {objective:?} {runs}: {found}"));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

/// Family, whether constants were chosen on its jobs, and the least measured values.
const BOUNDS: &[(&str, bool, Objective, [f64; 3])] = &[
    ("scout", true, Objective::Cost, [0.77, 0.46, 0.13]),
    ("scout", true, Objective::Time, [0.09, 0.25, 0.07]),
    ("scout", false, Objective::Cost, [0.81, 0.65, 0.16]),
    ("scout", false, Objective::Time, [0.13, 0.27, 0.06]),
    ("trimtuner", true, Objective::Cost, [0.27, 0.86, 0.13]),
    ("trimtuner", false, Objective::Cost, [0.00, 0.45, 0.11]),
];

/// Serving with at most 50 ms between tokens: most machines miss that, and the search learns from its runs. Without learning,
/// runs cost 3.08 and 0.31 more than the optimum's here.
#[test]
fn a_limit_on_quality_is_learned_from_what_runs_show() {
    let sandbox = Sandbox::new();
    let grid = repository_file("data/grids/llm-pilot/grid.toml");
    let limited = grid.replace("[programs]", "[target]\nat_most = 50\n\n[programs]");
    assert_ne!(limited, grid);
    sandbox.write("limited/grid.toml", &limited);
    sandbox.write(
        "limited/rows.csv",
        &repository_file("data/grids/llm-pilot/rows.csv"),
    );
    for (runs, bound) in [(1, 2.3), (100, 0.25)] {
        let scenario = format!(
            "grid = \"./limited\"\n[search]\nrepeats = {runs}\nstrategies = [\"{OWN}\"]\nobjectives = [\"cost\"]\n"
        );
        sandbox.write("scenario.toml", &scenario);
        let out = format!("out-{runs}");
        (sandbox.run(&["run", "scenario.toml", "--out", &out])).success();
        let rows = Rows::parse(&sandbox.read(&format!("{out}/records.csv")));
        let net = mean(&rows, OWN, "repeated_net_cost");
        assert!(net < bound, "{runs} runs: {net}");
    }
}

/// The value of earlier runs of other programs on Scout, in overhead over the optimum: by time of ten runs 0.11, without them 0.27; by
/// cost 0.73 and 0.12 of 1 and 100 runs, without them 0.79 and 0.14. They mislead in ten runs by cost and a hundred by time, because two of
/// nine programs need the memory that the others do not. Searches have no randomness there, so bounds are those figures, rounded up.
#[test]
fn other_jobs_help_where_they_can() {
    let with_history = "value-of-information-history";
    for (objective, runs, bound, helps) in [
        ("cost", 1, 0.74, true),
        ("cost", 10, 0.69, false),
        ("cost", 100, 0.13, true),
        ("time", 10, 0.12, true),
        ("time", 100, 0.08, false),
    ] {
        let sandbox = Sandbox::with(&format!(
            "grid = \"scout\"\nreplicas = 1\n[search]\nrepeats = {runs}\n\
             strategies = [\"{OWN}\", \"{with_history}\"]\nobjectives = [\"{objective}\"]\n"
        ));
        sandbox
            .run(&["run", "scenario.toml", "--out", "out"])
            .success();
        let rows = Rows::parse(&sandbox.read("out/records.csv"));
        let column = format!("repeated_net_{objective}");
        let (own, history) = (
            mean(&rows, OWN, &column),
            mean(&rows, with_history, &column),
        );
        assert!(history < bound, "{objective}, {runs} runs: {history}");
        assert_eq!(
            history <= own,
            helps,
            "{objective}, {runs} runs: {history}, {own}"
        );
    }
}
