//! Traces of searches on real runs are the searches of the records.

use serde_json::Value;

use crate::sandbox::{Row, Rows, Sandbox, stdout};

const SCENARIO: &str = "name = \"traced\"\ngrid = \"scout\"\njobs = [\"kmeans_huge_spark15\", \"join_huge_spark\"]\n\
     seed = 3\nreplicas = 2\n[search]\nrepeats = 10\n\
     strategies = [\"oracle\", \"clairvoyant\", \"random@6\", \"cherrypick\", \"value-of-information\", \"cheapest\", \"coordinate-descent\"]\n\
     objectives = [\"cost\", \"time\"]\n";

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-9)
}

/// Compares a trace with the row of its record.
fn holds(trace: &str, row: Row<'_>) {
    let entries: Vec<Value> = trace
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let at = |entry: &Value| entry["at_s"].as_f64().expect("a time");
    assert!(
        entries.windows(2).all(|two| at(&two[0]) <= at(&two[1])),
        "{trace}"
    );
    let first = &entries[0]["args"];
    for key in ["workload", "strategy", "objective"] {
        assert_eq!(first[key], row.text(key), "{first}");
    }
    let named = |name: &str| {
        entries
            .iter()
            .filter(|entry| entry["name"] == name)
            .collect::<Vec<_>>()
    };
    let ended = named("searched")[0];
    // The probes fill the time of the search, and add up to its cost.
    let (mut end_s, mut usd, mut asked_s) = (0.0, 0.0, 0.0);
    for entry in named("searching") {
        assert!(close(at(entry), end_s), "{entry}");
        end_s = at(entry) + entry["for_s"].as_f64().expect("a span");
        let spent_usd = entry["args"]["spent_usd"].as_f64().expect("a bill");
        if let Some(before) = entry["args"]["before_usd"].as_f64() {
            assert_eq!(before, usd, "{entry}");
            asked_s = end_s;
        }
        usd = spent_usd;
    }
    // Choices that failed come after it, and are trials, too.
    assert!(close(at(ended), asked_s), "{ended}");
    if row.text("status") != "ok" {
        assert!(named("training").is_empty() && !row.text("reason").is_empty());
        return;
    }
    assert!(
        close(end_s / 3600.0, row.number("search_time_h")),
        "{trace}"
    );
    assert!(close(usd, row.number("search_cost_usd")), "{trace}");
    let run = named("training");
    assert_eq!(run.len(), 1, "{trace}");
    let run_end = at(run[0]) + run[0]["for_s"].as_f64().expect("a span");
    let run_usd = run[0]["args"]["spent_usd"].as_f64().expect("a bill");
    let choice = run[0]["args"]["configuration"].as_str().expect("a name");
    assert_eq!(
        choice,
        format!("{} × {}", row.text("chosen_workers"), row.text("chosen_vm"))
    );
    let reached = named("target reached");
    assert_eq!(reached.len(), 1, "{trace}");
    assert!(
        close(at(reached[0]) / 3600.0, row.number("time_h")),
        "{trace}"
    );
    if row.number("reached_in_search") == 0.0 {
        assert!(close(run_end / 3600.0, row.number("time_h")), "{trace}");
        assert!(close(run_usd, row.number("cost_usd")), "{trace}");
    } else {
        let done = named("searching");
        let done = done
            .iter()
            .find(|entry| !entry["args"]["target"]["reached_s"].is_null());
        let usd = done.expect("one came to it")["args"]["spent_usd"].as_f64();
        assert!(
            close(usd.expect("a bill"), row.number("cost_usd")),
            "{trace}"
        );
    }
    let record = &named("record")[0]["args"];
    for key in [
        "search_time_h",
        "search_cost_usd",
        "time_h",
        "cost_usd",
        "oracle_time_h",
    ] {
        assert_eq!(record[key].as_f64(), Some(row.number(key)), "{key}");
    }
}

#[test]
fn a_trace_of_a_search_on_a_grid_is_the_search_of_the_record() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.run(&["run", "scenario.toml", "--out", "out"]);
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    assert_eq!(rows.len(), 56);
    let mut was_reached = 0;
    for row in rows.iter() {
        let case = row.text("case");
        let trace = ["trace", "scenario.toml", "--case", case, "--out", "trace"];
        let told = stdout(&sandbox.run(&trace).success());
        let file = format!("trace/traced-case-{case}.events.jsonl");
        let text = sandbox.read(&file);
        let entries = text.lines().count() - 1;
        assert!(
            told.contains(&format!("{file}: {entries} entries")),
            "{told}"
        );
        assert!(
            told.lines().all(|line| line.chars().count() <= 100),
            "{told}"
        );
        holds(&text, row);
        was_reached += u32::from(row.text("reached_in_search") == "1.0");
    }
    assert!(was_reached > 10);
}
