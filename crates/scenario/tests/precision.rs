//! The number of replicas for a target precision.

use std::sync::atomic::AtomicU64;

use scavsim_engine::Interrupt;
use scavsim_experiment::precision::{AchievedPrecision, LEAST, half_width, replicas};
use scavsim_experiment::scenario::{Scenario, WantedPrecision};
use scavsim_experiment::{Conduct, KeyColumns, Plan, Record, Sink, Summary, Tasks, gather, run};
use scavsim_read::input::{Diagnostics, Source};
use scavsim_scenario::{Overrides, load};

const SCENARIO: &str = r#"
    workloads = ["scavenger-resnet18"]
    search = { strategies = ["oracle", "no-search", "partial"], objectives = ["time", "knee"] }
    variation = { step_cv = 0.05, placement_sigma = 0.03, noise_cv = 0.10, epoch_cv = 0.02 }
"#;

fn scenario(text: &str) -> Scenario {
    let mut wrong = Diagnostics::default();
    let source = Source::new("test.toml", text);
    let here = std::path::Path::new(".");
    load(&source, here, Overrides::default(), &mut wrong).expect("a scenario")
}

fn reached(text: &str, half_width: f64, most: u64, jobs: usize) -> AchievedPrecision {
    let wanted = WantedPrecision { half_width, most };
    let by = (jobs, &Interrupt::NEVER);
    replicas(&scenario(text), wanted, by, &AtomicU64::new(0)).expect("it can be run")
}

fn at_once(text: &str, replicas: u64) -> f64 {
    let mut plan = Plan::new(&scenario(&format!("replicas = {replicas}\n{text}"))).expect("a plan");
    let tasks = Tasks::from_plan(&plan);
    let mut summary = Summary::by(KeyColumns::of_one_luck(), tasks);
    let progress = AtomicU64::new(0);
    let conduct = Conduct::new(1, &progress);
    gather(&mut plan, tasks.behind(0), conduct, &mut summary).expect("it can be run");
    let all = summary.tallied_by(KeyColumns::OBJECTIVE);
    all.fold(0.0, |widest: f64, (objective, tallied)| {
        widest.max(half_width(objective, &tallied))
    })
}

#[test]
fn as_many_replicas_as_are_needed_on_any_number_of_threads() {
    let one = reached(SCENARIO, 0.002, 100_000, 1);
    assert!(one.half_width <= 0.002 && one.replicas > LEAST, "{one:?}");
    assert_eq!(one, reached(SCENARIO, 0.002, 100_000, 3));
    // Blocks give the result of one run, and a much smaller number would not suffice.
    let whole = at_once(SCENARIO, one.replicas);
    assert!(
        (whole / one.half_width - 1.0).abs() < 1e-9,
        "{whole} {one:?}"
    );
    assert!(at_once(SCENARIO, one.replicas / 4) > 0.002, "{one:?}");
}

#[test]
fn not_more_replicas_than_there_may_be() {
    let capped = reached(SCENARIO, 1e-6, 41, 2);
    assert!(
        capped.replicas == 41 && capped.half_width > 1e-6,
        "{capped:?}"
    );
    // Values without variation are exactly known.
    let fixed = "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"oracle\"]\n";
    assert_eq!(reached(fixed, 1e-6, 1_000, 1).replicas, LEAST);
}

#[test]
fn blocks_have_the_replicas_of_the_whole() {
    struct Times(Vec<(u64, Option<f64>)>);
    impl Sink for Times {
        fn push_record(&mut self, record: &Record<'_>) -> std::io::Result<()> {
            self.0.push((record.replica, record.time_h));
            Ok(())
        }
    }
    let text = SCENARIO.replace("\"oracle\", \"no-search\", \"partial\"", "\"partial\"");
    let text = text.replace("\"time\", \"knee\"", "\"time\"");
    let mut plan = Plan::new(&scenario(&format!("replicas = 10\n{text}"))).expect("a plan");
    let mut seen = |replicas| {
        plan.look_at(replicas);
        let progress = AtomicU64::new(0);
        let conduct = Conduct::new(1, &progress);
        let tasks = Tasks::from_plan(&plan);
        let mut times = Times(Vec::new());
        run(&mut plan, tasks.behind(0), conduct, &mut [&mut times]).expect("memory");
        times.0
    };
    let whole = seen(0..10);
    assert_eq!(whole.len(), 10);
    assert_eq!([seen(0..4), seen(4..10)].concat(), whole);
}
