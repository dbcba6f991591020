//! Records of policies as samples: their order, also in shards, and their independence.

use super::records;
use scavsim_base::stats::Welford;
use scavsim_experiment::{Evaluator, Plan, Shard, Sink, Summary, Tasks};
use scavsim_provision::subject::MarketPolicies;
use scavsim_scenario::face::{Mistakes, OwnedRecord, Scenario};

/// Two policies in traces of 1091.9 hours.
fn parsed(deadlines_h: &str, zones: &str, spread: u32) -> Result<Scenario, Mistakes> {
    Scenario::parse(&format!(
        "job = {{ work_h = 9, deadline_h = {deadlines_h}, changeover_s = 720 }}\n\
         market = {{ traces = \"aws-v100-2023\", zones = [{zones}], each_alone = true }}\n\
         starts.spread = {spread}\n\
         policy.names = [\"greedy\", \"uniform-progress\"]\n"
    ))
}

#[test]
fn cases_come_life_by_life_and_are_the_same_in_shards() {
    let scenario = parsed("[12, 14]", "\"us-east-1f\", \"us-east-2a\"", 5).expect("it is right");
    let all = records(&scenario);
    let mut order = Vec::new();
    for setting in ["job.deadline_h=12", "job.deadline_h=14"] {
        for zone in ["us-east-1f", "us-east-2a"] {
            for life in 0..5 {
                for policy in ["greedy", "uniform-progress", "clairvoyant"] {
                    order.push((setting, zone, life, policy));
                }
            }
        }
    }
    assert_eq!(all.len(), order.len());
    for (own, expected) in all.iter().zip(order) {
        let place = (&*own.setting, &*own.workload, own.replica, &*own.strategy);
        assert_eq!(place, expected, "{}", own.case);
    }
    let plan = Plan::new(scenario.checked()).expect("it can be planned");
    let tasks = Tasks::from_plan(&plan);
    assert!(tasks.count() > 3 && tasks == Tasks::of_scenario(scenario.checked()));
    let mut seen = 0;
    for shard in (1..=3).filter_map(|index| Shard::new(index, 3)) {
        let mut evaluator = Evaluator::new(&plan);
        for number in shard.tasks(tasks).flatten() {
            let own = evaluator.evaluate(plan.case(number)).into_owned();
            assert_eq!((own.case, &own), (number, &all[number as usize]));
            seen += 1;
        }
    }
    assert_eq!(seen, all.len());
}

#[test]
fn groups_have_the_intervals_of_as_many_lives_as_are_independent() {
    let scenario = parsed("[150, 300]", "\"us-east-1f\"", 20).expect("it is right");
    let all = records(&scenario);
    let mut summary = Summary::new(None, false, Tasks::of_scenario(scenario.checked()));
    for record in &all {
        summary.push_record(&record.as_record()).expect("it is one");
    }
    let groups = summary.finish_usual();
    assert_eq!(groups.len(), 2 * 3);
    let study = MarketPolicies::study_of(&*scenario.checked().subject).expect("it has policies");
    for (at, group) in groups.iter().enumerate() {
        let sample = study.settings[at / 3].sample;
        assert_eq!(
            (sample.disjoint, (sample.independence() == 0.0)),
            [(7, false), (3, true)][at / 3]
        );
        let independent = group.tallied.independent.expect("lives overlap");
        assert!((independent - sample.effective(20)).abs() < 1e-9);
        let is_own =
            |own: &&OwnedRecord| own.setting == group.setting && own.strategy == group.strategy;
        let mut costs = Welford::default();
        (all.iter().filter(is_own)).for_each(|own| costs.add(own.cost_usd.expect("it has one")));
        let expected = costs.interval_as_of(sample.effective(20));
        let told = group.mean("cost_usd").expect("it has one").interval;
        assert_eq!(told.is_some(), !(sample.independence() == 0.0));
        for (told, expected) in told.iter().zip(&expected) {
            let off = (told.low - expected.low).abs() + (told.high - expected.high).abs();
            assert!(off < 1e-9, "{group:?}: {expected:?}");
        }
        assert_eq!(told.is_some(), expected.is_some());
    }
}

#[test]
fn settings_with_different_numbers_of_lives_are_refused() {
    let wrong = parsed("[14, 1091.8]", "\"us-east-1f\"", 4).expect_err("too few fit");
    let told: Vec<&str> = wrong.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(
        told,
        ["scenario: settings have different numbers of lives: 4 and 2"]
    );
}
