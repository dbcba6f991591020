//! Use of other jobs' earlier runs by strategies, in the program: a grid and a scenario.

use crate::sandbox::{Row, Rows, Sandbox, stderr};

/// Four clusters and five jobs of four programs. By time `b` is best in the mean over programs, though no job is fastest
/// there; the two jobs of the program `twin` are fastest on `d`, and would dominate the mean over jobs.
const ROWS: &str = "job,vm,nodes,seconds,ok
one,a,1,1000,yes
one,b,1,1200,yes
one,c,1,4000,yes
one,d,1,4000,yes
two,a,1,4000,yes
two,b,1,1200,yes
two,c,1,1000,yes
two,d,1,3000,yes
twin-1,a,1,2000,yes
twin-1,b,1,1500,yes
twin-1,c,1,3000,yes
twin-1,d,1,1000,yes
twin-2,a,1,2000,yes
twin-2,b,1,1500,yes
twin-2,c,1,3000,yes
twin-2,d,1,1000,yes
new,a,1,3000,yes
new,b,1,2000,yes
new,c,1,1000,yes
new,d,1,9000,no
";

const SPEC: &str = r#"name = "five"
title = "Five jobs"
source = "made up"
url = "none"
licence = "mine"
note = "made up"
job = "job"
completed = "ok"
cost_usd = "seconds / 3600 * price * workers"

[programs]
twin = ["twin-1", "twin-2"]

[axis.vm]
kind = "categorical"

[axis.workers]
kind = "numeric"
unit = "workers"
column = "nodes"

[figures]
time_s = "seconds"

[lookup.price]
by = "vm"
values = { a = 0.36, b = 0.36, c = 0.36, d = 0.36 }
"#;

fn grid() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("g/grid.toml", SPEC);
    sandbox.write("g/rows.csv", ROWS);
    sandbox
}

fn records(sandbox: &Sandbox, scenario: &str) -> String {
    let folder = format!("out-{}", scenario.len());
    sandbox.write("s.toml", &format!("grid = \"./g\"\n{scenario}"));
    sandbox.run(&["run", "s.toml", "--out", &folder]).success();
    sandbox.read(&format!("{folder}/records.csv"))
}

/// Ratios of `new`'s others by time: a 1, 4, 2, 2; b 1.2, 1.2, 1.5, 1.5. Means over programs: a 7/3, b 1.3, c (4 + 1 + 3)/3, d 8/3.
#[test]
fn the_best_of_the_others_in_the_mean_is_taken_and_its_price_stands_in_records() {
    let sandbox = grid();
    let text = records(
        &sandbox,
        "jobs = [\"new\"]\nreplicas = 2\n[search]\nstrategies = [\"average-best\"]\nobjectives = [\"time\"]\n",
    );
    let rows = Rows::parse(&text);
    for row in rows.iter() {
        assert_eq!(row.text("chosen_vm"), "b");
        // All sixteen runs of the others have their price: 0.0001 USD a second.
        assert_eq!(row.number("known_runs"), 16.0);
        let seconds = 10_200.0 + 9_200.0 + 2.0 * 7_500.0;
        assert!((row.number("known_cost_usd") - seconds * 1e-4).abs() < 1e-9);
        assert_eq!(row.number("search_time_h"), 0.0);
    }
    // Runs of its own program are not known.
    let text = records(
        &sandbox,
        "jobs = [\"twin-1\"]\n[search]\nstrategies = [\"average-best\"]\nobjectives = [\"time\"]\n",
    );
    for row in Rows::parse(&text).iter() {
        // a (1 + 4 + 3)/3, b (1.2 + 1.2 + 2)/3, c (4 + 1 + 1)/3; d (4 + 3 + 9 + 2)/3, because a failed run costs itself and a median one.
        assert_eq!(row.text("chosen_vm"), "b");
        assert_eq!(row.number("known_runs"), 12.0);
    }
}

/// It knows two of the twelve or sixteen runs that `average-best` would use; with none it runs the default.
#[test]
fn only_as_many_runs_are_known_as_a_scenario_says() {
    let sandbox = grid();
    let of = |known: &str| {
        let search = "strategies = [\"average-best\"]\nobjectives = [\"time\"]\n";
        records(&sandbox, &format!("[search]\n{search}{known}"))
    };
    for row in Rows::parse(&of("known_runs = 2\n")).iter() {
        assert_eq!(row.number("known_runs"), 2.0);
    }
    for row in Rows::parse(&of("known_runs = 0\n")).iter() {
        assert_eq!(
            (row.number("known_runs"), row.text("chosen_vm")),
            (0.0, "a")
        );
    }
    assert_eq!(of("known_runs = 99\n"), of(""));
    let swept = of("known_runs = [0, 2, 12]\n");
    let known = Rows::parse(&swept);
    let known: Vec<f64> = known
        .iter()
        .map(|row| row.number("axis.search.known_runs"))
        .collect();
    assert_eq!(known, [[0.0; 5], [2.0; 5], [12.0; 5]].concat());
}

/// In a fleet the k-th job knows the runs of earlier ones: with strategies that run each job only once, k of them, without
/// another input of its own program.
#[test]
fn a_fleet_knows_what_its_own_searches_saw_of_the_jobs_before() {
    let sandbox = grid();
    let fleet = "replicas = 40\n[search]\nfleet = true\nstrategies = [\"average-best\", \"value-of-information-history\", \"random@2\"]\nobjectives = [\"time\"]\n";
    let text = records(&sandbox, fleet);
    let rows = Rows::parse(&text);
    let of = |strategy: &str, replica: usize| -> Vec<Row<'_>> {
        let is_it = |row: &Row<'_>| {
            row.text("strategy") == strategy && row.text("replica") == replica.to_string()
        };
        rows.iter().filter(is_it).collect()
    };
    let mut firsts = std::collections::BTreeSet::new();
    for replica in 0..40 {
        let best = of("average-best", replica);
        let known: f64 = best.iter().map(|row| row.number("known_runs")).sum();
        let failed: f64 = best.iter().map(|row| row.number("failed_choices")).sum();
        // Each of ten pairs except that of the twins; failed runs are also known.
        assert!(
            known >= 9.0 && known <= 9.0 + 4.0 * failed,
            "{known} {failed}"
        );
        let first = best
            .iter()
            .find(|row| row.number("known_runs") == 0.0)
            .expect("a first job");
        assert_eq!(first.text("chosen_vm"), "a");
        firsts.insert(first.text("workload").to_owned());
        // The knowledge about earlier jobs was paid by them.
        for strategy in ["average-best", "value-of-information-history"] {
            let jobs = of(strategy, replica);
            let paid: f64 = jobs.iter().map(|row| row.number("cost_usd")).sum();
            let most = jobs
                .iter()
                .map(|row| row.number("known_cost_usd"))
                .fold(0.0, f64::max);
            assert!(most <= paid, "{strategy}: {most} of {paid}");
        }
        // A strategy that uses no other job does not notice the fleet.
        assert!(
            of("random@2", replica)
                .iter()
                .all(|row| row.number("known_runs") == 0.0)
        );
    }
    assert!(firsts.len() > 2, "{firsts:?}");
    let run = ["run", "s.toml", "--out"];
    sandbox
        .run(&[&run[..], &["one", "--jobs", "1"]].concat())
        .success();
    assert_eq!(sandbox.read("one/records.csv"), text);
    for shard in ["2/3", "3/3", "1/3"] {
        sandbox
            .run(&[&run[..], &["parts", "--shard", shard]].concat())
            .success();
    }
    sandbox.run(&["merge", "parts"]).success();
    assert_eq!(sandbox.read("parts/records.csv"), text);
    sandbox.write(
        "s.toml",
        &format!("grid = \"./g\"\n{fleet}known_runs = 3\n"),
    );
    let told = stderr(&sandbox.run(&["check", "s.toml"]).code(2));
    assert!(told.contains("exclude each other"), "{told}");
}

/// The others leave `d` for last; if only it is excluded by limits, a failed choice is followed by the next.
#[test]
fn a_choice_that_fails_is_followed_by_the_next() {
    let sandbox = grid();
    // Jobs for which `d` is best: but there `new` fails.
    let only_twins = ROWS
        .lines()
        .filter(|line| !line.starts_with("one") && !line.starts_with("two"));
    let rows: Vec<&str> = only_twins.collect();
    sandbox.write("g/rows.csv", &(rows.join("\n") + "\n"));
    let text = records(
        &sandbox,
        "jobs = [\"new\"]\n[search]\nstrategies = [\"average-best\"]\nobjectives = [\"time\"]\n",
    );
    for row in Rows::parse(&text).iter() {
        assert_eq!(row.text("chosen_vm"), "b");
        assert_eq!(row.number("failed_choices"), 1.0);
        assert!((row.number("time_h") - 11_000.0 / 3600.0).abs() < 1e-9);
    }
}

/// Jobs of two kinds: one run of this job on the fast ones identifies its kind.
#[test]
fn two_runs_tell_which_jobs_this_one_is_like() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "g/grid.toml",
        &SPEC
            .replace("[programs]\ntwin = [\"twin-1\", \"twin-2\"]\n", "")
            .replace(
                "{ a = 0.36, b = 0.36, c = 0.36, d = 0.36 }",
                "{ a = 0.36, b = 0.36, c = 0.36, d = 0.36, e = 0.36, f = 0.36 }",
            ),
    );
    let up = [1000.0, 1500.0, 2200.0, 3300.0, 5000.0, 7500.0];
    let mut rows = "job,vm,nodes,seconds,ok\n".to_owned();
    for job in 0..9 {
        for (at, vm) in ["a", "b", "c", "d", "e", "f"].iter().enumerate() {
            let seconds = if job % 2 == 0 { up[at] } else { up[5 - at] };
            let seconds = seconds * f64::from(1 + job);
            rows += &format!("j{job},{vm},1,{seconds},yes\n");
        }
    }
    sandbox.write("g/rows.csv", &rows);
    let text = records(
        &sandbox,
        "replicas = 12\n[search]\nstrategies = [\"collaborative-filtering\"]\nobjectives = [\"time\"]\n",
    );
    let rows = Rows::parse(&text);
    let right = rows.iter().filter(|row| row.number("right") == 1.0).count();
    assert_eq!((right, rows.len()), (9 * 12, 9 * 12));
}

/// The most expensive machines were best for every other job, so they are for this one, for any number of runs.
#[test]
fn what_was_best_on_all_others_is_chosen() {
    let sandbox = Sandbox::new();
    let prices = "{ a = 0.1, b = 0.2, c = 0.4, d = 0.8, e = 1.6, f = 3.2 }";
    sandbox.write(
        "g/grid.toml",
        &SPEC
            .replace("[programs]\ntwin = [\"twin-1\", \"twin-2\"]\n", "")
            .replace("{ a = 0.36, b = 0.36, c = 0.36, d = 0.36 }", prices),
    );
    let mut rows = "job,vm,nodes,seconds,ok\n".to_owned();
    for job in 1..8_u32 {
        // So fast that they are also the cheapest; the other machines in another order for each job.
        for (at, vm) in ["a", "b", "c", "d", "e", "f"].iter().enumerate() {
            let seconds = if at == 5 {
                100
            } else {
                20_000 + 3_000 * ((at as u32 * job) % 7)
            };
            rows += &format!("j{job},{vm},1,{seconds},yes\n");
        }
    }
    sandbox.write("g/rows.csv", &rows);
    let text = records(
        &sandbox,
        "[search]\nrepeats = [1, 10]\nstrategies = [\"value-of-information-history\"]\nobjectives = [\"cost\", \"time\"]\n",
    );
    for row in Rows::parse(&text).iter() {
        assert_eq!(row.text("chosen_vm"), "f", "{}", row.text("strategy"));
        assert_eq!(row.number("regret_cost"), 0.0);
    }
}

#[test]
fn where_there_are_no_other_jobs_it_is_said() {
    let sandbox = grid();
    let only = ROWS
        .lines()
        .filter(|line| line.starts_with("job") || line.starts_with("twin"));
    let rows: Vec<&str> = only.collect();
    sandbox.write("g/rows.csv", &(rows.join("\n") + "\n"));
    sandbox.write(
        "s.toml",
        "grid = \"./g\"\n[search]\nstrategies = [\"value-of-information-history\", \"average-best\"]\n",
    );
    let said = stderr(&sandbox.run(&["check", "s.toml"]).failure().code(2));
    assert!(
        said.contains("no other job than `twin-1` was run on its configurations"),
        "{said}"
    );
}

/// A program gets the times of the others, by configuration.
#[test]
fn a_program_is_told_other_jobs() {
    let sandbox = grid();
    sandbox.write(
        "mine.py",
        "import json, sys\n\
         for line in sys.stdin:\n\
         \x20   others = json.loads(line)[\"task\"][\"other_jobs\"]\n\
         \x20   assert [other[\"workload\"] for other in others] == [\"one\", \"two\", \"twin-1\", \"twin-2\"]\n\
         \x20   assert others[2][\"program\"] == \"twin\"\n\
         \x20   fastest = min(others[0][\"runs\"], key=lambda run: run[\"reached_s\"])\n\
         \x20   print(json.dumps({\"choose\": fastest[\"configuration\"]}), flush=True)\n",
    );
    let text = records(
        &sandbox,
        "jobs = [\"new\"]\n[search]\nstrategies = [\"mine\"]\nobjectives = [\"time\"]\n\
         [strategy.mine]\ncommand = [\"python3\", \"mine.py\"]\nother_jobs = true\n",
    );
    for row in Rows::parse(&text).iter() {
        assert_eq!(
            (row.text("status"), row.text("chosen_vm")),
            ("ok", "a"),
            "{}",
            row.text("reason")
        );
        assert_eq!(row.number("known_runs"), 16.0);
    }
}
