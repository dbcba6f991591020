//! A job that is run several times, choices that fail, and strategies with a budget after their name.

use crate::sandbox::{Rows, Sandbox, repository_file, stderr};

/// Three configurations of one VM each at 1, 2 and 4 USD per hour; the cheapest fails after half an hour, the others need two
/// and three hours.
fn three() -> Sandbox {
    grid(SPEC)
}

fn grid(spec: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("spec.toml", spec);
    sandbox.write(
        "runs.csv",
        "size,seconds,ok\nsmall,1800,False\nmiddle,7200,True\nlarge,10800,True\n",
    );
    let import = [
        "import",
        "grid",
        "runs.csv",
        "--spec",
        "spec.toml",
        "--out",
        "g",
    ];
    sandbox.run(&import).success();
    sandbox
}

const SPEC: &str = r#"name = "three"
title = "Three runs"
source = "me"
url = "none"
licence = "mine"
note = "made up"
cost_usd = "seconds / 3600 * price"
completed = "ok"

[axis.size]
kind = "ordinal"
levels = ["small", "middle", "large"]

[figures]
time_s = "seconds"

[lookup.price]
by = "size"
values = { small = 1.0, middle = 2.0, large = 4.0 }

[probe]
charge = "whole"
cut_off = true
"#;

fn records(sandbox: &Sandbox, strategy: &str, more: &str) -> Rows {
    sandbox.write(
        "scenario.toml",
        &format!(
            "grid = \"./g\"\nreplicas = 4\n\
             search = {{ strategies = [\"{strategy}\"], objectives = [\"cost\"]{more} }}\n"
        ),
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--overwrite"])
        .success();
    Rows::parse(&sandbox.read("out/records.csv"))
}

/// USD 0.50 and half an hour are lost on the cheapest, then the next is run: 4 USD, 2 h.
#[test]
fn a_choice_that_fails_is_charged_and_the_next_is_run() {
    let sandbox = three();
    for row in records(&sandbox, "cheapest", ", repeats = 10").iter() {
        assert_eq!(row.text("chosen_other"), "size=middle");
        assert_eq!(row.number("failed_choices"), 1.0);
        assert!((row.number("search_cost_usd") - 0.5).abs() < 1e-9);
        assert!((row.number("search_time_h") - 0.5).abs() < 1e-9);
        assert!((row.number("cost_usd") - 4.5).abs() < 1e-9);
        assert!((row.number("overhead_net_cost") - 0.125).abs() < 1e-9);
        // (0.5 + 10 · 4)/(10 · 4) − 1.
        for column in ["repeated_net_cost", "repeated_gross_cost"] {
            assert!((row.number(column) - 0.0125).abs() < 1e-9);
        }
        assert_eq!(row.number("runs_in_search"), 0.0);
    }
    for row in records(&sandbox, "dearest", ", repeats = 2").iter() {
        assert_eq!(row.text("chosen_other"), "size=large");
        assert_eq!(row.number("failed_choices"), 0.0);
        assert!((row.number("repeated_net_cost") - 2.0).abs() < 1e-9);
    }
}

/// All three are run: 0.5 + 4 + 12 = 16.5 USD. Two of them are among the R runs.
#[test]
fn whole_runs_of_a_search_are_some_of_those_that_were_wanted() {
    let sandbox = three();
    for (repeats, net, gross) in [
        (1, 16.5 / 4.0, (16.5 + 4.0) / 4.0),
        (2, 16.5 / 8.0, (16.5 + 8.0) / 8.0),
        (10, (16.5 + 8.0 * 4.0) / 40.0, (16.5 + 40.0) / 40.0),
    ] {
        let more = format!(", repeats = {repeats}");
        for row in records(&sandbox, "latin-hypercube@3", &more).iter() {
            assert_eq!(row.number("runs_in_search"), 2.0);
            assert_eq!(row.number("repeats"), f64::from(repeats));
            assert!((row.number("repeated_net_cost") - (net - 1.0)).abs() < 1e-9);
            assert!((row.number("repeated_gross_cost") - (gross - 1.0)).abs() < 1e-9);
        }
    }
    // Scenarios without a number of runs have none of these.
    for row in records(&sandbox, "latin-hypercube@3", "").iter() {
        assert_eq!(row.text("repeats"), "");
        assert_eq!(row.text("repeated_net_cost"), "");
    }
}

/// On the simulated cluster steps of the search are part of the first run, and many runs converge to the regret of the replica.
#[test]
fn steps_of_a_search_count_in_the_first_run() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\nreplicas = 3\nvariation.step_cv = 0.05\n\
         search = { strategies = [\"partial\"], objectives = [\"cost\"], repeats = 1 }\n",
    );
    let once = |sandbox: &Sandbox, repeats: &str| {
        let set = format!("search.repeats={repeats}");
        let run = [
            "run",
            "scenario.toml",
            "--out",
            "out",
            "--overwrite",
            "-s",
            &set,
        ];
        sandbox.run(&run).success();
        Rows::parse(&sandbox.read("out/records.csv"))
    };
    for row in once(&sandbox, "1").iter() {
        let (one, net) = (
            row.number("repeated_net_cost"),
            row.number("overhead_net_cost"),
        );
        assert!((one - net).abs() < 1e-12 && row.number("runs_in_search") == 0.0);
    }
    let (once, often) = (once(&sandbox, "1"), once(&sandbox, "1000"));
    for (one, many) in once.iter().zip(often.iter()) {
        let (one, many) = (
            one.number("repeated_net_cost"),
            many.number("repeated_net_cost"),
        );
        assert!(many < one && many > -0.05, "{many} {one}");
    }
}

/// A budget after the name equals the setting, with equal draws.
#[test]
fn a_budget_behind_a_name_is_its_setting() {
    let of = |strategies: &str, more: &str| {
        let sandbox = Sandbox::with(&format!(
            "grid = \"scout\"\njobs = [\"join_huge_spark\"]\nreplicas = 5\n\
             search = {{ strategies = [{strategies}], objectives = [\"cost\"] }}\n{more}"
        ));
        sandbox
            .run(&["run", "scenario.toml", "--out", "out"])
            .success();
        Rows::parse(&sandbox.read("out/records.csv"))
    };
    let named = of("\"random@6\"", "");
    let set = of("\"random\"", "strategy.random.probes = 6\n");
    for (a, b) in named.iter().zip(set.iter()) {
        assert_eq!(a.text("strategy"), "random@6");
        assert_eq!(a.text("search_cost_usd"), b.text("search_cost_usd"));
        assert_eq!(a.text("chosen_other"), b.text("chosen_other"));
    }
}

#[test]
fn what_is_no_budget_is_refused_with_its_place() {
    let sandbox = Sandbox::with(
        "grid = \"scout\"\n[search]\nrepeats = 0\n\
         strategies = [\"random@0\", \"default@3\", \"randon@4\", \"random@six\"]\n",
    );
    let check = sandbox.run(&["check", "scenario.toml"]).code(2);
    insta::assert_snapshot!(stderr(&check));
}

/// The cheapest of all jobs of Scout, by hand: from the lowest price up until one succeeds.
#[test]
fn the_cheapest_of_scout_is_charged_for_all_that_fail_before_it() {
    let sandbox = Sandbox::with(
        "grid = \"scout\"\nsearch = { strategies = [\"cheapest\"], objectives = [\"cost\"] }\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let table = repository_file("data/grids/scout/rows.csv");
    let heads: Vec<&str> = table.lines().next().expect("heads").split(',').collect();
    let place = |head: &str| heads.iter().position(|own| *own == head).expect(head);
    let price = |vm: &str| {
        let spec = repository_file("data/grids/scout/grid.toml");
        let line = spec
            .lines()
            .find(|line| line.starts_with(&format!("\"{vm}\"")));
        let value = line.expect(vm).rsplit('=').next().expect("a price");
        value.trim().parse::<f64>().expect("a price")
    };
    for row in Rows::parse(&sandbox.read("out/records.csv")).iter() {
        let mut runs: Vec<(f64, usize, f64, bool)> = Vec::new();
        for (at, line) in table.lines().skip(1).enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            if cells[place("workload_dir")] != row.text("workload") {
                continue;
            }
            let nodes: f64 = cells[place("nodes")].parse().expect("nodes");
            let hourly = nodes * price(cells[place("vm_type")]);
            let seconds: f64 = cells[place("elapsed_time_s")].parse().expect("seconds");
            let usd = hourly * seconds / 3600.0;
            runs.push((hourly, at, usd, cells[place("completed")] == "True"));
        }
        runs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let lost: Vec<f64> = runs
            .iter()
            .take_while(|run| !run.3)
            .map(|run| run.2)
            .collect();
        assert_eq!(
            row.number("failed_choices"),
            lost.len() as f64,
            "{}",
            row.text("workload")
        );
        let sum: f64 = lost.iter().sum();
        assert!((row.number("search_cost_usd") - sum).abs() < 1e-6);
    }
}

/// Free runs are compared by time only.
#[test]
fn runs_without_a_price_have_no_overhead_in_money() {
    let sandbox = grid(&SPEC.replace("seconds / 3600 * price", "0 * seconds"));
    for row in records(&sandbox, "latin-hypercube@3", ", repeats = 2").iter() {
        assert_eq!(row.text("status"), "ok", "{}", row.text("reason"));
        assert_eq!(row.text("overhead_net_cost"), "");
        assert_eq!(row.text("repeated_net_cost"), "");
        assert!(row.number("repeated_gross_time") > 0.0);
    }
}

/// If all runs failed there is no choice, which is reported.
#[test]
fn a_grid_whose_every_run_failed_has_no_choice() {
    let sandbox = three();
    sandbox.edit("g/rows.csv", "middle,7200,True", "middle,7200,False");
    sandbox.edit("g/rows.csv", "large,10800,True", "large,10800,False");
    sandbox.write(
        "scenario.toml",
        "grid = \"./g\"\nsearch = { objectives = [\"cost\"], strategies = \
         [\"cheapest\", \"cherrypick\", \"ei-per-cost\", \"lynceus\", \"value-of-information\", \"random\"] }\n",
    );
    let run = sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    assert!(!stderr(&run).contains("panicked"));
    for row in Rows::parse(&sandbox.read("out/records.csv")).iter() {
        assert_eq!(row.text("status"), "failed");
        assert!(!row.text("reason").is_empty());
    }
}
