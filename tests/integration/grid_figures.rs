//! Steps, prices and machines in a user's grid, and their use by strategies.

use crate::own_grids::{IMPORT, ROWS, SPEC};
use crate::sandbox::{Sandbox, stderr, stdout};

const ABOUT: &str =
    "name = \"g\"\ntitle = \"t\"\nsource = \"s\"\nurl = \"u\"\nlicence = \"l\"\nnote = \"n\"\n";

const AXES: &str = "[axis.vm]\nkind = \"categorical\"\n[axis.workers]\nkind = \"numeric\"\nunit = \"workers\"\n\
                    [figures]\ntime_s = \"time_s\"\n";

const RUNS: &str = "vm,workers,time_s,usd_h,fee,steps\n\
                    a,1,1000,1.5,0.1,100\n\
                    a,2,600,1.5,0.3,100\n\
                    b,1,500,4,0.1,100\n\
                    b,2,400,4,0.2,100\n";

/// A sandbox with the grid `g` and a scenario of it.
fn grid(spec: &str, rows: &str, scenario: &str) -> Sandbox {
    let sandbox = Sandbox::with(&format!("grid = \"./g\"\n{scenario}"));
    std::fs::create_dir(sandbox.path("g")).expect("the sandbox is writable");
    sandbox.write("g/grid.toml", &format!("{ABOUT}{spec}"));
    sandbox.write("g/rows.csv", rows);
    sandbox
}

/// Output of its import: the report, and the warnings.
fn imported(spec: &str, rows: &str) -> (String, String) {
    let sandbox = grid(spec, rows, "");
    let run = sandbox.run(&["import", "grid", "g/rows.csv", "--spec", "g/grid.toml"]);
    let run = run.success();
    (stdout(&run), stderr(&run))
}

/// The records of a strategy in a run.
fn records(sandbox: &Sandbox, strategy: &str) -> Vec<String> {
    sandbox.run(&["run", "scenario.toml", "--records", "csv", "--out", "o"]);
    let records = sandbox.read("o/records.csv");
    let own = records.lines().filter(|row| row.contains(strategy));
    own.map(str::to_owned).collect()
}

#[test]
fn a_price_in_every_row_is_known_beforehand() {
    for (rule, is_known) in [
        ("time_s / 3600 * usd_h * workers", true),
        ("time_s / 3600 * usd_h * 2 + fee", false),
        ("if(time_s < 60, 0, time_s / 3600) * usd_h", true),
        ("usd_h", false),
    ] {
        let (report, warned) = imported(&format!("cost_usd = \"{rule}\"\n{AXES}"), RUNS);
        assert_eq!(
            report.contains("known before a run"),
            is_known,
            "{rule}: {report}"
        );
        assert_eq!(warned.is_empty(), is_known, "{rule}: {warned}");
        let sandbox = grid(
            &format!("cost_usd = \"{rule}\"\n{AXES}"),
            RUNS,
            "search.strategies = [\"oracle\", \"cheapest\", \"value-of-information\", \"random@4\"]\n\
             search.objectives = [\"cost\"]\n",
        );
        for name in ["cheapest", "random@4"] {
            let rows = records(&sandbox, &format!(",{name},"));
            assert!(!rows.is_empty());
            let is_ok = rows.iter().all(|row| row.contains(",ok,"));
            assert_eq!(is_ok, is_known, "{rule}, {name}: {rows:?}");
        }
    }
}

#[test]
fn what_only_a_run_tells_is_named() {
    let by_fee = imported(
        &format!("cost_usd = \"time_s / 3600 * usd_h + fee\"\n{AXES}"),
        RUNS,
    );
    let whole = imported(&format!("cost_usd = \"usd_h\"\n{AXES}"), RUNS);
    insta::assert_snapshot!(by_fee.1 + &whole.1);
}

/// Distinct numbers in all rows determine nothing, while names do.
#[test]
fn everything_follows_from_an_axis_without_repetition_unless_it_is_of_numbers() {
    let spec =
        "cost_usd = \"time_s / 3600 * usd_h\"\n[axis.SIZE]\nKIND\n[figures]\ntime_s = \"time_s\"\n";
    let rows = "SIZE,time_s,usd_h\n1,100,3\n2,60,4\n3,50,5\n";
    let said = |name: &str, kind: &str, rows: &str| {
        let spec = spec.replace("SIZE", name).replace("KIND", kind);
        imported(&spec, &rows.replace("SIZE", name)).0
    };
    let numbers = "kind = \"numeric\"\nunit = \"1\"";
    assert!(said("size", numbers, rows).contains("known after a run"));
    assert!(said("vm", "kind = \"categorical\"", rows).contains("known before a run"));
    let constant = rows.replace(",4\n", ",3\n").replace(",5\n", ",3\n");
    assert!(said("size", numbers, &constant).contains("known before a run"));
}

/// 50 steps of a probe at time over steps: half of each run.
#[test]
fn steps_of_a_run_tell_the_time_of_one() {
    let spec = format!(
        "cost_usd = \"time_s / 3600 * usd_h\"\n{AXES}steps = \"steps\"\n[probe]\ncharge = \"steps\"\n"
    );
    if crate::external::without_python() {
        return;
    }
    let program = "import json, sys\nsys.stdin.readline()\nall = []\nfor at in range(4):\n    \
                   print(json.dumps({'probe': {'configuration': at, 'steps': 50}}), flush=True)\n    \
                   told = json.loads(sys.stdin.readline())\n    all.append(told['observation']['step_s'])\n\
                   print(json.dumps({'fail': json.dumps([all, told['spent_s']])}), flush=True)\n";
    let scenario = "search.strategies = [\"ask\"]\nsearch.objectives = [\"time\"]\n\
                    [strategy.ask]\ncommand = [\"python3\", \"ask.py\"]\n";
    let seen = |rows: &str| {
        let sandbox = grid(&spec, rows, scenario);
        sandbox.write("ask.py", program);
        records(&sandbox, ",ask,").concat()
    };
    let half = seen(RUNS);
    assert!(half.contains("[[10.0, 6.0, 5.0, 4.0], 1250.0]"), "{half}");
    // Twice the steps in an equal time: a quarter.
    let quarter = seen(&RUNS.replace(",100\n", ",200\n"));
    assert!(
        quarter.contains("[[5.0, 3.0, 2.5, 2.0], 625.0]"),
        "{quarter}"
    );
    // A run without steps cannot be charged by them.
    let none = RUNS.replacen(",100\n", ",\n", 1);
    let sandbox = grid(&spec, &none, scenario);
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(told.contains("no `steps` give it"), "{told}");
}

/// A measured step time is used, and results that follow from the run are marked.
#[test]
fn a_step_that_was_measured_is_not_computed() {
    let spec = SPEC.replace("step_s = \"step\"", "step_s = \"step\"\nsteps = \"900\"");
    let sandbox = Sandbox::new();
    sandbox.write("spec.toml", &spec);
    sandbox.write("runs.csv", &ROWS.replacen(",0.1,", ",,", 1));
    sandbox.run(&IMPORT).success();
    let folder = scavsim::input::Folder::Disk(sandbox.path("g"));
    let grid = scavsim::grid::load::load(&folder, &mut Default::default()).expect("a grid");
    let runs: Vec<_> = (0..2).map(|at| grid.jobs[0].runs(at)[0]).collect();
    assert_eq!((runs[0].step_s, runs[1].step_s), (Some(4.0), Some(0.2)));
    use scavsim::grid::StepFrom;
    assert_eq!(runs[0].step_from, StepFrom::WholeRun);
    assert_eq!(runs[1].step_from, StepFrom::Itself);
}

const TYPES: &str =
    "[vm.a]\nvcpu = 2\nmemory_gib = 15.25\n[vm.b]\nvcpu = 4\nmemory_gib = 30.5\ngpus = 1\n";

/// A program's data about machines.
fn machines(spec: &str, scenario: &str) -> String {
    let program = "import json, sys\n\
                   task = json.loads(sys.stdin.readline())\n\
                   print(json.dumps({'fail': json.dumps(task['task']['machines'])}), flush=True)\n\
                   sys.stdin.readline()\n";
    let sandbox = grid(
        &format!("cost_usd = \"time_s / 3600 * usd_h\"\n{AXES}{spec}"),
        RUNS,
        &format!(
            "search.strategies = [\"oracle\", \"ask\"]\nsearch.objectives = [\"time\"]\n\
             [strategy.ask]\ncommand = [\"python3\", \"ask.py\"]\n{scenario}"
        ),
    );
    sandbox.write("ask.py", program);
    records(&sandbox, ",ask,").concat().replace("\"\"", "\"")
}

#[test]
fn machines_of_a_grid_are_told() {
    if crate::external::without_python() {
        return;
    }
    let own = r#"[{"gpus": 0, "memory_gib": 15.25, "vcpu": 2}, {"gpus": 0, "memory_gib": 15.25, "vcpu": 2}, {"gpus": 1, "memory_gib": 30.5, "vcpu": 4}"#;
    let by_grid = machines(TYPES, "");
    assert!(by_grid.contains(own), "{by_grid}");
    let by_scenario = machines("", TYPES);
    assert!(by_scenario.contains(own), "{by_scenario}");
    // The scenario has priority, and one type's missing value does not affect the other.
    let both = machines("[vm.b]\nvcpu = 4\nmemory_gib = 8\n", "[vm.b]\nvcpu = 16\n");
    let half = r#"[null, null, {"gpus": 0, "memory_gib": 8.0, "vcpu": 16}"#;
    assert!(both.contains(half), "{both}");
}

#[test]
fn mistakes_in_machines_are_told_at_once() {
    let sandbox = grid(
        &format!(
            "cost_usd = \"time_s\"\n{AXES}[vm.c]\nvcpu = 2\nmemory_gib = -4\n[vm.a]\ncores = 2\n"
        ),
        RUNS,
        "",
    );
    let spec = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    let sandbox = grid(
        &format!("cost_usd = \"time_s\"\n{AXES}[vm.c]\nvcpu = 2\nmemory_gib = 4\n"),
        RUNS,
        "",
    );
    let stray = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    let sandbox = grid(
        &format!("cost_usd = \"time_s\"\n{AXES}"),
        RUNS,
        "[vm.a]\nvcpu = 2\n[vm.b]\nlike = \"a\"\nvcpu = 4\nmemory_gib = [2, 4]\n[vm.d]\nvcpu = 1\n",
    );
    let scenario = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    insta::assert_snapshot!(spec + &stray + &scenario);
}
