//! Strategies that run configurations to the target, on measured grids.

use crate::sandbox::{Row, Rows, Sandbox, stderr};

/// All jobs of a grid under one strategy, by cost.
fn rows(strategy: &str, grid: &str, more: &str) -> Rows {
    let sandbox = Sandbox::with(&format!(
        "grid = \"{grid}\"\nreplicas = 20\n\
         search = {{ strategies = [\"{strategy}\"], objectives = [\"cost\"] }}\n{more}"
    ));
    let run = sandbox.run(&["run", "scenario.toml", "--out", "out"]);
    assert!(!stderr(&run).contains("error"), "{}", stderr(&run));
    Rows::parse(&sandbox.read("out/records.csv"))
}

fn mean(rows: &Rows, column: &str) -> f64 {
    let known = |row: &Row<'_>| !row.text(column).is_empty();
    let values: Vec<f64> = rows
        .iter()
        .filter(known)
        .map(|r| r.number(column))
        .collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Six runs of a Latin hypercube end nearer to the optimum than one, and cost more to look for.
#[test]
fn more_runs_find_better_and_cost_more() {
    let of = |budget: u32| {
        let more = format!("strategy.latin-hypercube.budget = {budget}\n");
        let rows = rows("latin-hypercube", "scout", &more);
        (mean(&rows, "regret_cost"), mean(&rows, "search_share_cost"))
    };
    let (one, six) = (of(1), of(6));
    assert!(
        six.0 < 0.6 * one.0 && six.1 > 4.0 * one.1,
        "{one:?} {six:?}"
    );
}

/// With a Gaussian process ten runs find the very best more than twice as often as at random.
#[test]
fn expected_improvement_finds_better_than_chance() {
    let of = |strategy: &str, key: &str| {
        let more = format!("strategy.{strategy}.{key} = 10\n");
        mean(&rows(strategy, "scout", &more), "right")
    };
    let chance = of("random", "probes");
    let (cherrypick, per_cost) = (of("cherrypick", "budget"), of("ei-per-cost", "budget"));
    assert!(
        cherrypick > 2.0 * chance && per_cost > 2.0 * chance,
        "{chance} {cherrypick} {per_cost}"
    );
}

#[test]
fn its_own_rule_stops_cherrypick_and_a_budget_goes_on() {
    let probes = |more: &str| mean(&rows("cherrypick", "scout", more), "search_share_cost");
    let own = probes("");
    assert!(own < probes("strategy.cherrypick.budget = 20\n"));
    assert!(own < probes("strategy.cherrypick.stop_below = 0.0\n"));
}

/// What an independent program found on the same table: 21 % exact, 40 % within a tenth after six runs; six and ten runs at
/// random end at 1.30 and 1.19 of the optimum. 18 jobs × 20 replicas, so ±5 points.
#[test]
fn what_others_found_on_scout_comes_back() {
    let rows_of = |strategy: &str, key: &str, budget: u32| {
        rows(
            strategy,
            "scout",
            &format!("strategy.{strategy}.{key} = {budget}\n"),
        )
    };
    let six = rows_of("cherrypick", "budget", 6);
    let near: Vec<f64> = (six.iter())
        .map(|row| f64::from(row.number("regret_cost") <= 0.1))
        .collect();
    let near = near.iter().sum::<f64>() / near.len() as f64;
    let exact = mean(&six, "right");
    assert!(
        (exact - 0.21).abs() < 0.07 && (near - 0.40).abs() < 0.08,
        "{exact} {near}"
    );
    for (probes, over) in [(6, 0.30), (10, 0.19)] {
        let regret = mean(&rows_of("random", "probes", probes), "regret_cost");
        assert!((regret - over).abs() < 0.06, "{probes}: {regret}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |strategy: &str, line: &str, expected: &str| {
        let sandbox = Sandbox::with(&format!(
            "grid = \"scout\"\nsearch.strategies = [\"{strategy}\"]\n{line}\n"
        ));
        let check = sandbox.run(&["check", "scenario.toml"]).code(2);
        assert!(stderr(&check).contains(expected), "{}", stderr(&check));
    };
    refused("cherrypick", "strategy.cherrypick.budget = 0", "budget");
    refused(
        "cherrypick",
        "strategy.cherrypick.stop_below = 2.0",
        "expected a share from 0 to 1",
    );
    refused(
        "ei-per-cost",
        "strategy.ei-per-cost.stop_below = -1.0",
        "expected a share from 0 to 1",
    );
    refused(
        "ei-per-cost",
        "strategy.ei-per-cost.giveup = true",
        "give_up",
    );
}

/// Whatever the number of threads.
#[test]
fn the_same_seed_gives_the_same_searches() {
    let of = |threads: &str| {
        let sandbox = Sandbox::with(
            "grid = \"trimtuner-rnn\"\nreplicas = 3\nsearch.strategies = [\"cherrypick\", \"ei-per-cost\", \
             \"latin-hypercube\", \"cheapest\", \"dearest\"]\n",
        );
        sandbox
            .run(&["run", "scenario.toml", "--out", "out", "--jobs", threads])
            .code(3); // `cheapest` never reaches the target
        sandbox.read("out/records.csv")
    };
    assert_eq!(of("1"), of("3"));
}
