//! Consistency of `records.csv`, row by row.

use std::collections::BTreeMap;

use scavsim::experiment::columns::Kind;
use scavsim::experiment::{COLUMNS, Column, Evaluator, OwnedRecord, Plan, Record};

use crate::replay::scenario;
use crate::sandbox::{Row, Rows, Sandbox, repository_file, stderr, stdout};

/// Runs `scenario.toml` in `sandbox`; returns its records.
fn records(sandbox: &Sandbox, exit: i32) -> Rows {
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(exit);
    Rows::parse(&sandbox.read("out/records.csv"))
}

/// The main scenario with two policies, few replicas and a start-up of VMs.
fn all_strategies() -> Rows {
    let main = repository_file("scenarios/scavenger.toml");
    let sandbox = Sandbox::with(&main);
    sandbox.edit("scenario.toml", "replicas = 200", "replicas = 5");
    sandbox.edit(
        "scenario.toml",
        r#"policies = ["paper-fixed"]"#,
        r#"policies = ["paper-fixed", "per-started-hour"]"#,
    );
    sandbox.edit("scenario.toml", "[cluster]", "[cluster]\nstart_up_s = 60");
    let rows = records(&sandbox, 0);
    assert_eq!(rows.len(), 3 * 2 * 3 * 10 * 5);
    rows
}

#[track_caller]
fn assert_close(a: f64, b: f64, row: Row<'_>) {
    let scale = a.abs().max(b.abs()).max(1.0);
    let case = row.text("case");
    assert!(
        (a - b).abs() <= 1e-12 * scale,
        "{a} is not {b} in case {case}"
    );
}

/// Names of all columns that hold numbers about a result.
fn figures() -> impl Iterator<Item = &'static str> {
    let numbers = |column: &&Column| matches!(column.kind, Kind::Whole | Kind::Figure);
    COLUMNS.iter().filter(numbers).map(|column| column.name)
}

/// Every file has them in this order, as does the page that explains them.
#[test]
fn the_documented_columns_are_those_of_the_records() {
    let page = repository_file("docs/records.md");
    let list = ["list", "columns", "--format", "markdown"];
    let table = stdout(&Sandbox::new().run(&list).success());
    assert!(
        page.ends_with(&format!("\n\n{table}")),
        "docs/records.md is stale: sed -i '/^| column/,$d' docs/records.md && scavsim list columns --format markdown \
         >> docs/records.md"
    );
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    let header = all_strategies().header;
    let there = names
        .iter()
        .filter(|name| header.iter().any(|own| own == *name));
    assert!(there.eq(header.iter()), "{header:?}");
    let documented = table.lines().skip(2).map(|line| line.split(' ').nth(1));
    assert!(documented.eq(names.iter().map(|name| Some(*name))));
}

/// Some cases of it have no result.
const WITH_REASONS: &str = r#"
    replicas = 2
    workloads = ["scavenger-resnet18", "scavenger-resnet50"]
    search.strategies = ["oracle", "full", "default"]
    limits.max_cost_usd = 21.0
"#;

#[test]
fn a_record_can_be_kept_when_its_plan_is_gone() {
    let owned: Vec<OwnedRecord> = {
        let scenario = scenario(WITH_REASONS);
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let mut evaluator = Evaluator::new(&plan);
        let records = (0..plan.cases()).map(|number| evaluator.evaluate(plan.case(number)));
        let records: Vec<Record<'_>> = records.collect();
        let owned: Vec<OwnedRecord> = records.iter().cloned().map(Record::into_owned).collect();
        for (record, owned) in records.iter().zip(&owned) {
            assert_eq!(owned.as_record(), *record);
            let text = |value: serde_json::Result<String>| value.expect("it can be written");
            let json = text(serde_json::to_string(owned));
            assert_eq!(json, text(serde_json::to_string(record)));
            let again: OwnedRecord = serde_json::from_str(&json).expect("it can be read");
            assert_eq!(again, *owned);
        }
        owned
    };
    assert!(owned.iter().any(|record| !record.reason.is_empty()));
    let right = |record: &OwnedRecord| record.as_record().is_right();
    assert!(owned.iter().any(right) && !owned.iter().all(right));
}

#[test]
fn every_figure_of_a_finished_case_is_a_finite_number() {
    // A figure that need not exist in a case that has a result.
    let place = |name: &str| figures().position(|column| column == name);
    let of_policies = place("start")..=place("exact");
    let optional = |column: &str| {
        of_policies.contains(&place(column))
            || column.starts_with("cold_start_")
            || column.starts_with("overhead_published_")
            || column.starts_with("error_")
            || ["break_even_jobs", "never_repaid"].contains(&column)
            // For strategies that search, and for one objective.
            || column.starts_with("rival_")
            || column == "knee_depth"
            // If measurements determine an error.
            || column == "expected_log_sd"
            // For parallel plans.
            || ["peak_gib", "bubble", "communication", "tokens_per_s", "mfu", "usd_per_1e9_tokens", "effective"].contains(&column)
            // For scenarios with limits.
            || column.starts_with("kept_")
            || column.starts_with("excess_")
            // For protocols other than `bsp`, and for VMs that are lost.
            || ["staleness", "dropped_gradients", "wasted_compute"].contains(&column)
            // For scenarios with `search.repeats`, and for measured grids.
            || column.starts_with("repeat")
            || ["runs_in_search", "failed_choices"].contains(&column)
            // For strategies that know earlier runs.
            || column.starts_with("known_")
    };
    let rows = all_strategies();
    for row in rows.iter() {
        assert_eq!((row.text("status"), row.text("reason")), ("ok", ""));
        for column in figures() {
            if optional(column) && row.text(column).is_empty() {
                continue;
            }
            let value = row.number(column);
            assert!(value.is_finite(), "`{column}` holds {value}");
        }
    }
}

#[test]
fn ratios_are_those_of_the_columns_beside_them() {
    for row in all_strategies().iter() {
        for (unit, figure) in [("time", "time_h"), ("cost", "cost_usd")] {
            let value = |prefix: &str| row.number(&format!("{prefix}{figure}"));
            let ratio = |prefix: &str| row.number(&format!("{prefix}_{unit}"));
            let oracle = value("oracle_");
            assert_close(ratio("overhead_net"), value("") / oracle - 1.0, row);
            assert_close(ratio("search_share"), value("search_") / oracle, row);
            assert!(ratio("overhead_gross") >= ratio("overhead_net"));
            assert!(value("search_") <= value(""));
            if !row.text("cold_start_time_h").is_empty() {
                assert_close(
                    ratio("overhead_published"),
                    value("cold_start_") / oracle,
                    row,
                );
            }
        }
    }
}

#[test]
fn regret_is_expected_over_the_oracles_expected() {
    let rows = all_strategies();
    let group = |row: Row<'_>| {
        ["workload", "pricing", "objective"].map(|column| row.text(column).to_owned())
    };
    let oracles: BTreeMap<[String; 3], Row<'_>> = (rows.iter())
        .filter(|row| row.text("strategy") == "oracle")
        .map(|row| (group(row), row))
        .collect();
    assert_eq!(oracles.len(), 3 * 2 * 3);
    let mut wrong = 0;
    for row in rows.iter() {
        let oracle = oracles[&group(row)];
        for (unit, expected) in [("time", "expected_time_h"), ("cost", "expected_cost_usd")] {
            let regret = row.number(&format!("regret_{unit}"));
            let best = oracle.number(expected);
            assert_close(regret, row.number(expected) / best - 1.0, row);
            if row.text("objective") == unit {
                assert!(regret >= -1e-12, "better than the oracle: {regret}");
                wrong += u32::from(regret > 0.0);
            }
        }
        for part in ["vm", "workers", "batch"] {
            let column = format!("oracle_{part}");
            assert_eq!(row.text(&column), oracle.text(&column));
            assert_eq!(oracle.text(&column), oracle.text(&format!("chosen_{part}")));
        }
    }
    assert!(wrong > 0, "nobody ever chose wrong: that proves little");
}

/// One replica is one world for all strategies.
#[test]
fn the_oracles_run_of_a_replica_is_the_same_for_every_strategy() {
    let rows = all_strategies();
    let mut seen: BTreeMap<[String; 4], [String; 2]> = BTreeMap::new();
    for row in rows.iter() {
        let case = ["workload", "pricing", "objective", "replica"];
        let key = case.map(|column| row.text(column).to_owned());
        let run = ["oracle_time_h", "oracle_cost_usd"].map(|c| row.text(c).to_owned());
        assert_eq!(*seen.entry(key).or_insert_with(|| run.clone()), run);
    }
}

#[test]
fn the_oracle_loses_nothing() {
    let all = all_strategies();
    let mut count = 0;
    for row in all.iter().filter(|r| r.text("strategy") == "oracle") {
        for column in figures() {
            let lost = ["regret_", "search_", "overhead_gross_", "overhead_net_"];
            if lost.iter().any(|prefix| column.starts_with(prefix)) {
                assert_eq!(row.number(column), 0.0, "{column}");
            }
        }
        count += 1;
    }
    assert_eq!(count, 3 * 2 * 3 * 5);
}

#[test]
fn only_who_probes_has_a_search_and_only_who_predicts_has_errors() {
    for row in all_strategies().iter() {
        let strategy = row.text("strategy");
        let probes = matches!(
            strategy,
            "full" | "partial" | "online" | "one-run" | "random"
        );
        let predicts = !matches!(strategy, "oracle" | "default");
        for column in ["search_time_h", "search_cost_usd"] {
            assert_eq!(row.number(column) > 0.0, probes, "{strategy}: {column}");
        }
        for column in ["error_mean", "error_median", "error_max"] {
            assert_eq!(
                !row.text(column).is_empty(),
                predicts,
                "{strategy}: {column}"
            );
        }
        assert_eq!(
            !row.text("cold_start_time_h").is_empty(),
            probes && strategy != "one-run",
            "{strategy}"
        );
    }
}

#[test]
fn a_started_hour_is_never_cheaper_than_exact_time() {
    let rows = all_strategies();
    let key = ["workload", "objective", "strategy", "replica"];
    let mut exact: BTreeMap<[&str; 4], Row<'_>> = BTreeMap::new();
    let mut compared = 0;
    // Policies are in the scenario's order: exact time comes first.
    for row in rows.iter() {
        let key = key.map(|column| row.text(column));
        if row.text("pricing") == "paper-fixed" {
            exact.insert(key, row);
            continue;
        }
        let other = exact[&key];
        let same = |c: &&str| row.text(c) == other.text(c);
        if ["chosen_workers", "chosen_batch", "time_h"]
            .iter()
            .all(same)
        {
            assert!(row.number("cost_usd") >= other.number("cost_usd"));
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} were comparable");
}

#[test]
fn limits_that_leave_nothing_fail_every_case() {
    let sandbox = Sandbox::with(
        r#"
workloads = ["scavenger-resnet18", "scavenger-resnet50"]
limits = { max_time_h = 0.001 }
"#,
    );
    let assert = sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    assert_eq!(rows.len(), 2 * 3 * 8);
    for row in rows.iter() {
        assert_eq!(row.text("status"), "failed");
        // With the closest configuration, which depends on the workload.
        let reason = row.text("reason");
        let nearest = "no configuration keeps within the limits; the nearest, ";
        assert!(reason.starts_with(nearest), "{reason}");
        assert!(reason.ends_with(" h against 0.001 h"), "{reason}");
        for column in figures().chain(["chosen_vm", "oracle_vm", "provenance"]) {
            // A case without a result is not right and meets no limit.
            let said = column == "right" || column.starts_with("kept_");
            assert_eq!(row.text(column), if said { "0.0" } else { "" }, "{column}");
        }
    }
    let manifest: serde_json::Value =
        serde_json::from_str(&sandbox.read("out/manifest.json")).expect("it is JSON");
    assert_eq!(manifest["failed"], 48);
    assert_eq!(manifest["complete"], true);
    assert_eq!(
        stderr(&assert),
        "48 cases have no result; see their `reason`\n"
    );
}

#[test]
fn a_job_that_ends_while_it_is_searched_has_a_result() {
    let sandbox = Sandbox::with(
        r#"
workloads = ["./short"]
replicas = 3
variation = { step_cv = 0.05, epoch_cv = 0.05 }
search.strategies = ["full", "partial", "random", "default"]
"#,
    );
    sandbox.workload("short");
    sandbox.edit("short/workload.toml", "value = 50000", "value = 500");
    let rows = records(&sandbox, 0);
    assert_eq!(rows.len(), 3 * 4 * 3);
    for row in rows.iter() {
        assert_eq!(row.text("status"), "ok");
        assert!(row.number("time_h") > 0.0);
        assert!(row.number("overhead_gross_time") >= row.number("overhead_net_time"));
        let searches = row.text("strategy") != "default";
        let reason = row.text("reason");
        assert_eq!(
            reason == "target reached during the search",
            searches,
            "{reason}"
        );
        assert_eq!(
            row.number("reached_in_search"),
            f64::from(u8::from(searches))
        );
        if searches {
            // The cold start alone reaches the target; the search continues, and gross pays for it and for the choice.
            let search_h = row.number("search_time_h");
            assert!(search_h > row.number("time_h"), "{search_h}");
            assert_eq!(row.number("cold_start_time_h"), row.number("time_h"));
            let gross_h = row.number("oracle_time_h") * (1.0 + row.number("overhead_gross_time"));
            assert!(gross_h > search_h * 1.001, "{gross_h} {search_h}");
        }
        let parts = ["useful", "search", "waiting", "lost", "restore"];
        let sum: f64 = (parts.iter())
            .map(|part| row.number(&format!("bill_{part}_usd")))
            .sum();
        assert!((sum / row.number("cost_usd") - 1.0).abs() < 1e-9);
    }
    // The recommendation of the whole search, not where the target happened to be reached: the largest is the fastest, and
    // the smallest batch is never the cheapest.
    for row in rows.iter().filter(|row| row.text("strategy") == "full") {
        let chosen = (row.text("chosen_workers"), row.text("chosen_batch"));
        match row.text("objective") {
            "time" => assert_eq!(chosen, ("20", "1024")),
            _ => assert_ne!(chosen.1, "384"),
        }
    }
}
