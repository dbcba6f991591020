//! Scores of a case: limits that were met or not, right choices, break-even.

use crate::sandbox::{Rows, Sandbox, stdout};

/// Runs a scenario that ends with this code; its records, its summary and what was printed.
fn run(text: &str, code: i32) -> (Rows, Rows, String) {
    let sandbox = Sandbox::with(text);
    let printed = stdout(
        &sandbox
            .run(&["run", "scenario.toml", "--out", "out"])
            .code(code),
    );
    let read = |name: &str| Rows::parse(&sandbox.read(name));
    // Stored records give equal output.
    let again = stdout(&sandbox.run(&["summary", "out"]).success());
    assert_eq!(printed, again);
    (read("out/records.csv"), read("out/summary.csv"), printed)
}

/// With 8 workers the largest batch is the fastest and the cheapest, and the whole front.
#[test]
fn where_one_configuration_beats_all_others_no_other_is_right_by_the_knee() {
    let (records, _, printed) = run(
        "workloads = [\"scavenger-resnet18\"]\ncluster.workers = [8]\n\
         search = { strategies = [\"oracle\", \"default\"], objectives = [\"knee\"] }\n",
        0,
    );
    let rows: Vec<_> = records.iter().collect();
    let [oracle, default] = &rows[..] else {
        panic!("{printed}");
    };
    assert_eq!(
        (oracle.number("right"), oracle.number("knee_depth")),
        (1.0, 1.0)
    );
    assert_eq!(default.number("right"), 0.0);
    let regret = (default.number("regret_time")).hypot(default.number("regret_cost"));
    assert!(regret > 0.5, "{regret}");
    assert!(
        (default.number("knee_depth") - (1.0 - regret)).abs() < 1e-9,
        "{printed}"
    );
    assert!(!printed.contains("depth 1.00"), "{printed}");
}

const LIMIT: f64 = 9.6;

/// Between the cheapest configuration and the next but one: strategies with too low predictions break it.
const LIMITED: &str = r#"
    workloads = ["scavenger-resnet18"]
    replicas = 40
    limits.max_cost_usd = 9.6
    search.strategies = ["oracle", "full", "partial", "random", "same-job", "default"]
    variation = { step_cv = 0.05, placement_sigma = 0.03, noise_cv = 0.10, epoch_cv = 0.02 }
"#;

#[test]
fn who_breaks_a_limit_is_not_compared_with_who_keeps_it() {
    let (records, summary, printed) = run(LIMITED, 3);
    let (mut kept, mut broken) = (0, 0);
    for row in records.iter().filter(|row| row.text("status") == "ok") {
        let number = |column: &str| row.number(column);
        let usd = number("cost_usd");
        assert_eq!(number("kept_net"), f64::from(usd <= LIMIT));
        assert_eq!(row.text("excess_net").is_empty(), usd <= LIMIT);
        if usd > LIMIT {
            assert!((number("excess_net") - (usd / LIMIT - 1.0)).abs() < 1e-12);
        }
        // Gross ends after net, net after the choice alone, except for randomness.
        assert!(number("kept_gross") <= number("kept_net"));
        for (run, ratios) in [
            ("choice", "regret"),
            ("gross", "overhead_gross"),
            ("net", "overhead_net"),
        ] {
            let is_kept = number(&format!("kept_{run}")) == 1.0;
            assert_eq!(row.text(&format!("excess_{run}")).is_empty(), is_kept);
            for unit in ["time", "cost"] {
                let ratio = row.text(&format!("{ratios}_{unit}"));
                assert!(is_kept || ratio.is_empty(), "{ratios}: {ratio}");
            }
        }
        if number("kept_choice") == 1.0 && number("expected_cost_usd") <= LIMIT {
            let own = match row.text("objective") {
                "time" => number("regret_time"),
                "cost" => number("regret_cost"),
                _ => 1.0 - number("knee_depth"),
            };
            assert!(own >= -1e-9, "better than the oracle: {own}");
            kept += 1;
        } else {
            broken += 1;
        }
        if number("expected_cost_usd") > LIMIT {
            // Above the limit better configurations exist than on the oracle's front.
            assert!(
                row.text("knee_depth").is_empty(),
                "{}",
                row.text("knee_depth")
            );
        }
        if number("search_time_h") == 0.0 {
            assert_eq!(number("kept_choice"), number("kept_net"));
        }
    }
    assert!(kept > 100 && broken > 20, "{kept} kept, {broken} broken");
    for group in summary.iter() {
        let same = |row: &crate::sandbox::Row<'_>| {
            ["objective", "strategy"]
                .iter()
                .all(|c| row.text(c) == group.text(c))
        };
        for column in ["kept_choice", "kept_gross", "kept_net", "right"] {
            let values: Vec<f64> = records
                .iter()
                .filter(same)
                .map(|r| r.number(column))
                .collect();
            let share = values.iter().sum::<f64>() / values.len() as f64;
            assert!((group.number(column) - share).abs() < 1e-12);
            let ends = ["low95", "high95"].map(|end| group.number(&format!("{column}_{end}")));
            assert!(ends[0] <= share && share <= ends[1] && ends[0] < ends[1]);
        }
        // The knee has a share of its gain, and no regret of its own.
        if group.text("objective") != "knee" {
            let regret = format!("regret_{}_mean", group.text("objective"));
            assert!(group.text(&regret).is_empty() || group.number(&regret) >= -1e-9);
        }
    }
    assert!(printed.contains("kept c/g/n"), "{printed}");
}

#[test]
fn without_limits_nothing_is_kept_or_broken() {
    let (records, _, printed) = run(&LIMITED.replace("limits.max_cost_usd = 9.6", ""), 0);
    for row in records.iter() {
        for column in ["kept_choice", "kept_net", "excess_choice", "excess_net"] {
            assert_eq!(row.text(column), "");
        }
    }
    assert!(!printed.contains("kept"), "{printed}");
}

/// The knee of ResNet18 is 16 × 1024: 8.5 % above the least time and 6.2 % above the least cost, √(0.085² + 0.062²) from the ideal.
#[test]
fn the_knee_is_told_by_its_depth() {
    let (records, summary, _) = run(&LIMITED.replace("limits.max_cost_usd = 9.6", ""), 0);
    let mut seen = 0;
    for row in records.iter() {
        let depth = row.text("knee_depth");
        assert_eq!(depth.is_empty(), row.text("objective") != "knee");
        let expected = match (
            row.text("objective"),
            row.text("chosen_workers"),
            row.text("chosen_batch"),
        ) {
            ("knee", "16", "1024") => 1.0,
            ("knee", "20", "1024") => 0.881,
            ("knee", "12", "1024") => 0.711,
            ("knee", "8", "1024") => 0.063,
            _ => continue,
        };
        let depth = row.number("knee_depth");
        assert!((depth - expected).abs() < 0.005, "{depth} {expected}");
        assert_eq!(row.number("right"), f64::from(expected == 1.0));
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
    let partial = |row: &crate::sandbox::Row<'_>| {
        row.text("objective") == "knee" && row.text("strategy") == "partial"
    };
    let partial = summary.iter().find(partial).expect("a group");
    assert!(partial.number("right") > 0.3);
    assert!(partial.number("knee_depth_mean") > 0.881);
}

#[test]
fn repaid_is_all_that_was_spent_over_all_that_is_saved() {
    let (records, summary, printed) = run(&LIMITED.replace("limits.max_cost_usd = 9.6", ""), 0);
    let mut never = 0.0;
    for group in summary.iter() {
        let same = |row: &crate::sandbox::Row<'_>| {
            ["objective", "strategy"]
                .iter()
                .all(|c| row.text(c) == group.text(c))
        };
        let unit = match group.text("objective") {
            "time" => "time_h",
            _ => "cost_usd",
        };
        let sum = |name: &str| -> f64 {
            let column = format!("{name}_{unit}");
            let cells = records.iter().filter(same);
            cells
                .filter(|r| !r.text(&column).is_empty())
                .map(|r| r.number(&column))
                .sum()
        };
        let spent = sum("search") + sum("known");
        if spent == 0.0 {
            assert_eq!(group.text("repaid"), "");
            assert_eq!(group.text("never_repaid"), "");
            continue;
        }
        let ratio = spent / sum("saved");
        let repaid = group.number("repaid");
        assert!((repaid / ratio - 1.0).abs() < 1e-9, "{repaid} {ratio}");
        assert!(group.number("repaid_low95") <= ratio * (1.0 + 1e-9));
        let rows: Vec<_> = records.iter().filter(same).collect();
        let worse = rows
            .iter()
            .filter(|row| row.number(&format!("saved_{unit}")) <= 0.0)
            .count();
        let share = worse as f64 / rows.len() as f64;
        assert!((group.number("never_repaid") - share).abs() < 1e-12);
        never += share;
        // Earlier knowledge has its price, too.
        if group.text("strategy") == "same-job" {
            assert!(repaid > 10.0, "{repaid}");
        }
    }
    assert!(never > 0.0, "all is always repaid: that proves little");
    assert!(printed.contains("knowledge"), "{printed}");
}

/// A cluster under another name has equal cost and time.
#[test]
fn a_twin_is_right() {
    let (records, ..) = run(
        r#"
        workloads = ["scavenger-resnet18"]
        search = { strategies = ["oracle", "default", "random"], objectives = ["time", "cost", "knee"] }
        kind = { one = { vm = "e2-standard-4" }, other = { vm = "e2-standard-4" } }
        cluster = { vm = ["one", "other"], workers = [8], batch = [1024] }
        variation.noise_cv = 0.1
        replicas = 20
        "#,
        0,
    );
    for row in records.iter() {
        assert_eq!(row.number("right"), 1.0);
        assert_eq!(row.number("regret_cost"), 0.0);
    }
    let other = |row: &crate::sandbox::Row<'_>| row.text("chosen_vm") != row.text("oracle_vm");
    assert!(
        records.iter().any(|row| other(&row)),
        "all chose the same twin"
    );
}
