//! Workers of any size, core shares that change, protocols by workload, state larger than memory: compared with arithmetic.

use std::collections::BTreeMap;
use std::path::Path;

use scavsim::cluster::World;
use scavsim::configuration::Configuration;
use scavsim::experiment::Plan;
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::{self, Overrides, Scenario};
use scavsim::stats::Welford;
use scavsim::testbed::{Environment, JobTrial, Length, SimulatedCluster, Terms};
use scavsim::training::Fidelity;
use scavsim::usage::{Phase, Usage};

use crate::bad_input::{refused, refused_workload, resnet18};
use crate::live::vm_seconds;
use crate::sandbox::{Rows, Sandbox};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/data");

/// The workload `cores`: 18,000 steps of 128 samples, 1 ms for each on `cores-4`; above a knee 2 ms. A step needs 80 ms more,
/// times the share of their time that workers wait for the slowest. Restores need 10 s.
fn load(rest: &str) -> Result<Scenario, String> {
    let text = format!(
        "workloads = [\"./cores\"]\nsearch.strategies = [\"oracle\"]\nsearch.objectives = [\"time\"]\n\
         pricing.policies = [\"paper-fixed\"]\nvm.one = {{ like = \"cores-4\", size = 1 }}\nvm.twin = {{ like = \"cores-4\" }}\n\
         vm.full = {{ like = \"cores-4\", knee = 32 }}\n\
         [cluster]\noutside = \"extrapolate\"\nworkers = [2]\nbatch = [128]\n{rest}"
    );
    let mut wrong = Diagnostics::default();
    let source = Source::new("test.toml", &*text);
    scenario::load(&source, Path::new(FOLDER), Overrides::default(), &mut wrong)
        .ok_or_else(|| wrong.render(false))
}

/// Seconds of the first configuration in a number of replicas, and those spent on settling and restores.
fn runs(scenario: &Scenario, fidelity: Fidelity, replicas: u64) -> (Welford, Welford) {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    let terms = Terms {
        fidelity,
        ..plan.terms.clone()
    };
    let mut cluster = SimulatedCluster::new(world, &terms);
    let (mut times, mut settling) = (Welford::default(), Welford::default());
    for replica in 0..replicas {
        cluster.restart(replica);
        let line = cluster.run_to_target(0).expect("it ends");
        let mut usage = Usage::default();
        cluster.usage_until(line.net_end, &mut usage);
        let vms = f64::from(world.truths[0].configuration.workers);
        times.add(line.net_end.seconds());
        settling.add(vm_seconds(&usage, Phase::Restoring) / vms);
    }
    (times, settling)
}

fn one(rest: &str, fidelity: Fidelity) -> (f64, f64) {
    let scenario = load(rest).unwrap_or_else(|wrong| panic!("{wrong}"));
    let (times, settling) = runs(&scenario, fidelity, 1);
    (times.mean(), settling.mean())
}

fn close(found: f64, expected: f64, within: f64) {
    let off = found / expected - 1.0;
    assert!(off.abs() < within, "{found} instead of {expected}");
}

const BOTH: [Fidelity; 2] = [Fidelity::Fast, Fidelity::Event];

#[test]
fn a_vm_type_has_a_size_of_its_own_under_the_law_of_the_measured_one() {
    for fidelity in BOTH {
        let of = |kind: &str| one(&format!("[kind.k]\n{kind}"), fidelity).0;
        close(of("vm = \"cores-4\""), 18_000.0 * 0.064, 1e-6);
        // 64 ms and 256 ms: 3/8 of the time of both is waiting.
        let uniform = of("mix = { cores-4 = 1, one = 1 }");
        close(uniform, 18_000.0 * 0.286, 1e-6);
        // 102.4 and 25.6 samples, up to rounding of batches.
        let proportional = of("mix = { cores-4 = 1, one = 1 }\nbatching = \"static\"");
        close(proportional, 18_000.0 * 0.1024, 0.01);
        // By cores, which is equal under a law that depends only on them.
        let by_size = of("mix = { cores-4 = 1, one = 1 }\nbatching = \"by-size\"");
        assert_eq!(by_size, proportional);
        // 32 samples at 1 ms, and 32 at 2 ms.
        close(of("vm = \"full\""), 18_000.0 * 0.096, 1e-6);
    }
}

/// After 360 s, in which 5,625 of the 18,000 steps were done, one of two equal workers keeps a quarter of its cores.
#[test]
fn what_is_available_changes_while_workers_train_and_only_a_controller_follows() {
    let of = |batching: &str, fidelity| {
        let kind = "mix = { cores-4 = 1, twin = 1 }\navailability = { twin = [[0.1, 0.25]] }";
        one(&format!("[kind.k]\n{kind}\n{batching}"), fidelity)
    };
    for fidelity in BOTH {
        let stuck = 360.0 + 12_375.0 * 0.286;
        for batching in ["", "batching = \"uniform\"", "batching = \"static\""] {
            let (end, settling) = of(batching, fidelity);
            close(end, stuck, 1e-3);
            assert_eq!(settling, 0.0, "{batching}");
        }
        let (end, settling) = of("batching = { dynamic = {} }", fidelity);
        // One or two changes of 10 s, and 50 steps or more that need 0.256 s instead of 0.1024 s.
        assert!((15.0..50.0).contains(&settling), "{settling}");
        close(end - settling, 360.0 + 12_375.0 * 0.1024, 0.05);
    }
}

/// It returns to its former value: a controller settles twice, and fixed batches stay unchanged.
#[test]
fn what_was_taken_comes_back() {
    let of = |batching: &str| {
        let kind = "mix = { cores-4 = 1, twin = 1 }\n\
                    availability = { twin = [[0.1, 0.25], [0.2, 1]] }";
        one(&format!("[kind.k]\n{kind}\n{batching}"), Fidelity::Fast)
    };
    // 360 s at 64 ms, 360 s at 286 ms, the rest at 64 ms.
    let rest = 18_000.0 - 360.0 / 0.064 - 360.0 / 0.286;
    close(of("").0, 720.0 + rest * 0.064, 1e-3);
    let (_, settling) = of("batching = { dynamic = {} }");
    assert!((25.0..60.0).contains(&settling), "{settling}");
}

#[test]
fn without_a_law_by_size_compute_takes_as_long_as_cores_are_missing() {
    for (share, factor) in [(0.5, 2.0), (0.25, 4.0)] {
        let text = format!(
            "cluster.workers = [2]\nkind.k = {{ vm = \"slow\", availability = {{ slow = [[0, {share}]] }} }}\n"
        );
        let (times, _) = runs(&crate::live::tiny(&text), Fidelity::Fast, 1);
        close(times.mean(), 18_000.0 * 0.2 * factor, 1e-6);
    }
}

/// VMs are also lost: all sizes have their levels, and both fidelities agree.
#[test]
fn losses_and_shares_go_together() {
    let text = "[kind.k]\nvm = \"cores-4\"\nmarket = \"spot\"\navailability = { cores-4 = [[0.2, 0.5], [0.5, 0.8]] }\n\
                [spot]\nexponential_mean_h = 0.5\non_loss = \"go-on\"\nkeeps = \"steps\"\nreplacement_s = 60\n";
    let scenario = load(text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let [fast, event] = BOTH.map(|fidelity| runs(&scenario, fidelity, 60).0);
    // 720 s at 64 ms and the rest at 128 ms would be 1584 s without a loss.
    assert!(fast.mean() > 1584.0, "{}", fast.mean());
    close(fast.mean(), event.mean(), 1e-3);
}

/// Two equal VMs of which one is randomly slower: equal batches wait for the slowest, a controller gives it fewer samples.
#[test]
fn a_controller_sees_the_luck_of_machines() {
    let of = |batching: &str| {
        let text = format!("[variation]\nvm_sigma = 0.3\n[kind.k]\nvm = \"cores-4\"\n{batching}");
        let scenario = load(&text).unwrap_or_else(|wrong| panic!("{wrong}"));
        runs(&scenario, Fidelity::Fast, 300)
    };
    let (uniform, none) = of("");
    let (dynamic, settling) = of("batching = { dynamic = {} }");
    assert_eq!(none.mean(), 0.0);
    assert!(settling.mean() > 5.0, "{}", settling.mean());
    // The slowest of two needs 1 + 0.56·0.3 in the mean; the harmonic mean is below 1.
    let gain = dynamic.mean() / uniform.mean();
    assert!((0.75..0.93).contains(&gain), "{gain}");
    let (fixed, _) = of("batching = \"static\"");
    close(fixed.mean(), uniform.mean(), 1e-9);
}

#[test]
fn workloads_have_protocols_of_their_own() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\", \"scavenger-resnet50\"]\nstaleness.per_missed_batch = 0\n\
         search.strategies = [\"oracle\"]\nsearch.objectives = [\"time\"]\n\
         cluster.workers = [8]\ncluster.batch = [512]\n[sync_of]\nscavenger-resnet50 = { asp = { service_s = 0 } }\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    for row in rows.iter() {
        let stale = row.number("staleness");
        match row.text("workload") {
            "scavenger-resnet50" => close(stale, 7.0 / 8.0, 0.01),
            _ => assert_eq!(stale, 0.0),
        }
    }
    assert_eq!(rows.len(), 2);
}

/// The measurements had the largest local batch of the table in 16 GB: half of the memory holds half of it.
#[test]
fn memory_limits_the_batches_of_the_scavenger_workloads() {
    for (workload, largest) in [
        ("scavenger-resnet18", 128.0),
        ("scavenger-resnet50", 128.0),
        ("scavenger-transformer", 160.0),
    ] {
        let text = format!(
            "workloads = [\"{workload}\"]\nvm.half = {{ like = \"e2-standard-4\", memory_gib = 8 }}\ncluster.vm = [\"half\"]\n"
        );
        let all = super::replay::scenario(&format!("workloads = [\"{workload}\"]\n"));
        let most = |scenario: &Scenario| {
            let configurations = scenario.workloads()[0].1.iter();
            configurations.map(|c| c.local_batch()).fold(0.0, f64::max)
        };
        let whole = most(&all);
        let half = most(&super::replay::scenario(&text));
        assert!(
            whole <= largest && half <= 0.5 * whole && half > 0.25 * whole,
            "{workload}: {half} of {whole}"
        );
    }
}

fn told(said: &str, all: &[&str]) {
    // Line breaks are not tested here.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in all {
        assert!(said.contains(words), "no `{words}` in\n{said}");
    }
}

#[test]
fn what_no_world_has_is_refused_with_its_place() {
    let sizes = "[vm.a]\nlike = \"e2-standard-4\"\nsize = 9\nknee = 0\n[vm.b]\nlike = \"e2-standard-4\"\nknee = 5\n";
    let said = refused(&resnet18(sizes));
    told(&said, &["scenario.toml:5", "a number from 10^-9 to 10^9"]);
    let said = refused(&resnet18(&sizes.replace("knee = 0\n", "")));
    told(
        &said,
        &[
            "scenario.toml:4",
            "scenario.toml:7",
            "`size`: no law of `scavenger-resnet18` says how the time on `e2-standard-4` goes with it",
            "`knee`: no law of `scavenger-resnet18`",
            "`compute_scale` here",
        ],
    );
    let shares = "[kind.k]\nvm = \"e2-standard-4\"\n[kind.k.availability]\ne2-standard-8 = [[0, 1]]\n\
                  e2-standard-4 = [[2, 1], [1, 0.5]]\n[sync_of]\nscavenger-resnet50 = \"bsp\"\n";
    told(
        &refused(&resnet18(shares)),
        &[
            "scenario.toml:5",
            "`e2-standard-8` is no VM type of this kind of cluster",
            "did you mean `e2-standard-4`?",
            "scenario.toml:6",
            "rising",
            "scenario.toml:8",
            "`scavenger-resnet50` is no workload here",
        ],
    );
    let sized = "[kind.k]\nvm = \"e2-standard-4\"\nbatching = \"by-size\"\n";
    told(
        &refused(&resnet18(sized)),
        &[
            "scenario.toml:3",
            "`scavenger-resnet18` says no size of a worker on `e2-standard-4`",
        ],
    );
    let none = "[kind.k]\nvm = \"e2-standard-4\"\navailability = { e2-standard-4 = [[0, 0]] }\n";
    told(
        &refused(&resnet18(none)),
        &["scenario.toml:4", "a number above 0 and at most 1"],
    );
    told(
        &refused(&resnet18(&none.replace("[0, 0]", ""))),
        &["scenario.toml:4", "does not go on in time"],
    );
}

#[test]
fn laws_and_state_that_are_not_possible_are_refused_with_their_place() {
    let mine = |more: &'static str| {
        refused_workload(move |sandbox| {
            let head = sandbox.read("mine/workload.toml");
            sandbox.write("mine/workload.toml", &format!("{head}\n{more}"));
        })
    };
    let state =
        "[out_of_core]\nstate_gb = 100\npartitions = 8\nin_memory = 16\ndisk_mb_per_s = 400\n";
    told(
        &mine(state),
        &[
            "mine/workload.toml",
            "`out_of_core` is invalid",
            "at most `partitions`, 8",
        ],
    );
    let one = "[out_of_core]\nstate_gb = 100\npartitions = 8\nin_memory = 1\ndisk_mb_per_s = 400\n";
    told(&mine(one), &["at least 2"]);
    let slow = "[out_of_core]\nstate_gb = 100\npartitions = 8\nin_memory = 4\ndisk_mb_per_s = 0\n";
    told(&mine(slow), &["a number from 10^-9 to 10^9"]);
    let law = "[laws.steps.e2-standard-4]\ncommunication.linear = { base_s = 0, per_worker_s = 0 }\n\
               compute.worker = { size = 4, law = { sample_s = 0.1, speed = \"linear\", beyond_knee = 0.5 } }\n";
    told(&mine(law), &["a number from 1 to 1000"]);
}

/// Hours of each cluster of a scenario, by its kind.
fn hours_by_kind(scenario: &str) -> BTreeMap<String, f64> {
    let sandbox = Sandbox::with(scenario);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    (rows.iter())
        .map(|row| (row.text("chosen_vm").to_owned(), row.number("time_h")))
        .collect()
}

/// A scenario that includes the shipped one of mixed workers.
fn unequal_workers(rest: &str) -> String {
    let shipped = crate::sandbox::repository().join("scenarios/unequal-workers.toml");
    format!("include = {shipped:?}\n{rest}")
}

/// The shipped workload has the law fitted to the times of the paper.
#[test]
fn the_scenario_of_unequal_workers_is_the_paper_in_its_file() {
    let sandbox = Sandbox::new();
    let paper = crate::sandbox::repository_file("data/papers/acsos20/paper.toml");
    // Its constants name rows that are not used here.
    let (paper, _) = paper.split_once("[[constants]]").expect("it has constants");
    sandbox.write("paper/paper.toml", paper);
    let cells = [
        ("h1", "h1", "uniform"),
        ("h2", "h2", "uniform"),
        ("h2-by-size", "h2", "variable"),
        ("h6", "h6", "uniform"),
        ("h6-by-size", "h6", "variable"),
        ("h10", "h10", "uniform"),
        ("h10-by-size", "h10", "variable"),
    ];
    let mut figures =
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n".to_owned();
    let hours = hours_by_kind(&unequal_workers(""));
    for (kind, cluster, batching) in cells {
        // A scenario's batches are whole samples, for which workers with a barrier need up to half a percent.
        figures += &format!(
            "{kind},\"unequal_time_s(resnet50, {cluster}, {batching}) / 3600\",{},h,0.005,relative,figure,self\n",
            hours[kind]
        );
    }
    sandbox.write("paper/figures.csv", &figures);
    let said = sandbox.run(&["reproduce", "paper"]).success();
    let said = String::from_utf8_lossy(&said.get_output().stdout).into_owned();
    assert!(!said.contains("OUTSIDE"), "{said}");
    assert!(hours["h10-dynamic"] < 0.6 * hours["h10"]);
}

/// Workers that differ a little more need a little longer: losing a share of the smallest one's cores costs at most four
/// times that share of the time, anywhere.
#[test]
fn no_small_change_of_the_cores_makes_a_large_one_of_the_time() {
    let mut text = String::new();
    let mut names = Vec::new();
    let steps: Vec<f64> = (0..=44).map(|i| 0.25 * f64::from(i)).collect();
    let policies = ["uniform", "by-size", "static"];
    for (i, off) in steps.iter().enumerate() {
        let (low, high) = (13.0 - off, 13.0 + off);
        text += &format!(
            "[vm.low-{i}]\nlike = \"xeon-13\"\nsize = {low}\n[vm.high-{i}]\nlike = \"xeon-13\"\nsize = {high}\n"
        );
        for policy in policies {
            text += &format!(
                "[kind.{policy}-{i}]\nmix = {{ low-{i} = 1, xeon-13 = 1, high-{i} = 1 }}\nbatching = \"{policy}\"\n"
            );
            names.push(format!("{policy}-{i}"));
        }
    }
    let hours = hours_by_kind(&unequal_workers(&format!("cluster.vm = {names:?}\n{text}")));
    for policy in policies {
        for (i, pair) in steps.windows(2).enumerate() {
            let [before, after] = [i, i + 1].map(|i| hours[&format!("{policy}-{i}")]);
            let cores = (pair[1] - pair[0]) / (13.0 - pair[1]);
            let time = (after / before - 1.0).abs();
            assert!(
                time < 4.0 * cores,
                "{policy}: {before} h and {after} h with {} and {} cores",
                13.0 - pair[0],
                13.0 - pair[1]
            );
        }
    }
}

/// With very many configurations truths are computed on demand: each equals its value among few.
#[test]
fn a_configuration_is_the_same_among_very_many_as_among_few() {
    let text = r#"
        workloads = ["scavenger-transformer"]
        search = { strategies = ["oracle", "partial"], objectives = ["time"] }
        variation = { step_cv = 0.05, placement_sigma = 0.03, epoch_cv = 0.02 }
        vm.own = { like = "e2-standard-4", compute_scale = [0.5, 1.0, 2.0] }
        [cluster]
        vm = ["own"]
        workers = { from = 8, to = 20, step = 1 }
        batch = { from = 512, to = 1280, step = 1 }
    "#;
    let scenario = super::replay::scenario(text);
    let (workload, all) = &scenario.workloads()[0];
    assert_eq!(all.len(), 3 * 13 * 769);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let arena = plan.arena(0).expect("an arena");
    let many = arena.world().expect("simulated");
    // Expectations of all, and their costs, need none; whether anything may happen needs one.
    assert_eq!(many.truths.made(), 1);
    let places: Vec<usize> = (0..all.len()).step_by(1_009).collect();
    let some: Vec<Configuration> = places.iter().map(|at| all[*at].clone()).collect();
    let reach = &scenario.clusters().expect("clusters").reach;
    let few = &World::new(workload, &some, reach, &many.variation).expect("inside");
    assert!(many.truths.brief(0).is_some() && few.truths.brief(0).is_none());
    assert_eq!(many.vms, few.vms);
    let mut runs = [many, few].map(|world| SimulatedCluster::new(world, &plan.terms));
    for (own, at) in places.into_iter().enumerate() {
        assert_eq!(many.expected_time_s(at), few.expected_time_s(own));
        let mut usage = [Usage::default(), Usage::default()];
        many.plan_usage(at, 100.0, &mut usage[0]);
        few.plan_usage(own, 100.0, &mut usage[1]);
        assert_eq!(format!("{:?}", usage[0]), format!("{:?}", usage[1]));
        let usd = |world: &World, at: usize| {
            world.plan_usd(at, 100.0, &arena.tariffs[0], &mut Usage::default())
        };
        assert_eq!(usd(many, at), usd(few, own));
        let told = |world: &World, at: usize| format!("{:?}", world.truths[at]);
        assert_eq!(told(many, at), told(few, own));
        let mut end = |which: usize, at: usize| {
            runs[which].restart(3);
            runs[which].run_to_target(at).expect("it ends").net_end
        };
        assert_eq!(end(0, at), end(1, own));
    }
}

/// Strategies of a replica share their probes: what one sees does not depend on who asked before, from what moment, or how long.
#[test]
fn a_probe_is_the_same_whoever_probed_before() {
    let text = r#"
        workloads = ["scavenger-resnet18"]
        variation = { step_cv = 0.3, placement_sigma = 0.1, noise_cv = 0.2 }
        search.strategies = ["full"]
    "#;
    let scenario = super::replay::scenario(text);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    let see = |cluster: &mut SimulatedCluster<'_>, probes: &[(usize, u64)]| {
        cluster.restart(3);
        let seen = probes.iter().map(|&(at, steps)| {
            let seen = cluster.probe(at, Length::Steps(steps)).expect("it ends");
            format!("{seen:?} until {:?}", cluster.now())
        });
        let seen: Vec<String> = seen.collect();
        let run = cluster.run_to_target(0).expect("it ends");
        (seen, format!("{run:?}"))
    };
    let mut shared = SimulatedCluster::new(world, &plan.terms);
    let all = world.truths.len();
    for probes in [
        (0..all).map(|at| (at, 100)).collect::<Vec<_>>(),
        (0..all).rev().map(|at| (at, 100)).collect(),
        (0..all).map(|at| (at, 90)).collect(),
        vec![(2, 100), (2, 100), (2, 100), (1, 1_000_000), (0, 100)],
        vec![(1, 1_000_000), (2, 90), (2, 100), (0, 100)],
    ] {
        let mut fresh = SimulatedCluster::new(world, &plan.terms);
        assert_eq!(see(&mut shared, &probes), see(&mut fresh, &probes));
    }
}
