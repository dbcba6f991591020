//! Data shared by neighbouring cases change no figure: every case has the result of a single one.

use std::io;

use scavsim::experiment::{Evaluator, Plan, Record, Sink, Status, Summary};
use scavsim::scenario::ClusterScenario as _;
use scavsim::training::Fidelity;

use crate::replay::scenario;

/// Policies with different choices, searches that move the cluster, with all randomness.
const SCENARIO: &str = r#"
    seed = 11
    replicas = 5
    workloads = ["scavenger-resnet18", "scavenger-resnet50"]
    [cluster]
    start_up_s = 45
    [variation]
    step_cv = 0.05
    placement_sigma = 0.03
    vm_sigma = 0.02
    noise_cv = 0.10
    epoch_cv = 0.02
    drift = { sigma = 0.2, period_s = 600 }
    [pricing]
    policies = ["paper-fixed", "paper-memory", "per-started-hour", "paper-four-servers"]
    [search]
    strategies = ["oracle", "full", "partial", "coordinate-descent", "random", "default"]
    [limits]
    max_cost_usd = 21.0
"#;

/// All cases by one evaluator, in the order that `order` makes of their numbers.
fn in_turn<'p>(plan: &'p Plan, order: impl Fn(u64) -> u64) -> Vec<Record<'p>> {
    let mut evaluator = Evaluator::new(plan);
    let mut records: Vec<Record<'_>> = (0..plan.cases())
        .map(|number| evaluator.evaluate(plan.case(order(number))))
        .collect();
    records.sort_by_key(|record| record.case);
    records
}

#[test]
fn a_case_among_its_neighbours_is_the_case_alone() {
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let mut scenario = scenario(SCENARIO);
        scenario.fidelity = fidelity;
        scenario.replicas = if fidelity == Fidelity::Fast { 5 } else { 1 };
        // The first workload is over before most searches are.
        scenario.workloads_mut()[0]
            .0
            .constants
            .samples_per_epoch
            .value = 600.0;
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let alone: Vec<Record<'_>> = (0..plan.cases())
            .map(|number| Evaluator::new(&plan).evaluate(plan.case(number)))
            .collect();
        let has = |what: &dyn Fn(&Record<'_>) -> bool| alone.iter().any(what);
        assert!(has(&|r| r.status == Status::Failed) && has(&|r| r.status == Status::Ok));
        assert!(has(&|r| r.reason == "target reached during the search"));
        assert_eq!(in_turn(&plan, |number| number), alone);
        let last = plan.cases() - 1;
        assert_eq!(in_turn(&plan, |number| last - number), alone);
    }
}

/// A search that depends on price and objective is shared only between equal ones.
#[test]
fn a_search_that_is_told_prices_is_run_for_each() {
    let text = SCENARIO.replace("max_cost_usd = 21.0", "");
    let text = text.replace(
        "\"oracle\", \"full\", \"partial\", \"coordinate-descent\", \"random\", \"default\"",
        "\"coordinate-descent\"",
    );
    let scenario = scenario(&text);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let alone: Vec<Record<'_>> = (0..plan.cases())
        .map(|number| Evaluator::new(&plan).evaluate(plan.case(number)))
        .collect();
    assert_eq!(in_turn(&plan, |number| number), alone);
    let last = plan.cases() - 1;
    assert_eq!(in_turn(&plan, |number| last - number), alone);
    // Prices lead it to other choices.
    let choices = |policy: &str| -> Vec<_> {
        let all = alone
            .iter()
            .filter(|r| r.pricing == policy && r.objective == "cost");
        all.map(|r| (r.chosen_workers, r.chosen_batch)).collect()
    };
    assert_ne!(choices("paper-fixed"), choices("paper-memory"));
}

#[test]
fn neighbours_that_share_a_search_may_choose_otherwise() {
    let scenario = scenario(SCENARIO);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let records = in_turn(&plan, |number| number);
    let differ = (records.chunks(plan.cases_per_simulation() as usize)).filter(|block| {
        let first = &block[0];
        assert!(block.iter().all(|record| {
            (record.workload, record.strategy, record.replica)
                == (first.workload, first.strategy, first.replica)
        }));
        (block.iter()).any(|record| record.chosen_workers != first.chosen_workers)
    });
    assert!(differ.count() > 20);
}

#[test]
fn a_summary_goes_by_workload_policy_objective_and_strategy() {
    let scenario = scenario(SCENARIO);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let mut summary = Summary::default();
    let take = |record: &Record<'_>| -> io::Result<()> { summary.push_record(record) };
    (in_turn(&plan, |number| number).iter())
        .try_for_each(take)
        .expect("it is in memory");
    let groups = summary.finish_usual();
    let found: Vec<[&str; 4]> = (groups.iter())
        .map(|g| [&*g.workload, &*g.pricing, &*g.objective, &*g.strategy])
        .collect();
    let mut expected = Vec::new();
    for (workload, _) in scenario.workloads() {
        for policy in &scenario.policies {
            for objective in &scenario.objectives {
                for strategy in &scenario.strategies {
                    expected.push([
                        &*workload.name,
                        &*policy.name,
                        objective.name(),
                        &**strategy,
                    ]);
                }
            }
        }
    }
    assert_eq!(found, expected);
    assert!(groups.iter().all(|g| g.tallied.cases == scenario.replicas));
}

/// On real runs without randomness a search without draws is made once for all replicas, one with draws in each; with
/// repeated runs every replica has its own.
#[test]
fn what_has_no_luck_is_searched_once_and_comes_out_as_if_alone() {
    let of = |limits: &str| {
        format!(
            "grid = \"scout\"\njobs = [\"lr_huge_spark\", \"kmeans_bigdata_spark15\"]\nseed = 4\nreplicas = 4\n{limits}\n\
             [search]\nrepeats = [1, 10]\nstrategies = [\"oracle\", \"clairvoyant\", \"cheapest\", \"cheapest@3\", \
             \"random@3\", \"cherrypick@4\", \"value-of-information\", \"average-best\", \
             \"collaborative-filtering\", \"rgpe\"]\n"
        )
    };
    for limits in ["", "limits.max_time_h = 0.5"] {
        let scenario = scenario(&of(limits));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let alone: Vec<Record<'_>> = (0..plan.cases())
            .map(|number| Evaluator::new(&plan).evaluate(plan.case(number)))
            .collect();
        assert_eq!(in_turn(&plan, |number| number), alone);
        let last = plan.cases() - 1;
        assert_eq!(in_turn(&plan, |number| last - number), alone);
        let differ = |strategy: &str| {
            let of_strategy = || alone.iter().filter(|r| r.strategy == strategy);
            of_strategy().any(|a| {
                of_strategy().any(|b| {
                    (a.workload, a.setting, a.objective) == (b.workload, b.setting, b.objective)
                        && a.search_time_h != b.search_time_h
                })
            })
        };
        assert!(differ("random@3") && !differ("value-of-information"));
    }
}
