//! The user's own measured grids: accepted ones, and every mistake.

use std::fs;

use insta::assert_snapshot;
use scavsim::grid::{Charge, Grid, Outcome};
use scavsim::input::Diagnostics;

use crate::sandbox::{Sandbox, repository, stderr, stdout};

pub const SPEC: &str = r#"name = "mine"
title = "My runs"
source = "me"
url = "none"
licence = "mine"
note = "made up"
cost_usd = "seconds / 3600 * price * workers"

[axis.vm]
kind = "categorical"

[axis.workers]
kind = "numeric"
unit = "workers"
column = "nodes"

[axis.disk]
kind = "ordinal"
levels = ["slow", "fast"]

[figures]
time_s = "seconds"
quality = "acc"
step_s = "step"

[lookup.price]
by = "vm"
values = { small = 0.5, large = 1.5 }
"#;

pub const ROWS: &str = "vm,nodes,disk,seconds,acc,step,ok,trial\n\
small,2,slow,3600,0.9,0.1,true,a\n\
small,4,fast,1800,0.8,0.2,no,a\n\
large,2,fast,900,0.7,0.3,1,a\n";

fn own(spec: &str, rows: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("spec.toml", spec);
    sandbox.write("runs.csv", rows);
    sandbox
}

pub const IMPORT: [&str; 7] = [
    "import",
    "grid",
    "runs.csv",
    "--spec",
    "spec.toml",
    "--out",
    "g",
];

/// The message of a refused import, after a check that it wrote nothing.
#[track_caller]
fn refused(spec: &str, rows: &str) -> String {
    let sandbox = own(spec, rows);
    let assert = sandbox.run(&IMPORT).code(2).stdout("");
    assert_eq!(sandbox.files("."), ["runs.csv", "spec.toml"]);
    stderr(&assert)
}

fn loaded(spec: &str, rows: &str) -> Grid {
    let sandbox = own(spec, rows);
    sandbox.run(&IMPORT).success();
    let folder = scavsim::input::Folder::Disk(sandbox.path("g"));
    let mut diagnostics = Diagnostics::default();
    let grid = scavsim::grid::load::load(&folder, &mut diagnostics);
    grid.unwrap_or_else(|| panic!("{}", diagnostics.render(false)))
}

/// Without this, a specification that is refused for another reason would prove nothing.
#[test]
fn a_sound_grid_is_accepted_and_made_compact() {
    let sandbox = own(SPEC, ROWS);
    let report = stdout(&sandbox.run(&IMPORT).success());
    assert_snapshot!(report);
    assert_eq!(sandbox.read("g/grid.toml"), SPEC);
    let rows = sandbox.read("g/rows.csv");
    assert!(
        rows.starts_with("vm,nodes,disk,seconds,acc,step\nsmall,2,slow,3600,"),
        "{rows}"
    );
    // Replaced only by force.
    let told = stderr(&sandbox.run(&IMPORT).code(2));
    assert!(told.contains("replace this grid with --force"), "{told}");
    sandbox.run(&[&IMPORT[..], &["--force"]].concat()).success();
}

#[test]
fn what_a_grid_says_of_a_run() {
    let grid = loaded(
        &SPEC.replace(
            "[axis.vm]",
            "completed = \"ok\"\nvms = \"workers + 1\"\n\
             target = { at_least = 0.75 }\nprobe = { charge = { share = 0.1 }, cut_off = true }\n[axis.vm]",
        ),
        ROWS,
    );
    assert!(matches!(grid.probe.charge, Charge::Share(share) if share.get() == 0.1));
    let [job] = &grid.jobs[..] else {
        panic!("one job");
    };
    assert_eq!(job.name, "mine");
    let outcomes: Vec<Outcome> = (0..3).map(|i| job.runs(i)[0].outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Reached, Outcome::Failed, Outcome::Unreached]
    );
    assert_eq!(job.runs(1)[0].time_to_target_s(), None);
    assert_eq!(job.runs(1)[0].time_s, 1800.0);
    assert_eq!(job.space.other(2), Some("disk=fast"));
    assert_eq!((job.space.value(0, 2), job.space.value(2, 2)), (0.0, 1.0));
    // Half of the third: 450 s of 2 large VMs at 1.50 USD.
    assert_eq!(job.cost_usd(2, 0, 450.0), Some(0.375));
    assert!(job.is_price_known_beforehand());
    let (at_start, per_s) = job.price(2).expect("it is known");
    assert_eq!((at_start, per_s * 3600.0), (0.0, 3.0));
    assert_eq!(
        job.vms_of(1).map(|(vm, vms)| (&**vm, vms)),
        Some(("small", 5))
    );
    assert_eq!(job.holes(), 8 - 3);
}

#[test]
fn costs_by_column_by_started_hour_and_by_policy() {
    // A column of bills: part of a run costs its share, which is not known before.
    let cost = "cost_usd = \"seconds / 3600 * price * workers\"";
    let grid = loaded(&SPEC.replace(cost, "cost_usd = \"acc * 10\""), ROWS);
    let job = &grid.jobs[0];
    assert_eq!(job.cost_usd(0, 0, 1800.0), Some(4.5));
    assert!(job.has_cost() && !job.is_price_known_beforehand());
    // Started hours are not linear in the time.
    let grid = loaded(
        &SPEC.replace(cost, "cost_usd = \"ceil(time_s / 3600) * price\""),
        ROWS,
    );
    let job = &grid.jobs[0];
    for (seconds, usd) in [(0.0, 0.0), (1.0, 0.5), (3600.0, 0.5), (3601.0, 1.0)] {
        assert_eq!(job.cost_usd(0, 0, seconds), Some(usd), "{seconds}");
    }
    assert!(job.is_price_known_beforehand());
    assert_eq!(job.price(0), None);
    // Without a rule a pricing policy prices the VMs.
    let grid = loaded(&SPEC.replace(cost, "vms = \"workers\""), ROWS);
    let job = &grid.jobs[0];
    assert_eq!(job.cost_usd(0, 0, 1.0), None);
    assert_eq!(
        job.vms_of(1).map(|(vm, vms)| (&**vm, vms)),
        Some(("small", 4))
    );
}

#[test]
fn repeats_are_kept_where_they_are_declared() {
    let rows = format!("{ROWS}small,2,slow,4000,0.6,0.1,true,b\n");
    assert_snapshot!(refused(SPEC, &rows));
    for declared in ["repeats = true", "repeat = \"trial\""] {
        let grid = loaded(
            &SPEC.replace("[axis.vm]", &format!("{declared}\n[axis.vm]")),
            &rows,
        );
        let job = &grid.jobs[0];
        assert_eq!(job.space.len(), 3);
        let times: Vec<f64> = job.runs(0).iter().map(|run| run.time_s).collect();
        assert_eq!(times, [3600.0, 4000.0]);
        assert_eq!(job.cost_usd(0, 1, 3600.0), Some(1.0));
        assert_eq!(job.runs(1).len(), 1);
    }
    let twice = rows.replace("true,b", "true,a");
    let spec = SPEC.replace("[axis.vm]", "repeat = \"trial\"\n[axis.vm]");
    assert!(refused(&spec, &twice).contains("repeat `a` of this configuration appears twice"));
}

#[test]
fn jobs_share_a_table_but_no_configurations() {
    let rows = format!("{ROWS}small,2,slow,4000,0.6,0.1,true,b\n");
    let spec = SPEC.replace(
        "[axis.vm]",
        "job = \"trial\"\ndefault_jobs = [\"b\"]\n[axis.vm]",
    );
    let grid = loaded(&spec, &rows);
    let sizes: Vec<_> = grid
        .jobs
        .iter()
        .map(|job| (job.name.as_str(), job.space.len()))
        .collect();
    assert_eq!(sizes, [("a", 3), ("b", 1)]);
    assert_eq!(grid.default_jobs, [1]);
    let wrong = spec.replace("[\"b\"]", "[\"c\"]");
    assert!(refused(&wrong, &rows).contains("unknown job `c`"));
}

#[test]
fn an_axis_may_be_computed() {
    let spec = SPEC.replace("column = \"nodes\"", "formula = \"nodes * 2\"");
    let grid = loaded(&spec, ROWS);
    assert_eq!(grid.jobs[0].space.workers(1), Some(8));
    let wrong = spec.replace("nodes * 2", "nodes / 4");
    assert!(refused(&wrong, ROWS).contains("the axis `workers` is 0.5 here"));
}

#[test]
fn every_mistake_in_a_specification_at_once() {
    let spec = SPEC
        .replace("title = \"My runs\"\n", "")
        .replace("licence = \"mine\"", "licence = \" \"")
        .replace("seconds / 3600", "secnods / 3600")
        .replace(
            "unit = \"workers\"\ncolumn = \"nodes\"",
            "colunm = \"nodes\"",
        )
        .replace("[axis.disk]", "[axis.memory]")
        .replace("time_s = \"seconds\"", "time_s = \"seconds *\"")
        .replace("step_s = \"step\"", "step_s = \"vm + 1\"")
        .replace("by = \"vm\"", "by = \"vn\"");
    assert_snapshot!(refused(&spec, ROWS));
}

#[test]
fn every_mistake_in_the_rows_at_once() {
    let rows = "vm,nodes,disk,seconds,acc,step\n\
                small,2,slow,-3,0.9,0.1\n\
                small,4,fats,1800,much,0.2\n\
                medium,2,fast,,0.7,-1\n\
                large,2.5,fast,900,0.7,0.3\n\
                large,2,fast,nan\n";
    assert_snapshot!(refused(SPEC, rows));
}

#[test]
fn a_cost_rule_with_a_column_that_is_not_there() {
    let spec = SPEC.replace("price * workers", "price * worker");
    assert_snapshot!(refused(&spec, ROWS));
}

#[test]
fn a_numeric_axis_without_a_unit() {
    assert_snapshot!(refused(&SPEC.replace("unit = \"workers\"\n", ""), ROWS));
}

#[test]
fn other_mistakes_are_told_with_a_remedy() {
    for (from, to, told) in [
        ("kind = \"categorical\"", "", "the axis `vm` has no `kind`"),
        (
            "kind = \"categorical\"",
            "kind = \"numeric\"\nunit = \"1\"",
            "always categorical",
        ),
        (
            "levels = [\"slow\", \"fast\"]",
            "",
            "does not say in which order",
        ),
        (
            "[\"slow\", \"fast\"]",
            "[\"slow\", \"slow\"]",
            "appears twice",
        ),
        (
            "unit = \"workers\"",
            "unit = \"workers\"\nlevels = [\"2\"]",
            "has levels but no order",
        ),
        (
            "kind = \"categorical\"",
            "kind = \"categorical\"\nunit = \"1\"",
            "have no unit",
        ),
        (
            "column = \"nodes\"",
            "column = \"nods\"",
            "did you mean `nodes`?",
        ),
        (
            "cost_usd = \"seconds / 3600 * price * workers\"",
            "",
            "`cost_usd` is missing",
        ),
        (
            "seconds / 3600 * price",
            "seconds / 3600 * price / (workers - 2)",
            "cost",
        ),
        (
            "seconds / 3600 * price",
            "seconds / 3600 * vm",
            "holds names, no numbers",
        ),
        (
            "[figures]",
            "[target]\nat_least = 1\nat_most = 2\n[figures]",
            "is not one rule",
        ),
        (
            "quality = \"acc\"",
            "quality = \"acc\"\n[target]\ncolumn = \"vm\"",
            "true or false",
        ),
        (
            "step_s = \"step\"",
            "[probe]\ncharge = \"steps\"",
            "cannot be charged by steps",
        ),
        ("step_s = \"step\"", "[probe]\ncharge = \"all\"", "`whole`"),
        (
            "step_s = \"step\"",
            "[probe]\ncharge = { share = 2 }",
            "above 0 and at most 1",
        ),
        ("[axis.vm]", "vms = \"acc\"\n[axis.vm]", "`acc` is no axis"),
        (
            "[axis.vm]",
            "vms = \"workers - 2\"\n[axis.vm]",
            "whole number of at least 1",
        ),
        (
            "[axis.vm]",
            "derived = \"vm\"\n[axis.vm]",
            "unknown figure `small`",
        ),
        (
            "[axis.vm]",
            "completed = \"acc\"\n[axis.vm]",
            "expected true or false",
        ),
        (
            "[lookup.price]",
            "[lookup.acc]\nby = \"vm\"\n[lookup.price]",
            "the name of something else",
        ),
        ("large = 1.5", "huge = 1.5", "no value for `large`"),
        ("time_s = \"seconds\"", "", "`figures.time_s` is missing"),
        (
            "price * workers",
            "price ^ workers",
            "nothing that can stand here",
        ),
    ] {
        let spec = SPEC.replacen(from, to, 1);
        assert_ne!(spec, SPEC, "{from}");
        let message = refused(&spec, ROWS);
        assert!(message.contains(told), "{told}: {message}");
    }
    let header = ROWS.lines().next().expect("a header");
    assert!(refused(SPEC, header).contains("the table has no rows"));
    assert!(refused(SPEC, "").contains("the table is empty"));
    assert!(refused("name = 1\n", ROWS).contains("name"));
    // A column of that name matters only if the rule names it.
    let both = ROWS.replace("step", "time_s");
    let spec = SPEC.replace("\"step\"", "\"time_s\"");
    assert_eq!(loaded(&spec, &both).jobs[0].runs(0)[0].step_s, Some(0.1));
    let told = refused(&spec.replace("seconds / 3600", "time_s / 3600"), &both);
    assert!(told.contains("both a column and the time"), "{told}");
}

#[test]
fn the_example_in_the_docs_is_sound() {
    let docs = fs::read_to_string(repository().join("docs/import.md")).expect("it is text");
    let (_, rest) = docs.split_once("```toml\n").expect("an example");
    let (spec, _) = rest.split_once("```").expect("its end");
    let rows = "model,ok,hours,accuracy,vm_type,workers,disk\n\
                a,true,2,0.95,g5.xlarge,4,slow\n\
                a,false,1,0.5,g6e.xlarge,4,fast\n";
    let grid = loaded(spec, rows);
    let job = &grid.jobs[0];
    assert_eq!(job.runs(0)[0].time_to_target_s(), Some(7200.0));
    assert_eq!(job.runs(1)[0].outcome, Outcome::Failed);
    let usd = job.cost_usd(0, 0, 1800.0).expect("a rule");
    assert!((usd - 0.5 * 1.006 * 4.0).abs() < 1e-12);
    assert!(job.is_price_known_beforehand());
}

/// Cells of a damaged table are refused, or their result has no figure.
#[test]
fn no_damaged_table_writes_an_infinity() {
    let head = "vm,nodes,disk,seconds,acc,step\n";
    let rows: Vec<[String; 6]> = (0..12)
        .map(|run| {
            let (vm, nodes) = (["small", "large"][run % 2], 2 + run / 4);
            let disk = ["slow", "fast"][run / 2 % 2];
            let seconds = 900.5 + 311.7 * run as f64;
            let cells = [
                vm,
                &nodes.to_string(),
                disk,
                &seconds.to_string(),
                "0.9",
                "0.1",
            ];
            cells.map(str::to_owned)
        })
        .collect();
    let damages = [
        "1e300",
        "1.0001e12",
        "1e12",
        "1e-300",
        "0",
        "-0.1",
        "inf",
        "NaN",
        "",
    ];
    let mut ran = 0;
    for (column, damage) in [3, 5]
        .into_iter()
        .flat_map(|at| damages.map(|own| (at, own)))
    {
        let mut rows = rows.clone();
        rows[7][column] = damage.to_owned();
        let text: Vec<String> = rows.iter().map(|row| row.join(",") + "\n").collect();
        let sandbox = Sandbox::new();
        sandbox.write("g/grid.toml", SPEC);
        sandbox.write("g/rows.csv", &format!("{head}{}", text.concat()));
        sandbox.write(
            "s.toml",
            "grid = \"./g\"\nreplicas = 3\n\
             search.strategies = [\"oracle\", \"random\", \"cherrypick\", \"full\"]\n",
        );
        let run = ["run", "s.toml", "--records", "csv,jsonl", "--out", "out"];
        let code = sandbox.run(&run).get_output().status.code();
        if code == Some(2) {
            assert!(sandbox.files("out").is_empty(), "{damage}");
            continue;
        }
        // An accepted table gives figures in every case: none is without a result.
        assert_eq!(code, Some(0), "{damage} in column {column}");
        ran += 1;
        sandbox
            .run(&["compare", "s.toml", "--out", "compared"])
            .success();
        for folder in ["out", "compared"] {
            for (name, bytes) in sandbox.contents(folder) {
                let text = String::from_utf8(bytes).expect("it is text");
                let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
                let wrong = words.find(|word| ["inf", "-inf", "NaN"].contains(word));
                assert_eq!(wrong, None, "{folder}/{name}, {damage} in column {column}");
            }
        }
    }
    // The bounds of both columns, no seconds, and no step.
    assert_eq!(ran, 6);
}
