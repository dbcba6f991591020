//! The summary by any columns: its contents, for any origin of the records.

use std::collections::BTreeMap;

use crate::sandbox::{Rows, Sandbox, stderr};

const SCENARIO: &str = "name = \"small\"\nreplicas = 4\nworkloads = [\"scavenger-resnet18\", \"scavenger-resnet50\"]\n\
    [variation]\nstep_cv = 0.05\nnoise_cv = 0.1\nepoch_cv = 0.02\n\
    [pricing]\npolicies = [\"paper-fixed\", \"per-second\"]\n[limits]\nmax_cost_usd = 30\n";

const BY: &str = "strategy,chosen_workers,status";

fn run(sandbox: &Sandbox, out: &str, more: &[&str]) {
    let arguments = ["run", "scenario.toml", "--out", out];
    sandbox.run(&[&arguments[..], more].concat()).code(3);
}

/// The result of a slow simple computation: cases and mean of a column by the key.
fn by_hand(rows: &Rows, key: &[&str], figure: &str) -> BTreeMap<String, (usize, Option<f64>)> {
    let mut values: BTreeMap<String, (usize, Vec<f64>)> = BTreeMap::new();
    for row in rows.iter() {
        let cells: Vec<&str> = key.iter().map(|column| row.text(column)).collect();
        let (cases, seen) = values.entry(cells.join("|")).or_default();
        *cases += 1;
        seen.extend(row.text(figure).parse::<f64>());
    }
    let mean =
        |all: Vec<f64>| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    (values.into_iter())
        .map(|(key, (cases, seen))| (key, (cases, mean(seen))))
        .collect()
}

#[test]
fn groups_hold_what_the_records_of_their_key_hold() {
    let sandbox = Sandbox::with(SCENARIO);
    for by in [
        BY,
        "workload",
        "replica,objective",
        "oracle_vm,oracle_workers,oracle_batch,provenance",
        "pricing,chosen_vm,chosen_batch",
    ] {
        run(&sandbox, "out", &["--summary-by", by]);
        let rows = Rows::parse(&sandbox.read("out/records.csv"));
        let key: Vec<&str> = by.split(',').collect();
        let summary = Rows::parse(&sandbox.read("out/summary.csv"));
        for figure in ["time_h", "regret_cost", "error_max"] {
            let expected = by_hand(&rows, &key, figure);
            assert_eq!(summary.len(), expected.len(), "{by}");
            for row in summary.iter() {
                let cells: Vec<&str> = key.iter().map(|column| row.text(column)).collect();
                let (cases, mean) = expected[&cells.join("|")];
                assert_eq!(row.text("cases"), cases.to_string(), "{by}");
                let seen: Option<f64> = row.text(&format!("{figure}_mean")).parse().ok();
                match (seen, mean) {
                    (Some(seen), Some(mean)) => {
                        assert!((seen - mean).abs() < 1e-9 * (1.0 + mean.abs()), "{by}");
                    }
                    (seen, mean) => assert_eq!(seen, mean, "{by}"),
                }
            }
        }
    }
}

/// By the usual columns the means and intervals are the usual ones, in equal order. An interval over policies would count one
/// random draw twice, so there is none.
#[test]
fn intervals_stand_where_replicas_alone_differ() {
    let sandbox = Sandbox::with(SCENARIO);
    run(&sandbox, "usual", &[]);
    let all = "workload,pricing,objective,strategy";
    run(&sandbox, "same", &["--summary-by", all]);
    let usual = Rows::parse(&sandbox.read("usual/summary.csv"));
    let same = Rows::parse(&sandbox.read("same/summary.csv"));
    assert_eq!(usual.len(), same.len());
    for (a, b) in usual.iter().zip(same.iter()) {
        for column in [
            "workload",
            "pricing",
            "objective",
            "strategy",
            "failed",
            "right",
        ] {
            assert_eq!(a.text(column), b.text(column));
        }
        for part in ["mean", "low95", "high95"] {
            let column = format!("overhead_net_time_{part}");
            assert_eq!(a.text(&column), b.text(&column), "{column}");
        }
    }
    run(&sandbox, "mixed", &["--summary-by", "workload,strategy"]);
    for row in Rows::parse(&sandbox.read("mixed/summary.csv")).iter() {
        assert_ne!(row.text("cases"), "4");
        assert_eq!(row.text("time_h_low95"), "");
    }
}

#[test]
fn an_axis_that_no_configuration_has_is_told_and_its_cells_are_empty() {
    let sandbox = Sandbox::with(SCENARIO);
    let arguments = ["run", "scenario.toml", "--out", "out", "--summary-by"];
    let by = "strategy,chosen.learning_rate";
    let output = sandbox.run(&[&arguments[..], &[by]].concat()).code(3);
    let note = stderr(&output);
    assert!(
        note.contains("no configuration has an axis `learning_rate`"),
        "{note}"
    );
    let summary = Rows::parse(&sandbox.read("out/summary.csv"));
    assert_eq!(summary.header[..2], ["strategy", "chosen.learning_rate"]);
    let mut cells = summary.iter().map(|row| row.text("chosen.learning_rate"));
    assert!(cells.all(str::is_empty));
    // Complete with these columns, it stays unchanged.
    let again = [&arguments[..], &[by, "--resume"]].concat();
    let note = stderr(&sandbox.run(&again).code(0));
    assert!(note.contains("already complete"), "{note}");
}

#[test]
fn it_is_the_same_for_any_threads_shards_stops_and_forms() {
    let sandbox = Sandbox::with(SCENARIO);
    let by = ["--summary-by", BY];
    run(&sandbox, "out", &[&by[..], &["--jobs", "1"]].concat());
    let expected = sandbox.read("out/summary.csv");
    run(&sandbox, "threads", &[&by[..], &["--jobs", "3"]].concat());
    assert_eq!(sandbox.read("threads/summary.csv"), expected);

    for shard in ["1/3", "2/3", "3/3"] {
        let arguments = ["run", "scenario.toml", "--out", "parts", "--shard", shard];
        sandbox.run(&arguments);
    }
    sandbox
        .run(&[&["merge", "parts"], &by[..]].concat())
        .code(3);
    assert_eq!(sandbox.read("parts/summary.csv"), expected);

    // Killed in the middle of its rows.
    run(&sandbox, "killed", &[]);
    let rows = sandbox.read("killed/records.csv");
    sandbox.kill("killed", rows.len() / 2);
    run(&sandbox, "killed", &[&by[..], &["--resume"]].concat());
    assert_eq!(sandbox.read("killed/summary.csv"), expected);
    assert_eq!(sandbox.read("killed/records.csv"), rows);

    let forms: &[&str] = if cfg!(feature = "parquet") {
        &["csv", "jsonl", "parquet"]
    } else {
        &["csv", "jsonl"]
    };
    for form in forms {
        run(&sandbox, form, &["--records", form]);
        let before = sandbox.files(form);
        let arguments = ["summary", form, "--by", BY, "--format", "csv"];
        sandbox.run(&arguments).success().stdout(expected.clone());
        let usual = sandbox.read(&format!("{form}/summary.csv"));
        let arguments = ["summary", form, "--format", "csv"];
        sandbox.run(&arguments).success().stdout(usual);
        assert_eq!(sandbox.files(form), before);
    }
}

/// A run that is complete except for the columns of its summary gets them from its rows.
#[test]
fn a_complete_run_is_summarised_anew_by_other_columns() {
    let sandbox = Sandbox::with(SCENARIO);
    run(&sandbox, "out", &[]);
    let (usual, rows) = (
        sandbox.read("out/summary.csv"),
        sandbox.read("out/records.csv"),
    );
    run(&sandbox, "out", &["--resume", "--summary-by", "strategy"]);
    let by_strategy = sandbox.read("out/summary.csv");
    assert!(
        by_strategy.starts_with("strategy,cases,failed,right,"),
        "{by_strategy}"
    );
    assert_eq!(sandbox.read("out/records.csv"), rows);
    let again = [
        "run",
        "scenario.toml",
        "--out",
        "out",
        "--resume",
        "--summary-by",
        "strategy",
    ];
    let note = stderr(&sandbox.run(&again).code(0));
    assert!(note.contains("already complete"), "{note}");
    run(&sandbox, "out", &["--resume"]);
    assert_eq!(sandbox.read("out/summary.csv"), usual);
}

#[test]
fn columns_that_are_none_and_runs_that_are_none_are_refused() {
    let sandbox = Sandbox::with(SCENARIO);
    let legal = "allowed here: workload, pricing, objective, strategy, replica, setting, chosen_vm";
    let start = ["run", "scenario.toml", "--summary-by"];
    for (arguments, expected) in [
        (
            &[&start[..], &["strateg"]].concat()[..],
            "did you mean `strategy`?",
        ),
        (&[&start[..], &["time_h"]].concat(), legal),
        (&[&start[..], &[""]].concat(), legal),
        (
            &[&start[..], &["replica,replica"]].concat(),
            "`replica` is there twice",
        ),
        (
            &[&start[..], &["replica", "--format", "policies"]].concat(),
            "shows no summary by other columns",
        ),
        (&["merge", "out", "--summary-by", "x"], legal),
        (&["summary", "nowhere", "--by", "x"], legal),
        (
            &["summary", "nowhere", "--by", "replica"],
            "there is no run in nowhere",
        ),
    ] {
        let error = stderr(&sandbox.run(arguments).code(2).stdout(""));
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert_eq!(sandbox.files("."), ["scenario.toml"]);

    run(&sandbox, "out", &[]);
    let manifest = sandbox.read("out/manifest.json");
    let (complete, unfinished) = ("\"complete\": true", "\"complete\": false");
    sandbox.edit_manifest("out/manifest.json", complete, unfinished);
    let error = stderr(&sandbox.run(&["summary", "out"]).code(2));
    assert!(error.contains("is not finished"), "{error}");
    sandbox.write("out/manifest.json", &manifest);
    let rows = sandbox.read("out/records.csv");
    for (damaged, expected) in [
        (rows[..rows.len() - 1].to_owned(), "cut off"),
        (
            rows.replacen("\n1,", "\n7,", 1),
            "case 7 is where 1 belongs",
        ),
        ("case\n0\n".to_owned(), "the header of this version"),
    ] {
        sandbox.write("out/records.csv", &damaged);
        let error = stderr(&sandbox.run(&["summary", "out"]).code(2).stdout(""));
        assert!(error.contains(expected), "{error}");
    }
    std::fs::remove_file(sandbox.path("out/records.csv")).expect("it is there");
    let error = stderr(&sandbox.run(&["summary", "out"]).code(2).stdout(""));
    assert!(
        error.contains("there is none of records.csv, records.jsonl"),
        "{error}"
    );
}

/// A line per cluster is also a summary by columns: equal from the records, and refused in combination with others.
#[test]
fn clusters_are_the_same_from_the_records_of_a_run() {
    let sandbox = Sandbox::with(SCENARIO);
    let arguments = [
        "run",
        "scenario.toml",
        "--out",
        "out",
        "--format",
        "clusters",
    ];
    let printed = |arguments: &[&str], code| {
        let output = sandbox.run(arguments).code(code);
        String::from_utf8(output.get_output().stdout.clone()).expect("UTF-8")
    };
    let text = printed(&arguments, 3);
    assert!(text.contains("e2-standard-4"), "{text}");
    // Cases without a result show the reason.
    assert!(text.contains(" without a result: "), "{text}");
    let again = printed(&["summary", "out", "--format", "clusters"], 0);
    // A manifest knows the scenario's name.
    assert_eq!(again, text);
    let both = [&arguments[..], &["--summary-by", "workload"]].concat();
    sandbox.run(&both).code(2);
}
