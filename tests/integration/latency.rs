//! Unseen set-ups: their steps, choices within limits by them, and a strategy that uses this.

use crate::sandbox::{Row, Rows, Sandbox};
use study::choices::choices;
use study::hidden::{self, Hiding, Setup, study};
use study::text;

#[path = "../../benches/studies/latency/mod.rs"]
mod study;

#[test]
fn the_results_of_the_study_are_current() {
    let setups = study(&hidden::WORKLOADS);
    crate::reproduction::assert_current("latency.md", &text::render(&setups));
    let of =
        |hiding: Hiding| -> Vec<&Setup> { setups.iter().filter(|s| s.hiding == hiding).collect() };
    let error = |setups: &[&Setup]| {
        let errors = setups.iter().map(|s| {
            let (said, _) = s.said.expect("all are answered");
            (said / s.measured_s - 1.0).abs()
        });
        errors.sum::<f64>() / setups.len() as f64
    };
    let placements = of(Hiding::Placements);
    assert!(placements.len() >= 2000);
    assert!(error(&placements) < 0.08, "{}", error(&placements));
    // For an application that was only seen on one worker.
    assert!(error(&of(Hiding::Application)) < 0.10);
    assert!(choices(&placements).len() >= 100);
}

/// One replica of a job in 1 to 32 placements, for the objective cost.
fn rows(strategies: &str) -> Rows {
    let sandbox = Sandbox::with(&format!(
        "workloads = [\"pollux-imagenet\"]\n\
         search = {{ strategies = [{strategies}], objectives = [\"time\", \"cost\"], stored = [\"pollux-bert\", \"pollux-cifar10\"] }}\n\
         cluster.vm = [\"g4dn.12xlarge\", \"g4dn.12xlarge/4\"]\n\
         cluster.workers = [1, 2, 4, 8, 12, 16, 32]\n\
         cluster.local_batch = [20, 40, 81, 163]\n\
         cluster.outside = \"leave-out\"\n\
         pricing.policies = [\"aws-2026-own\"]\n"
    ));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    Rows::parse(&sandbox.read("out/records.csv"))
}

#[test]
fn communication_of_other_jobs_spares_probes_of_large_clusters() {
    let rows = rows("\"srifty-like\", \"one-run\", \"same-job\"");
    let of = |strategy: &str, column: &str| -> Vec<f64> {
        let own = |row: &Row<'_>| row.text("strategy") == strategy;
        rows.iter()
            .filter(own)
            .map(|row| row.number(column))
            .collect()
    };
    let (own, corners) = (
        of("srifty-like", "search_cost_usd"),
        of("one-run", "search_cost_usd"),
    );
    assert!(
        own.iter().zip(&corners).all(|(own, corners)| own < corners),
        "{own:?} {corners:?}"
    );
    // It used the steps of others, which have their price, but none of their whole runs.
    assert!(
        of("srifty-like", "known_runs")
            .iter()
            .all(|runs| *runs > 2000.0)
    );
    let known = |strategy: &str| of(strategy, "known_cost_usd")[0];
    assert!(known("srifty-like") > known("one-run") && known("srifty-like") < known("same-job"));
    let errors = of("srifty-like", "error_mean");
    assert!(errors.iter().all(|error| *error < 0.2), "{errors:?}");
}

#[test]
fn where_nobody_tells_of_communication_the_corners_do() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\n\
         search = { strategies = [\"srifty-like\", \"one-run\"], objectives = [\"time\"] }\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    for row in Rows::parse(&sandbox.read("out/records.csv")).iter() {
        let error = row.number("error_mean");
        assert!(error < 0.3, "{error}");
        assert_eq!(row.number("known_runs"), 1.0);
    }
}

fn setup(vms: u32, measured_s: f64, said_s: f64, deviation: f64) -> Setup {
    Setup {
        hiding: Hiding::Placements,
        workload: "w".to_owned(),
        vm_type: "vm".to_owned(),
        vms,
        workers: vms,
        local_batch: 8.0,
        measured_s,
        said: Some((said_s, deviation)),
    }
}

fn of(setups: &[Setup]) -> Vec<study::choices::Choice> {
    choices(&setups.iter().collect::<Vec<_>>())
}

#[test]
fn who_knows_the_truth_keeps_every_limit_and_pays_no_more_than_the_best() {
    let setups: Vec<Setup> = (1..=16)
        .map(|vms| {
            let step_s = 1.0 + 0.1 * f64::from(vms);
            setup(vms, step_s, step_s, 0.0)
        })
        .collect();
    let found = of(&setups);
    assert_eq!(found.len(), 10);
    assert!(found.iter().all(|c| c.kept && c.excess == 0.0), "{found:?}");
}

#[test]
fn too_good_an_answer_breaks_limits_unless_it_says_how_unsure_it_is() {
    let rosy = |deviation: f64| -> Vec<Setup> {
        (1..=16)
            .map(|vms| {
                let step_s = 1.0 + 0.1 * f64::from(vms);
                setup(vms, step_s, 0.85 * step_s, deviation)
            })
            .collect()
    };
    let kept = |found: &[study::choices::Choice]| found.iter().filter(|c| c.kept).count();
    assert!(kept(&of(&rosy(0.0))) < 10);
    let wary = of(&rosy(0.2));
    assert_eq!(kept(&wary), 10);
    assert!(wary.iter().any(|c| c.excess > 0.0));
}
