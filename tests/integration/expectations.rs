//! Expectations from simulated runs: compared with many runs, with themselves, and their precision.

use proptest::prelude::*;
use scavsim::engine::{Interrupt, Parallelism};
use scavsim::experiment::{Evaluator, Plan, SearchProblem};
use scavsim::scenario::Scenario;
use scavsim::search::{Objective, Point};
use scavsim::stats::Welford;
use scavsim::testbed::{JobTrial, SimulatedCluster, Terms};
use scavsim::training::Fidelity;
use scavsim::usage::Usage;

use crate::replay::scenario;
use crate::sandbox::{Sandbox, stderr};

/// ResNet18 with batch 1024 on preemptible VMs with the lifetimes of highcpu-32, without checkpoints unless `rest` sets them.
fn preemptible(seed: u64, cluster: &str, rest: &str) -> Scenario {
    let checkpoint = if rest.contains("checkpoint =") {
        ""
    } else {
        ", checkpoint = \"none\""
    };
    scenario(&format!(
        "seed = {seed}\nworkloads = [\"scavenger-resnet18\"]\ncluster = {{ {cluster}, start_up_s = 87 }}\n\
         spot = {{ lifetime = \"gcp-2019-highcpu-32\"{rest}{checkpoint} }}\n\
         pricing.policies = [\"gcp-2020-e2-preemptible\"]\n\
         search = {{ strategies = [\"oracle\"], objectives = [\"time\", \"cost\"] }}"
    ))
}

/// 700,000 runs: 26.02 h ± 0.12 h. Twelve seeds.
#[test]
fn a_long_tail_is_known_within_two_percent_for_every_seed() {
    for seed in 1..=12 {
        let scenario = preemptible(seed, "pairs = [[16, 1024]]", "");
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let arena = plan.arena(0).expect("an arena");
        let hours = arena.expected(0, 0).time_s / 3600.0;
        assert!((hours / 26.02 - 1.0).abs() < 0.02, "seed {seed}: {hours} h");
        let known = arena.precision[0].expect("it is valued");
        assert!(known.error <= 0.007 && !known.is_cut_short, "{known:?}");
        // Outlines replace nearly all of them.
        assert!(known.runs < 2_000, "{known:?}");
    }
}

/// 700,000 runs each: 14 workers cost $16.61 ± 0.08, 11 cost 6.5 % and 10 cost 15 % more.
#[test]
fn the_cheapest_size_is_found_for_every_seed() {
    for seed in 1..=6 {
        let text = "workers = [10, 11, 14], batch = [1024]";
        let plan = Plan::new(&preemptible(seed, text, "")).expect("a checked scenario");
        let oracle = plan.arena(0).expect("an arena").oracle[0][1];
        assert_eq!(oracle, Some(2), "seed {seed}");
    }
}

/// Under a limit that nothing breaks, all configurations are run as often as those that may be chosen.
#[test]
fn what_few_runs_beat_is_no_choice_and_is_valued_like_all_others() {
    let workers = "workers = [8, 12, 16], batch = [512, 768, 1024]";
    let mut scenario = preemptible(3, workers, ", checkpoint = \"young-daly\"");
    scenario.objectives = vec![Objective::Knee];
    let screened = Plan::new(&scenario).expect("a checked scenario");
    scenario.limits.max_cost_usd = Some(1e9);
    let all = Plan::new(&scenario).expect("a checked scenario");
    let [screened, all] = [&screened, &all].map(|plan| plan.arena(0).expect("an arena"));
    let beaten = |of: &SearchProblem| of.precision.iter().filter(|known| known.is_none()).count();
    assert!(beaten(screened) >= 2 && beaten(all) == 0);
    assert_eq!(screened.oracle, all.oracle);
    assert!(screened.all_expected(0).eq(all.all_expected(0)));
}

/// Nothing varies, so a formula applies: the time of a run includes its start-up once, also in a bill, a choice, a limit and a ranking.
#[test]
fn the_start_up_is_expected_once() {
    let with = |start_up_s: f64, rest: &str| {
        scenario(&format!(
            "workloads = [\"scavenger-resnet18\"]\ncluster = {{ pairs = [[8, 768], [12, 1024]], start_up_s = {start_up_s:?} }}\n\
             pricing = {{ policies = [\"ten-cents\"], define = {{ ten-cents = {{ usd_per_vm_hour = 0.1 }} }} }}\n{rest}\
             search = {{ strategies = [\"oracle\"], objectives = [\"cost\"] }}"
        ))
    };
    let (at_once, late) = (with(0.0, ""), with(36_000.0, ""));
    let (plan, late_plan) = (Plan::new(&at_once), Plan::new(&late));
    let (plan, late_plan) = (plan.expect("checked"), late_plan.expect("checked"));
    let (arena, late_arena) = (plan.arena(0), late_plan.arena(0));
    let (arena, late_arena) = (arena.expect("an arena"), late_arena.expect("an arena"));
    let points = arena.all_expected(0).zip(late_arena.all_expected(0));
    for (at, (point, late)) in points.enumerate() {
        let vms = f64::from(arena.space.workers(at).expect("workers"));
        assert!(arena.ground.facts().price_is_known, "everybody knows lists");
        assert!((late.time_s - point.time_s - 36_000.0).abs() < 1e-6);
        assert!((late.cost_usd - point.cost_usd - 0.1 * vms * 10.0).abs() < 1e-6);
        let world = late_arena.world().expect("simulated");
        let mut cluster = SimulatedCluster::new(world, &late_plan.terms);
        cluster.restart(0);
        let end = cluster.run_to_target(at).expect("no stall").net_end;
        let over = end.seconds() - late.time_s;
        // Steps are whole in both; the clock rounds each to a nanosecond.
        assert!(over.abs() < 1e-3, "{over}");
    }
    // Ten hours on 12 VMs cost more than they save over 8.
    assert_eq!(
        (arena.oracle[0][0], late_arena.oracle[0][0]),
        (Some(1), Some(0))
    );
    let least_h = late_arena
        .all_expected(0)
        .map(|p| p.time_s / 3600.0)
        .fold(f64::INFINITY, f64::min);
    let ranked = crate::ranking::ranked(&late, 1);
    assert_eq!(ranked[0].rows[0].expected, late_arena.expected(0, 0));
    for (limit_h, kept) in [(least_h - 1.0, false), (least_h + 0.1, true)] {
        let limited = with(36_000.0, &format!("limits.max_time_h = {limit_h}\n"));
        let plan = Plan::new(&limited).expect("checked");
        let arena = plan.arena(0).expect("an arena");
        assert_eq!(arena.oracle[0][0].is_some(), kept, "{limit_h}");
    }
}

/// With and without an outline, with and without checkpoints: equal to the mean of other replicas' runs, within 4 standard
/// errors of both.
#[test]
fn expectations_are_the_means_of_other_runs() {
    for (rest, runs) in [
        ("", 3_000),
        (
            ", checkpoint = \"young-daly\", checkpoint_write_s = 5",
            1_000,
        ),
        (
            ", checkpoint = { periodic-s = 1800 }, on_loss = \"go-on\", keeps = \"steps\", fewest_workers = 8",
            1_000,
        ),
    ] {
        let scenario = preemptible(5, "pairs = [[12, 1024]]", rest);
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let arena = plan.arena(0).expect("an arena");
        let world = arena.world().expect("simulated");
        let terms = Terms {
            fidelity: Fidelity::Fast,
            ..plan.terms.clone()
        };
        let mut cluster = SimulatedCluster::new(world, &terms);
        let (mut time, mut cost) = (Welford::default(), Welford::default());
        let mut usage = Usage::default();
        for replica in 0..runs {
            cluster.restart(replica);
            let end = cluster.run_to_target(0).expect("no stall").net_end;
            cluster.usage_until(end, &mut usage);
            time.add(end.seconds());
            cost.add(arena.tariffs[0].bill_usd(&usage));
        }
        let (point, known) = (
            arena.expected(0, 0),
            arena.precision[0].expect("it is valued").error,
        );
        for (seen, expected) in [(time, point.time_s), (cost, point.cost_usd)] {
            let error = (seen.variance() / runs as f64)
                .sqrt()
                .hypot(known * expected);
            let off = (seen.mean() - expected) / error;
            assert!(
                off.abs() < 4.0,
                "{rest}: {} for {expected}: {off} errors",
                seen.mean()
            );
        }
    }
}

/// On spot VMs with checkpoints: 12 seeds within three of its errors of 2 %, their mean within one, after fewer runs.
#[test]
fn a_rough_effort_is_as_right_as_it_says() {
    use scavsim::experiment::effort::Effort;
    let rest = ", checkpoint = \"young-daly\"";
    let known = |seed: u64, effort: Effort| {
        let mut scenario = preemptible(seed, "pairs = [[16, 1024]]", rest);
        scenario.effort = effort;
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let arena = plan.arena(0).expect("an arena");
        let runs = arena.precision[0].expect("it is valued").runs;
        (arena.expected(0, 0).time_s, runs)
    };
    let (right_s, usual_runs) = known(99, Effort::default());
    let mut offs = Welford::default();
    for seed in 1..=12 {
        let (time_s, runs) = known(seed, Effort::ROUGH);
        let off = time_s / right_s - 1.0;
        assert!(off.abs() < 0.06, "seed {seed}: {off:+.4}");
        assert!(runs < usual_runs, "{runs} of {usual_runs}");
        offs.add(off);
    }
    assert!(offs.mean().abs() < 0.02, "{}", offs.mean());
}

/// The choice is made by replicas that do not value it, so that no configuration is chosen for its luck.
#[test]
fn what_chooses_is_another_sample_than_what_values() {
    let scenario = preemptible(9, "pairs = [[12, 1024]]", "");
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let arena = plan.arena(0).expect("an arena");
    let question = scavsim::experiment::expectation::Question {
        objectives: &plan.objectives,
        limits: &plan.limits,
        allowed: None,
        tariffs: &arena.tariffs,
        effort: scenario.effort,
    };
    let again = scavsim::experiment::expectation::expect(
        Parallelism::One,
        &*arena.ground,
        1,
        &plan.terms,
        question,
    );
    let known = [[arena.expected(0, 0)]];
    assert_eq!(again.points, known, "the same for the same seed");
    assert_ne!(Some(&again.points), again.to_choose.as_ref());
}

/// A job whose runs scatter by 10 %, on spot VMs, so that its expectations need runs.
fn scattered(seed: u64, limit_h: Option<f64>) -> String {
    let limit = limit_h.map_or(String::new(), |h| format!("limits.max_time_h = {h:?}\n"));
    format!(
        "seed = {seed}\nworkloads = [\"scavenger-resnet18\"]\ncluster.pairs = [[16, 1024]]\n{limit}\
         spot = {{ exponential_mean_h = 6, checkpoint = {{ periodic-s = 900 }}, checkpoint_write_s = 10, on_loss = \"go-on\", \
         keeps = \"steps\", fewest_workers = 8 }}\n\
         variation.epoch_cv = 0.1\nsearch = {{ strategies = [\"oracle\"], objectives = [\"time\"] }}\n"
    )
}

/// The time of `scattered`, for each of these seeds.
fn scattered_h(seeds: std::ops::RangeInclusive<u64>) -> f64 {
    let mut hours = Welford::default();
    for seed in seeds {
        let plan = Plan::new(&scenario(&scattered(seed, None))).expect("a checked scenario");
        hours.add(plan.arena(0).expect("an arena").expected(0, 0).time_s / 3600.0);
    }
    hours.mean()
}

/// The first 64 runs have a standard error of 1.3 %, and there is no other candidate: limits 1.2 % above and below the mean
/// used to be decided wrongly in one of six seeds.
#[test]
fn a_limit_near_the_mean_is_settled_for_every_seed() {
    let hours = scattered_h(1..=24);
    for seed in 1..=24 {
        for (limit, is_kept) in [(1.012, true), (0.988, false)] {
            let scenario = scenario(&scattered(seed, Some(limit * hours)));
            let plan = Plan::new(&scenario).expect("a checked scenario");
            let arena = plan.arena(0).expect("an arena");
            assert_eq!(
                arena.oracle[0][0].is_some(),
                is_kept,
                "seed {seed}: {limit}"
            );
            assert!(
                !arena.precision[0].expect("it is valued").is_at_a_limit,
                "seed {seed}: {limit}"
            );
        }
    }
}

/// If even the most runs do not decide, the oracle and the strategies judged by it share one answer; a note and the manifest report that.
#[test]
fn a_limit_at_the_mean_is_said_to_be_open() {
    let limit_h = scattered_h(1..=24);
    let mut open = 0;
    for seed in 1..=4 {
        let scenario = scenario(&scattered(seed, Some(limit_h)));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let arena = plan.arena(0).expect("an arena");
        let is_kept = arena.oracle[0][0].is_some();
        assert_eq!(arena.allowed[0][0], is_kept);
        let record = Evaluator::new(&plan).evaluate(plan.case(0));
        assert_eq!(
            record.right,
            Some(f64::from(u8::from(is_kept))),
            "seed {seed}"
        );
        if !arena.precision[0].expect("it is valued").is_at_a_limit {
            continue;
        }
        open += 1;
        let sandbox = Sandbox::with(&scattered(seed, Some(limit_h)));
        let run = sandbox.run(&["run", "scenario.toml", "--out", "out"]);
        let said = stderr(&run.code(if is_kept { 0 } else { 3 }));
        assert!(
            said.contains("does not show whether the mean of 16 × e2-standard-4, B 1024"),
            "{said}"
        );
        assert!(sandbox.read("out/manifest.json").contains("\"at_a_limit\""));
    }
    assert!(open >= 2, "{open} of four seeds");
}

/// Eighteen arenas, two of them after those that are made at once; runs, outlines and shares of misses.
#[test]
fn what_is_expected_does_not_depend_on_the_number_of_threads() {
    let scenario = scenario(
        "workloads = [\"scavenger-resnet18\"]\n\
         cluster = { workers = [8, 16], batch = [1024] }\n\
         spot = { lifetime = \"gcp-2019-highcpu-32\", checkpoint = \"young-daly\", checkpoint_write_s = [5, 50], \
         replacement_s = [0, 30, 60, 90, 120, 150, 180, 210, 240] }\n\
         limits = { max_time_h = 20, max_miss = 0.2 }\n\
         pricing.policies = [\"gcp-2020-e2-preemptible\"]\n\
         search = { strategies = [\"oracle\", \"same-job\", \"full\"], objectives = [\"time\", \"cost\", \"knee\"] }",
    );
    let told = |jobs: usize| -> Vec<String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
        let pool = pool.expect("so many threads");
        let plan = Plan::on_threads(jobs, &scenario, &Interrupt::default());
        let plan = plan.expect("a checked scenario");
        assert!(plan.arena_count() > plan.made(), "all were made at once");
        let all = 0..plan.cases();
        pool.install(|| plan.prepare(std::slice::from_ref(&all)));
        assert_eq!(plan.arena_count() > plan.made(), jobs == 1);
        let figures = plan.arenas().map(|arena| {
            let choices = (&arena.oracle, &arena.precision, &arena.no_choice);
            let expected: Vec<Point> = arena.all_expected(0).collect();
            format!("{expected:?} {:?} {choices:?}", arena.spread)
        });
        figures.collect()
    };
    let one = told(1);
    assert_eq!(one.len(), 18);
    assert_ne!(one[0], one[1]);
    for jobs in [2, 3] {
        assert_eq!(told(jobs), one, "{jobs} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    /// What is best in a replica is never worse there than what is best in expectation.
    #[test]
    fn the_clairvoyant_is_never_beaten_by_the_oracle(
        seed in 0u64..1000, placement in 0.0f64..0.2, machines in 0.0f64..0.03, epochs in 0.0f64..0.03, spot: bool,
    ) {
        // With losses, expectations are means of runs: few clusters with little variation need few of them.
        let placement = if spot { placement / 4.0 } else { placement };
        let (workers, spot) = if spot {("workers = [16], ", "spot = { lifetime = \"gcp-2019\", checkpoint = \"young-daly\" }\n")} else {("", "")};
        let scenario = scenario(&format!(
            "seed = {seed}\nreplicas = 5\nworkloads = [\"scavenger-resnet18\"]\ncluster = {{ {workers}batch = [384, 1024] }}\n{spot}\
             variation = {{ placement_sigma = {placement}, vm_sigma = {machines}, epoch_cv = {epochs} }}\n\
             search = {{ strategies = [\"oracle\", \"clairvoyant\"], objectives = [\"time\", \"cost\"] }}"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let mut evaluator = Evaluator::new(&plan);
        let mut differs = false;
        for number in 0..plan.cases() {
            let case = plan.case(number);
            let record = evaluator.evaluate(case);
            let (own, oracles) = match record.objective {
                "time" => (record.time_h, record.oracle_time_h),
                _ => (record.cost_usd, record.oracle_cost_usd),
            };
            let (own, oracles) = (own.expect("a result"), oracles.expect("a result"));
            prop_assert!(own <= oracles, "{}: {own} above {oracles}", record.strategy);
            differs |= own < oracles;
        }
        prop_assert!(differs || !spot.is_empty() || placement < 0.1, "it knows nothing more");
    }
}

/// 8 to 20 VMs with lifetimes of 8 h each, and jobs of 4 to 9 h without checkpoints: a run would lose thousands of them. The
/// formula gives the time, and nothing is simulated; clusters that are never lost are chosen instead.
#[test]
fn what_losses_leave_no_time_to_train_is_said_at_once() {
    let text = |rest: &str| {
        format!(
            "replicas = 2\nworkloads = [\"scavenger-resnet18\"]\nspot = {{ exponential_mean_h = 8, checkpoint = \"none\" }}\n\
             pricing.policies = [\"gcp-2020-e2\"]\n{rest}\
             search = {{ strategies = [\"oracle\", \"full\"], objectives = [\"cost\"] }}"
        )
    };
    let begun = std::time::Instant::now();
    let scenario_of_spot = scenario(&text(""));
    let plan = Plan::new(&scenario_of_spot).expect("a checked scenario");
    let record = Evaluator::new(&plan).evaluate(plan.case(0));
    // e^8 attempts and more.
    let told = "no configuration reaches the target; losses leave no time to train: ";
    assert!(record.reason.starts_with(told), "{}", record.reason);
    assert!(
        record.reason.ends_with("00 h in the mean"),
        "{}",
        record.reason
    );
    let kinds = "kind.od.vm = \"e2-standard-4\"\nkind.spot = { vm = \"e2-standard-4\", market = \"spot\" }\n\
                 cluster.vm = [\"od\", \"spot\"]\n";
    let both = scenario(&text(kinds));
    let plan = Plan::new(&both).expect("a checked scenario");
    let arena = plan.arena(0).expect("an arena");
    let oracle = arena.oracle[0][0].expect("a choice");
    assert_eq!(arena.space.vm(oracle).map(|vm| &**vm), Some("od"));
    let never = (arena.all_expected(0)).filter(|point| point.time_s.is_infinite());
    assert_eq!(2 * never.count(), arena.space.len());
    // Regression: it had not finished after 500 s.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

/// If machines differ randomly, protocols that need not wait for the slowest gain, and protocols with other waits do not:
/// expectations are means of runs, also as the reference of predictions.
#[test]
fn machines_that_differ_are_expected_as_they_run() {
    for sync in [
        "{ backup = { spare = 2 } }",
        "{ local-sgd = { period = 4 } }",
        "{ asp = { service_s = 0 } }",
        "\"bsp\"",
    ] {
        let scenario = scenario(&format!(
            "fidelity = \"fast\"\nreplicas = 600\nworkloads = [\"scavenger-resnet18\"]\ncluster.pairs = [[8, 512]]\nsync = {sync}\n\
             variation = {{ vm_sigma = 0.2, step_cv = 0.3 }}\n\
             search = {{ strategies = [\"oracle\"], objectives = [\"time\"] }}"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let mut evaluator = Evaluator::new(&plan);
        let mut seen = Welford::default();
        for number in 0..plan.cases() {
            let record = evaluator.evaluate(plan.case(number));
            seen.add(record.time_h.expect("a result"));
        }
        let arena = plan.arena(0).expect("an arena");
        let start_up_s = plan.terms.start_up.seconds();
        let expected_s = arena.expected_time_s[0].expect("it ends") + start_up_s;
        assert!((expected_s - arena.expected(0, 0).time_s).abs() < 1e-6);
        let error = seen.standard_deviation() / (seen.count() as f64).sqrt();
        // The expectation itself is known to 0.7 %.
        let tolerance = 4.0 * error.hypot(0.007 * seen.mean());
        let off = expected_s / 3600.0 - seen.mean();
        assert!(off.abs() < tolerance, "{sync}: {off} of {}", seen.mean());
    }
}
