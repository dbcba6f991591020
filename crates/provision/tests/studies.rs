//! Scenarios with `[policy]`: what is refused, and that the same scenario gives the same lives.

use std::path::Path;

use scavsim_provision::study::run::run;
use scavsim_provision::study::{Lives, Study, check};
use scavsim_read::input::{Diagnostics, Source};

const RIGHT: &str = r#"
[job]
work_h = 10
deadline_h = 14
changeover_s = 720

[market]
traces = "aws-v100-2023"
zones = ["us-east-1f", "us-east-2a"]

[starts]
spread = 4

[policy]
names = ["greedy", "cost-to-go"]
"#;

fn load(text: &str) -> Result<Study, Vec<String>> {
    let mut d = Diagnostics::default();
    let study = check::load(&Source::new("scenario.toml", text), Path::new("."), &mut d);
    let told: Vec<String> = (d.iter())
        .map(|one| format!("{}: {}", one.line().map_or(0, |line| line), one.title))
        .collect();
    match study {
        Some(study) if told.is_empty() => Ok(study),
        _ => Err(told),
    }
}

/// What is said of the right scenario with a change.
fn refused(from: &str, to: &str) -> Vec<String> {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from}");
    load(&RIGHT.replace(from, to)).expect_err("it is wrong")
}

#[test]
fn a_deadline_before_the_fastest_run_ends_is_refused() {
    assert_eq!(
        refused("deadline_h = 14", "deadline_h = 10.1"),
        ["4: the deadline of 10.1 h is before the fastest run ends"]
    );
}

#[test]
fn traces_that_are_shorter_than_a_life_are_refused() {
    assert_eq!(
        refused("deadline_h = 14", "deadline_h = 1100"),
        ["4: the traces of 1091.9 h are shorter than a life of up to 1100.0 h"]
    );
    assert_eq!(
        refused("spread = 4", "at_s = [0, 3900000]"),
        ["12: a life that begins at 3900000 s outlasts the traces"]
    );
}

#[test]
fn more_machines_than_any_zone_ever_offers_are_refused() {
    assert_eq!(
        refused("changeover_s = 720", "changeover_s = 720\nmachines = 8"),
        ["6: no zone ever offers 8 spot machines at once"]
    );
}

#[test]
fn who_may_be_late_needs_a_price_of_that() {
    let told = refused("\"greedy\"", "\"spot-only\"");
    assert_eq!(
        told,
        ["2: `spot-only` may be late, and being late has no price"]
    );
    let priced = RIGHT
        .replace("\"greedy\"", "\"spot-only\"")
        .replace("work_h = 10", "work_h = 10\nlateness_usd_per_h = 0");
    assert!(load(&priced).is_ok());
}

#[test]
fn all_mistakes_are_told_at_once() {
    let told = load(
        &RIGHT
            .replace("work_h = 10", "work_h = -10")
            .replace("us-east-2a", "us-east-2x")
            .replace("cost-to-go", "cost-to-stay")
            .replace("spread = 4", "spread = 0\nat_h = 3"),
    )
    .expect_err("it is wrong");
    for part in ["`us-east-2x`", "`cost-to-stay`", "work_h", "spread", "at_h"] {
        assert!(
            told.iter().any(|one| one.contains(part)),
            "{part} in {told:#?}"
        );
    }
}

#[test]
fn a_market_is_named_or_given_not_both() {
    let told = refused(
        "traces = \"aws-v100-2023\"",
        "traces = \"aws-v100-2023\"\nrun_h = 3",
    );
    assert_eq!(
        told,
        ["8: `market.run_h` and `market.traces` exclude each other"]
    );
    let told = refused("traces = \"aws-v100-2023\"", "traces = \"aws-v100\"");
    assert_eq!(told, ["8: unknown market `aws-v100`"]);
}

#[test]
fn lives_do_not_depend_on_threads() {
    let text = RIGHT
        .replace("spread = 4", "")
        .replace("[market]", "[market]\nreplicas = 12");
    let study = load(&text).expect("it is right");
    assert!(matches!(study.settings[0].lives, Lives::Drawn(_, 12)));
    let costs = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("it starts");
        let met = pool.install(|| {
            run(
                &study,
                &study.settings[0],
                0..study.settings[0].lives.count(),
            )
        });
        let costs = met
            .iter()
            .flat_map(|one| one.outcomes.iter().map(|life| life.cost_usd()));
        costs.collect::<Vec<f64>>()
    };
    assert_eq!(costs(1), costs(3));
}

#[test]
fn the_shipped_scenarios_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/policies");
    let mut count = 0;
    for entry in std::fs::read_dir(root).expect("it is there") {
        let path = entry.expect("it is readable").path();
        let text = std::fs::read_to_string(&path).expect("it is readable");
        assert!(Study::is_in(&text));
        if let Err(told) = load(&text) {
            panic!("{}: {told:#?}", path.display());
        }
        count += 1;
    }
    assert!(count >= 3);
}
