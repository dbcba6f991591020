//! Cheap versions of runs: their results and costs, and their use by strategies.

use std::collections::HashMap;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, stderr, stdout};

const SPEC: &str = "name = \"g\"\ntitle = \"t\"\nsource = \"s\"\nurl = \"u\"\nlicence = \"l\"\nnote = \"n\"\n\
                    cost_usd = \"time_s * 0.01 * workers\"\n\
                    [axis.workers]\nkind = \"numeric\"\nunit = \"workers\"\n\
                    [figures]\ntime_s = \"seconds\"\n\
                    [fidelity]\ncolumn = \"epochs\"\nfull = 9\n";

/// Nine configurations, whose cheap versions rank them like whole runs: 5 is best, at 900 s.
fn ranked() -> String {
    let mut rows = "workers,epochs,seconds\n".to_owned();
    for workers in 1..=9_u32 {
        let whole = 900 + 90 * workers.abs_diff(5);
        for epochs in [1, 3, 9] {
            rows += &format!("{workers},{epochs},{}\n", whole / 9 * epochs + 10);
        }
    }
    rows
}

/// A sandbox with the grid `g` and a scenario of it.
fn grid(spec: &str, rows: &str, scenario: &str) -> Sandbox {
    let sandbox = Sandbox::with(&format!("grid = \"./g\"\n{scenario}"));
    std::fs::create_dir(sandbox.path("g")).expect("the sandbox is writable");
    sandbox.write("g/grid.toml", spec);
    sandbox.write("g/rows.csv", rows);
    sandbox
}

/// The records of a run, each by column.
fn records(sandbox: &Sandbox) -> Vec<HashMap<String, String>> {
    sandbox.run(&["run", "scenario.toml", "--records", "csv", "--out", "o"]);
    let text = sandbox.read("o/records.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| row.expect("a record"));
    rows.collect()
}

fn number(record: &HashMap<String, String>, column: &str) -> f64 {
    record[column]
        .parse()
        .unwrap_or_else(|_| panic!("{column}: {record:?}"))
}

/// Nine on a ninth, three on a third, one whole.
#[test]
fn successive_halving_finds_the_best_at_the_computed_cost() {
    let scenario = "search.strategies = [\"oracle\", \"successive-halving\"]\n\
                    search.objectives = [\"time\"]\nreplicas = 3\n";
    let sandbox = grid(SPEC, &ranked(), scenario);
    let all = records(&sandbox);
    let of = |name: &str| {
        all.iter()
            .filter(|r| r["strategy"] == name)
            .collect::<Vec<_>>()
    };
    let whole = |workers: u32| 900 + 90 * workers.abs_diff(5);
    let ninth: u32 = (1..=9).map(|w| whole(w) / 9 + 10).sum();
    let third: u32 = [4, 5, 6].map(|w| whole(w) / 3 + 10).iter().sum();
    let seconds = f64::from(ninth + third + 910);
    let usd = |w: u32, s: u32| f64::from(s * w) * 0.01;
    let usd = (1..=9).map(|w| usd(w, whole(w) / 9 + 10)).sum::<f64>()
        + [4, 5, 6]
            .map(|w| usd(w, whole(w) / 3 + 10))
            .iter()
            .sum::<f64>()
        + usd(5, 910);
    let searched = of("successive-halving");
    assert_eq!(searched.len(), 3);
    for record in searched {
        assert_eq!(record["chosen_workers"], "5");
        assert!(
            (number(record, "search_time_h") * 3600.0 - seconds).abs() < 1e-6,
            "{record:?}"
        );
        assert!(
            (number(record, "search_cost_usd") - usd).abs() < 1e-6,
            "{record:?}"
        );
    }
    // The expectations are those of whole runs.
    assert!((number(of("oracle")[0], "time_h") * 3600.0 - 910.0).abs() < 1e-6);
}

/// Brackets that begin higher run nothing twice, and also find it.
#[test]
fn hyperband_and_a_model_over_shares_find_it() {
    let scenario = "search.strategies = [\"successive-halving\", \"trimtuner-like\"]\n\
                    search.objectives = [\"cost\", \"time\"]\nreplicas = 5\n\
                    [strategy.successive-halving]\nbrackets = 2\n[strategy.trimtuner-like]\nstop_below = 0.001\n";
    let sandbox = grid(SPEC, &ranked(), scenario);
    for record in records(&sandbox) {
        assert_eq!(record["status"], "ok", "{record:?}");
        assert_eq!(record["right"], "1.0", "{record:?}");
        // Among the 27 possible ones.
        assert!(
            number(&record, "search_time_h") * 3600.0 < 9_000.0,
            "{record:?}"
        );
    }
}

/// Cheap versions affect no other strategy, and not the truth.
#[test]
fn without_its_cheap_rows_a_grid_is_the_same_to_all_others() {
    let scenario = "search.strategies = [\"oracle\", \"ei-per-cost\", \"value-of-information\", \"random@4\"]\n\
                    search.objectives = [\"cost\", \"time\"]\nreplicas = 3\n";
    let told = |rows: &str| {
        let sandbox = grid(SPEC, rows, scenario);
        records(&sandbox);
        sandbox.read("o/records.csv")
    };
    let whole: String = (ranked().lines())
        .filter(|row| row.contains("workers") || row.contains(",9,"))
        .map(|row| format!("{row}\n"))
        .collect();
    assert_eq!(told(&ranked()), told(&whole));
}

const PROBES: &str = r#"import json, sys
def ask(question):
    print(json.dumps(question), flush=True)
    return json.loads(sys.stdin.readline())
task = json.loads(sys.stdin.readline())["task"]
told = [[task["fidelities"], task["quality_at_least"]]]
for at, share in [(0, 0.25), (1, 0.25), (2, 0.25), (0, 0.5)]:
    seen = ask({"probe": {"configuration": at, "fidelity": share}})
    told.append([seen["observation"]["quality"], seen["observation"]["reached_s"], seen["spent_s"], round(seen["spent_usd"], 9)])
if len(sys.argv) > 1:
    ask({"probe": {"configuration": 0, "fidelity": float(sys.argv[1])}})
print(json.dumps({"fail": json.dumps(told)}), flush=True)
"#;

const WITH_QUALITY: &str = "workers,epochs,seconds,acc\n1,2,20,0.6\n2,2,14,0.95\n1,4,45,0.8\n2,4,30,0.7\n3,4,25,0.9\n\
                            1,8,90,0.95\n2,8,60,0.85\n3,8,50,0.92\n";

fn quality_spec() -> String {
    SPEC.replace("full = 9", "full = 8").replace(
        "time_s = \"seconds\"\n",
        "time_s = \"seconds\"\nquality = \"acc\"\n[target]\nat_least = 0.9\n",
    )
}

#[test]
fn a_program_buys_cheap_versions_at_their_price() {
    if crate::external::without_python() {
        return;
    }
    let reason = |more: &str| {
        let scenario = format!(
            "search.strategies = [\"ask\"]\nsearch.objectives = [\"cost\"]\n\
             [strategy.ask]\ncommand = [\"python3\", \"ask.py\"{more}]\n"
        );
        let sandbox = grid(&quality_spec(), WITH_QUALITY, &scenario);
        sandbox.write("ask.py", PROBES);
        records(&sandbox)[0]["reason"].clone()
    };
    // The third configuration was not run with a quarter, so it shows nothing and costs nothing.
    assert_eq!(
        reason(""),
        "[[[0.25, 0.5], 0.9], [0.6, null, 20.0, 0.2], [0.95, null, 34.0, 0.48], [null, null, 34.0, 0.48], \
         [0.8, null, 79.0, 0.93]]"
    );
    assert!(
        reason(", \"0.3\"")
            .contains("no cheap version of a run has a share of 0.3: there are 0.25, 0.5")
    );
    assert!(reason(", \"1.0\"").contains("a share of 1 is no cheap version"));
    assert!(reason(", \"1.5\"").contains("impossible probe"));
}

#[test]
fn every_mistake_in_fidelities_is_told() {
    let refused = |spec: &str, rows: &str| {
        let sandbox = grid(spec, rows, "");
        stderr(&sandbox.run(&["check", "scenario.toml"]).code(2))
    };
    let fidelity = "column = \"epochs\"\nfull = 9\n";
    let told: String = [
        "full = 9\n",
        "column = \"epochs\"\n",
        "column = \"epoch\"\nfull = -1\n",
        "column = \"workers\"\nfull = 9\nless = 1\n",
        "column = \"epochs\"\nfull = 8\n",
        "column = \"epochs\"\nfull = 10\n",
    ]
    .map(|to| {
        refused(
            &SPEC.replace(fidelity, to),
            "workers,epochs,seconds\n1,9,5\n1,0,3\n",
        )
    })
    .concat();
    let jobs = SPEC
        .replace("[axis", "job = \"epochs\"\n[axis")
        .replace("full = 9", "full = 8");
    assert_snapshot!(told + &refused(&jobs, &ranked()));
}

#[test]
fn an_import_tells_which_cheap_versions_there_are() {
    let rows = WITH_QUALITY.to_owned() + "4,2,9,0.5\n4,4,9,0.5\n";
    let sandbox = grid(&quality_spec(), &rows, "");
    let run = sandbox
        .run(&[
            "import",
            "grid",
            "g/rows.csv",
            "--spec",
            "g/grid.toml",
            "--out",
            "h",
        ])
        .success();
    assert!(
        sandbox
            .read("h/rows.csv")
            .contains("workers,epochs,seconds,acc\n")
    );
    assert_snapshot!(stdout(&run) + &stderr(&run));
}

/// A run that is stopped shows its result so far, if its rows are points on its way.
#[test]
fn a_run_that_is_stopped_shows_its_quality_so_far() {
    if crate::external::without_python() {
        return;
    }
    let program = "import json, sys\nsys.stdin.readline()\nall = []\nfor seconds in [10, 20, 60, 1000]:\n    \
                   print(json.dumps({'probe': {'configuration': 0, 'seconds': seconds}}), flush=True)\n    \
                   told = json.loads(sys.stdin.readline())\n    all.append([told['observation']['quality'], told['spent_s']])\n\
                   print(json.dumps({'fail': json.dumps(all)}), flush=True)\n";
    let scenario = "search.strategies = [\"ask\"]\nsearch.objectives = [\"cost\"]\n\
                    [strategy.ask]\ncommand = [\"python3\", \"ask.py\"]\n";
    let reason = |curve: &str| {
        let spec = quality_spec() + curve + "[probe]\ncut_off = true\n";
        let sandbox = grid(&spec, WITH_QUALITY, scenario);
        sandbox.write("ask.py", program);
        records(&sandbox)[0]["reason"].clone()
    };
    let ends = ["10.0], [", "30.0], [", "90.0], [0.95, 180.0]]"];
    let told = |so_far: [&str; 3]| {
        let each = so_far.iter().zip(ends);
        let each: String = each
            .map(|(quality, end)| format!("{quality}, {end}"))
            .collect();
        format!("[[{each}")
    };
    assert_eq!(reason("curve = true\n"), told(["null", "0.6", "0.8"]));
    assert_eq!(reason(""), told(["null", "null", "null"]));
    let late = WITH_QUALITY.replace("1,4,45", "1,4,95");
    let sandbox = grid(&(quality_spec() + "curve = true\n"), &late, "");
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(told.contains("later than its end"), "{told}");
    assert_eq!(told.matches("rows.csv:4").count(), 1, "{told}");
}

/// A job of each size, where the smaller ones are also cheap versions of the whole one.
#[test]
fn jobs_of_part_of_the_data_are_cheap_versions_of_the_whole() {
    let grid = scavsim::grid::library::load("trimtuner-cnn", &mut Default::default());
    let grid = grid.expect("it is shipped");
    let job = grid
        .jobs
        .iter()
        .find(|job| job.name == "60000")
        .expect("the whole");
    let shares: Vec<f64> = job.cheap.iter().map(|cheap| cheap.share).collect();
    assert_eq!(shares, [1.0 / 60.0, 0.1, 0.25, 0.5]);
    let other = grid
        .jobs
        .iter()
        .find(|job| job.name == "6000")
        .expect("a tenth");
    for at in 0..job.space.len() {
        let place = job.cheap[1].place(at).expect("all were run");
        assert_eq!(job.space.row(at), job.cheap[1].job.space.row(place));
        let same = other.find(job.space.row(at)).expect("it was run");
        assert_eq!(job.cheap[1].job.runs(place), other.runs(same));
    }
    // Of some configurations, those of these.
    let few = job.only(&[200, 7]);
    let place = few.cheap[2].place(0).expect("it was run");
    assert_eq!(few.cheap[2].job.space.row(place), job.space.row(200));
    assert_eq!(few.count_runs(), 10);
}

#[test]
fn where_nothing_is_cheap_they_say_so() {
    let sandbox = Sandbox::with("grid = \"scout\"\nsearch.strategies = [\"successive-halving\"]\n");
    let told = stderr(&sandbox.run(&["run", "scenario.toml"]).failure());
    assert!(
        told.contains("there are no cheap versions of its runs"),
        "{told}"
    );
}
