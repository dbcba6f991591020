//! Limits that a share of runs may miss: compared with log-normal theory, with fresh runs, for the oracle and for strategies
//! that predict a mean.

use scavsim::experiment::{Evaluator, Plan, SearchProblem};
use scavsim::scenario::Scenario;
use scavsim::stats::normal;
use scavsim::testbed::{JobTrial, Point, SimulatedCluster};
use scavsim::usage::Usage;

use crate::live::tiny;
use crate::replay::scenario;
use crate::sandbox::{Rows, Sandbox};

/// ResNet18 with run times that are log-normal with this σ and no other randomness: the whole step varies by placement.
const SIGMA: f64 = 0.1;

fn placed(rest: &str) -> Scenario {
    scenario(&format!(
        "workloads = [\"scavenger-resnet18\"]\nvariation.placement_sigma = {SIGMA}\n{rest}"
    ))
}

fn plan(scenario: &Scenario) -> Plan {
    Plan::new(scenario).expect("a checked scenario")
}

fn arena(plan: &Plan) -> &SearchProblem {
    plan.arena(0).expect("an arena")
}

/// The share of runs with this mean that exceed `most`.
fn share_beyond(most: f64, mean: f64) -> f64 {
    1.0 - normal::cdf((most / mean).ln() / SIGMA + 0.5 * SIGMA)
}

/// Quantile over mean that this share exceeds.
fn margin(share: f64) -> f64 {
    (SIGMA * normal::upper_quantile(share) - 0.5 * SIGMA * SIGMA).exp()
}

const ORACLE: &str = "search = { strategies = [\"oracle\"], objectives = [\"cost\"] }\n";

/// The expectations of all configurations, the cheapest first.
fn by_cost() -> Vec<(usize, Point)> {
    let plan = plan(&placed(ORACLE));
    let mut points: Vec<(usize, Point)> = arena(&plan).all_expected(0).enumerate().collect();
    points.sort_by(|a, b| a.1.cost_usd.total_cmp(&b.1.cost_usd));
    points
}

/// The oracle's choice under a limit in seconds, and the share of its fresh runs that miss it.
fn choice(max_time_s: f64, max_miss: Option<f64>, replicas: u64) -> (usize, f64) {
    let miss = max_miss.map_or(String::new(), |m| format!("limits.max_miss = {m}\n"));
    let plan = plan(&placed(&format!(
        "replicas = {replicas}\nlimits.max_time_h = {}\n{miss}{ORACLE}",
        max_time_s / 3600.0
    )));
    let mut evaluator = Evaluator::new(&plan);
    let missed = (0..plan.cases())
        .filter(|number| {
            let record = evaluator.evaluate(plan.case(*number));
            record.kept_choice.expect("there is a limit") == 0.0
        })
        .count();
    let choice = arena(&plan).oracle[0][0].expect("something is within the limit");
    (choice, missed as f64 / replicas as f64)
}

#[test]
fn what_misses_a_limit_in_a_quarter_of_its_runs_is_chosen_only_where_that_may_be() {
    let all = by_cost();
    let (cheapest, point) = all[0];
    let limit = point.time_s * margin(0.25);
    assert!(
        limit > point.time_s,
        "it is within the limit in expectation"
    );
    let (expected, missed) = choice(limit, None, 2_000);
    assert_eq!(expected, cheapest);
    assert!((missed - 0.25).abs() < 4.0 * (0.25 * 0.75 / 2_000f64).sqrt());
    assert_eq!(choice(limit, Some(0.3), 1).0, cheapest);

    // The next one misses it rarely enough in theory; none of those before is close.
    let misses = |point: &Point| share_beyond(limit, point.time_s);
    let next = all.iter().find(|(_, point)| misses(point) <= 0.05);
    let &(next, _) = next.expect("there are faster ones");
    assert_ne!(next, cheapest);
    assert!(
        all.iter()
            .all(|(_, point)| !(0.04..0.06).contains(&misses(point)))
    );
    let (chosen, missed) = choice(limit, Some(0.05), 2_000);
    assert_eq!(chosen, next);
    assert!(
        missed <= 0.05 + 4.0 * (0.05 * 0.95 / 2_000f64).sqrt(),
        "{missed}"
    );
}

/// Limits of all heights, so that some configuration is always close: the share of misses of an allowed one is at most the
/// given share plus 2.6 standard errors of 10,000 runs.
#[test]
fn what_the_oracle_chooses_misses_no_more_often_than_it_may() {
    let all = by_cost();
    let slowest = all
        .iter()
        .map(|(_, point)| point.time_s)
        .fold(0.0, f64::max);
    let (mut checked, mut near) = (0, 0);
    for share in [0.02, 0.05, 0.2] {
        for step in 0..12 {
            let limit = slowest * margin(share) * 0.93f64.powi(step);
            let Some(chosen) = std::panic::catch_unwind(|| choice(limit, Some(share), 1).0).ok()
            else {
                continue;
            };
            let point = arena_point(&all, chosen);
            let own = share_beyond(limit, point.time_s);
            let error = (share * (1.0 - share) / 10_000.0).sqrt();
            assert!(own <= share + 2.6 * error, "{share}: {own} at {limit} s");
            // A cheaper one that misses rarely enough would have been chosen.
            for (at, other) in &all {
                let missed = share_beyond(limit, other.time_s);
                let is_cheaper = other.cost_usd < point.cost_usd;
                assert!(
                    !is_cheaper || missed > share - 2.6 * error,
                    "{at} for {chosen}"
                );
                near += u32::from((missed - share).abs() < 0.5 * share);
            }
            checked += 1;
        }
    }
    assert!(checked > 20 && near > 5, "{checked} {near}");
}

fn arena_point(all: &[(usize, Point)], wanted: usize) -> Point {
    let found = all.iter().find(|(at, _)| *at == wanted);
    found.expect("it is one of them").1
}

#[test]
fn the_margin_is_the_quantile_over_the_mean() {
    for share in [0.05, 0.25, 0.5] {
        let plan = plan(&placed(&format!(
            "limits = {{ max_time_h = 10, max_miss = {share} }}\n{ORACLE}"
        )));
        let arena = arena(&plan);
        let spread = arena.spread.as_ref().expect("a share may miss");
        let z = normal::upper_quantile(share);
        for at in 0..arena.space.len() {
            let (time, cost) = (spread.time[at], spread.cost[0][at]);
            // The error of a quantile of this many values.
            let hours = time * arena.expected(0, at).time_s / 3600.0;
            let runs = if hours > 10.0 / 1.5 { 1_000.0 } else { 200.0 };
            let error = SIGMA * (share * (1.0 - share) / runs).sqrt() / normal::density(z);
            let off = (time / margin(share)).ln() / error;
            assert!(off.abs() < 4.0, "{share}: {time} is {off} errors off");
            // The bill is proportional to the time.
            assert!((cost / time - 1.0).abs() < 1e-9, "{cost} {time}");
        }
    }
}

#[test]
fn without_variation_a_share_that_may_miss_changes_nothing() {
    let records = |max_miss: &str| {
        let plan = plan(&scenario(&format!(
            "workloads = [\"scavenger-resnet18\"]\nlimits = {{ max_cost_usd = 9.6, max_time_h = 9{max_miss} }}\n\
             search.strategies = [\"oracle\", \"full\", \"partial\", \"same-job\", \"coordinate-descent\"]\n"
        )));
        let arena = arena(&plan);
        assert_eq!(arena.spread.is_some(), !max_miss.is_empty());
        if let Some(spread) = &arena.spread {
            assert!(spread.time.iter().chain(&spread.cost[0]).all(|q| *q == 1.0));
        }
        let mut evaluator = Evaluator::new(&plan);
        (0..plan.cases())
            .map(|number| format!("{:?}", evaluator.evaluate(plan.case(number))))
            .collect::<Vec<_>>()
    };
    assert_eq!(records(""), records(", max_miss = 0.05"));
}

/// A strategy's predicted time, times the margin of the configuration, is compared with the limit: the choice is the cheapest
/// within it.
#[test]
fn strategies_choose_by_their_own_mean_and_the_public_margin() {
    let limited = |max_miss: &str| {
        placed(&format!(
            "replicas = 40\nvariation.noise_cv = 0.1\nlimits = {{ max_time_h = 6{max_miss} }}\n\
             search = {{ strategies = [\"full\", \"partial\", \"same-job\"], objectives = [\"cost\"] }}\n"
        ))
    };
    let mut moved = 0;
    let (usual, strict) = (plan(&limited("")), plan(&limited(", max_miss = 0.05")));
    let spread = arena(&strict).spread.as_ref().expect("a share may miss");
    let (mut usually, mut strictly) = (Evaluator::new(&usual), Evaluator::new(&strict));
    let mut usage = Usage::default();
    for number in 0..strict.cases() {
        let case = strict.case(number);
        let chosen = |record: &scavsim::experiment::Record<'_>| {
            (record.chosen_workers.zip(record.chosen_batch)).expect("something is within")
        };
        let before = chosen(&usually.evaluate(case));
        let own = chosen(&strictly.evaluate(case));
        let arena = arena(&strict);
        let mut best: Option<(f64, f64, usize)> = None;
        for (at, time_s) in strictly.forecast().time_s.iter().enumerate() {
            let Some(time_s) = *time_s else { continue };
            if time_s * spread.time[at] > 6.0 * 3600.0 {
                continue;
            }
            arena.ground.plan_usage(at, time_s, &mut usage);
            let rank = (arena.tariffs[0].bill_usd(&usage), time_s, at);
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        let (_, _, at) = best.expect("something is within");
        let wanted = arena.space.workers(at).zip(arena.space.batch(at));
        assert_eq!(Some(own), wanted, "case {number}");
        moved += u32::from(own != before);
    }
    assert!(moved > 20, "the margin moved {moved} choices");
}

/// A strategy that knows the limits and decides itself also observes the margin.
#[test]
fn who_decides_while_searching_is_told_the_margin() {
    let text = |max_miss: &str| {
        format!(
            "replicas = 100\nlimits = {{ max_time_h = 6{max_miss} }}\n\
             search = {{ strategies = [\"coordinate-descent\"], objectives = [\"cost\"] }}\n"
        )
    };
    let plan_of = |max_miss: &str| plan(&placed(&text(max_miss)));
    let (usual, strict) = (plan_of(""), plan_of(", max_miss = 0.05"));
    let (mut beyond, mut decided) = (0, 0);
    for (plan, is_strict) in [(&usual, false), (&strict, true)] {
        let mut evaluator = Evaluator::new(plan);
        for number in 0..plan.cases() {
            let record = evaluator.evaluate(plan.case(number));
            let forecast = evaluator.forecast();
            // If none of its observations is within the limit, it decides nothing.
            let Some(at) = forecast.decided else { continue };
            decided += 1;
            let time_s = forecast.time_s[at].expect("it was probed");
            let spread = arena(&strict).spread.as_ref().expect("a share may miss");
            let is_beyond = time_s * spread.time[at] > 6.0 * 3600.0;
            assert!(!is_beyond || !is_strict, "{record:?}");
            beyond += u32::from(is_beyond);
        }
    }
    assert!(beyond > 10 && decided > 50, "{beyond} of {decided}");
}

/// On VMs that are lost, without checkpoints: few runs dominate the mean, and a limit that one run in ten misses is far from
/// both. The oracle's share is that of other runs.
#[test]
fn losses_of_vms_count_as_they_come() {
    let text = |max_miss: f64, hours: f64| {
        scenario(&format!(
            "workloads = [\"scavenger-resnet18\"]\ncluster = {{ pairs = [[16, 1024]], start_up_s = 87 }}\n\
             spot = {{ lifetime = \"gcp-2019-highcpu-32\", checkpoint = \"none\" }}\n\
             limits = {{ max_time_h = {hours}, max_miss = {max_miss} }}\n{ORACLE}"
        ))
    };
    let plan = plan(&text(0.1, 40.0));
    let own = arena(&plan);
    let mut cluster = SimulatedCluster::new(own.world().expect("simulated"), &plan.terms);
    let runs = 4_000;
    let mut times: Vec<f64> = (0..runs)
        .map(|replica| {
            cluster.restart(replica);
            cluster.run_to_target(0).expect("no stall").net_end.hours()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let place = |share: f64| times[(runs as f64 * (1.0 - share)) as usize];
    let (rarely, often) = (place(0.07), place(0.13));
    assert!(rarely > 1.5 * often, "{rarely} h, {often} h: no tail");
    for (limit, is_within) in [(rarely, true), (often, false)] {
        let plan = self::plan(&text(0.1, limit));
        assert_eq!(arena(&plan).oracle[0][0].is_some(), is_within, "{limit} h");
    }
    // The quantile over the mean, within the effect of a tenth more or fewer misses.
    let spread = own.spread.as_ref().expect("a share may miss");
    let hours = spread.time[0] * own.expected(0, 0).time_s / 3600.0;
    assert!(
        (often..rarely).contains(&hours),
        "{hours} h: {often} to {rarely}"
    );
}

/// If every worker-step is an event there may be few runs, and this is reported.
#[test]
fn few_runs_are_told() {
    let few = |sync: &str| {
        let plan = plan(&tiny(&format!(
            "cluster.vm = [\"slow\"]\ncluster.workers = [2]\nvariation.step_cv = 0.3\n{sync}\
             limits = {{ max_time_h = 2, max_miss = 0.1 }}\n"
        )));
        let runs = plan.few_runs();
        runs.into_iter()
            .map(|(arena, runs)| (plan.workload(arena).to_owned(), runs))
            .collect::<Vec<_>>()
    };
    assert_eq!(few(""), []);
    assert_eq!(
        // Without slack no pace can be measured beforehand.
        few("sync = { ssp = { slack = 0 } }\n"),
        [("tiny".to_owned(), 100)]
    );
}

/// Runs of a grid are drawn; a configuration that misses the limit in one draw of three is left out.
#[test]
fn repeats_of_a_measured_grid_miss_as_often_as_they_are_dealt() {
    let chosen = |limits: &str| {
        let sandbox = Sandbox::with(&format!(
            "grid = \"./g\"\nreplicas = 3\nsearch = {{ strategies = [\"oracle\"], objectives = [\"cost\"] }}\n{limits}"
        ));
        std::fs::create_dir(sandbox.path("g")).expect("the sandbox is writable");
        sandbox.write(
            "g/grid.toml",
            "name = \"g\"\ntitle = \"t\"\nsource = \"s\"\nurl = \"u\"\nlicence = \"l\"\nnote = \"n\"\n\
             cost_usd = \"usd\"\nrepeats = true\n[axis.workers]\nkind = \"numeric\"\nunit = \"workers\"\n\
             [figures]\ntime_s = \"time_s\"\n[probe]\ncharge = \"whole\"\n",
        );
        // One worker needs 3,000 s in the mean, and 3,700 s in one run of three.
        sandbox.write(
            "g/rows.csv",
            "workers,time_s,usd\n1,2600,1\n1,2700,1\n1,3700,1\n2,2000,2\n2,2100,2\n",
        );
        sandbox
            .run(&["run", "scenario.toml", "--out", "o"])
            .success();
        let records = Rows::parse(&sandbox.read("o/records.csv"));
        let workers = records
            .iter()
            .map(|row| row.text("chosen_workers").to_owned());
        workers.collect::<Vec<_>>()
    };
    assert_eq!(chosen("limits.max_time_h = 0.9\n"), ["1"; 3]);
    for (share, workers) in [(0.05, "2"), (0.25, "2"), (0.45, "1")] {
        let limits = format!("limits = {{ max_time_h = 0.9, max_miss = {share} }}\n");
        assert_eq!(chosen(&limits), [workers; 3], "{share}");
    }
}
