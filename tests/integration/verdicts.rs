//! `run` runs everything that `check` accepts: both read a scenario in one way, and a plan can be made of every accepted one.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;
use scavsim::cluster::World;
use scavsim::engine::Parallelism;
use scavsim::experiment::{Evaluator, Plan};
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::{self, Overrides, Scenario};
use scavsim::training::barrier_waits::BarrierWaits;

use crate::sandbox::{Sandbox, repository, stderr};

/// The scenario in `text`, or what is wrong with it.
fn load(text: &str, folder: &Path) -> Result<Scenario, String> {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("scenario.toml", text);
    let loaded = scenario::load(&source, folder, Overrides::default(), &mut diagnostics);
    loaded.ok_or_else(|| diagnostics.render(false))
}

/// Fails unless a plan can be made of an accepted scenario, with everything that its cases need.
fn plans(scenario: &Scenario, text: &str) {
    let setup = &scenario.runs_in[0].setup;
    if setup.spot.is_some() || setup.elastic.is_some() {
        // Expectations are means over runs, which are slow and cannot fail.
        for (workload, configurations) in scenario.workloads() {
            let reach = setup.reach(
                &scenario.clusters().expect("clusters").reach,
                configurations,
            );
            let variation = &scenario.runs_in[0].variation;
            let waits = BarrierWaits::new(variation, configurations);
            let terms = (variation, &waits, setup);
            let world = World::by(Parallelism::One, workload, configurations, &reach, terms);
            if let Err(why) = world {
                panic!("passed, and then refused: {}\n{text}", why[0]);
            }
        }
        return;
    }
    let plan = match Plan::new(scenario) {
        Ok(plan) => plan,
        Err(why) => panic!("passed, and then refused: {why}\n{text}"),
    };
    // Arenas of many VM types differ only in their figures: some of them represent all.
    let step = plan.arena_count().div_ceil(20);
    for index in (0..plan.arena_count()).step_by(step) {
        if let Err(why) = plan.arena(index) {
            panic!("passed, and then refused: {why}\n{text}");
        }
    }
}

fn shipped() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in [
        "scenarios",
        "data/papers/scavenger",
        "data/papers/icac19",
        "data/papers/hpdc20",
    ] {
        for entry in std::fs::read_dir(repository().join(folder)).expect("it is checked in") {
            let path = entry.expect("it is readable").path();
            let is_paper = path.ends_with("paper.toml");
            if path.extension().is_some_and(|e| e == "toml") && !is_paper {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

/// Files that belong to a paper are refused by both, and all others run.
#[test]
fn every_shipped_scenario_that_is_passed_can_be_planned() {
    let mut passed = 0;
    for path in shipped() {
        let text = std::fs::read_to_string(&path).expect("it is readable");
        let folder = path.parent().expect("it has one");
        match load(&text, folder) {
            Ok(scenario) => {
                passed += 1;
                plans(&scenario, &path.display().to_string());
            }
            Err(why) => assert!(why.contains("this file is not a scenario"), "{why}"),
        }
    }
    assert!(passed >= 14, "{passed}");
}

#[test]
fn a_cluster_that_only_follows_the_price_needs_no_other_sizes() {
    let scenario = "workloads = [\"scavenger-resnet18\"]\ncluster = { pairs = [[8, 768]], start_up_s = 0 }\n\
        search = { strategies = [\"oracle\"], objectives = [\"time\"] }\n\
        [elastic]\nprices = [[0, 1], [2, 0.4], [4, 1.0]]\ngrow_at = 0.5\nmost_vms = 16\n\
        shrink_above = 0.9\nfewest_vms = 8\n";
    let loses_nothing = "[spot]\nexponential_mean_h = 1e9\nfewest_workers = 8\non_loss = \"go-on\"\ncold_join_s = 0\n";
    let cost = |text: &str| {
        let scenario = load(text, Path::new(".")).unwrap_or_else(|why| panic!("{why}"));
        let plan = Plan::new(&scenario).expect("it was passed");
        let record = Evaluator::new(&plan).evaluate(plan.case(0)).into_owned();
        (record.time_h, record.cost_usd)
    };
    let (time_h, cost_usd) = cost(scenario);
    assert_eq!(
        cost(&format!("{scenario}{loses_nothing}")),
        (time_h, cost_usd)
    );
    // By hand: 2 h with 8 workers, 2 h with 16, the rest with 8 again, 60 s for each change.
    assert!(
        (time_h.expect("it ends") - 7.893092).abs() < 1e-6,
        "{time_h:?}"
    );
    assert!(
        (cost_usd.expect("it ends") - 10.606978).abs() < 1e-6,
        "{cost_usd:?}"
    );
}

#[test]
fn what_cannot_be_built_is_refused_by_both_with_its_place() {
    let two = "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"oracle\"]\n\
        vm.slow = { like = \"e2-standard-4\", compute_scale = 9 }\n";
    for (rest, place, why) in [
        (
            "[kind.k]\nmix = { e2-standard-4 = 4, slow = 4 }\nbatching = \"static\"\n\
             [cluster]\nvm = [\"k\"]\nbatch = [1024]\n",
            "scenario.toml:4:7",
            "cannot be built",
        ),
        (
            "cluster.pairs = [[16, 1024]]\n[elastic]\nprices = [[0, 1], [2, 0.4]]\ngrow_at = 0.5\n\
             most_vms = 24\nshrink_above = 1.2\nfewest_vms = 8\n",
            "scenario.toml:5:1",
            "lower `elastic.most_vms`",
        ),
        (
            "cluster.pairs = [[16, 1024]]\n[elastic]\nprices = [[0, 1], [2, 0.4]]\ngrow_at = 0.5\n\
             most_vms = 20\nshrink_above = 1.2\nfewest_vms = 4\n",
            "scenario.toml:5:1",
            "raise `elastic.fewest_vms`",
        ),
    ] {
        let sandbox = Sandbox::with(&format!("{two}{rest}"));
        let told = [&["check", "scenario.toml"][..], &["run", "scenario.toml"]]
            .map(|arguments| stderr(&sandbox.run(arguments).code(2).stdout("")));
        assert_eq!(told[0], told[1]);
        assert!(told[0].contains(place), "{}", told[0]);
        assert!(told[0].contains(why), "{}", told[0]);
    }
}

/// Training needs no noise, especially not of one worker: it is 1 by definition.
#[test]
fn a_cluster_may_shrink_to_sizes_of_unknown_noise() {
    let sandbox = Sandbox::new();
    sandbox.workload("mine");
    // Steps from one worker on; epochs from 8, which `keep-batch` uses for any number of workers.
    let steps = sandbox.read("mine/steps.csv");
    let row = |line: &str, workers| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[1] = workers;
        cells.join(",")
    };
    let mut more = String::new();
    // No line leads from one VM to several: two workers are measured, too.
    for line in steps.lines().filter(|l| l.starts_with("e2-standard-4,8,")) {
        for workers in ["1", "2"] {
            writeln!(more, "{}", row(line, workers)).expect("a string takes all");
        }
    }
    sandbox.write("mine/steps.csv", &format!("{steps}{more}"));
    let epochs = sandbox.read("mine/epochs.csv");
    let mut more = String::new();
    for line in epochs.lines().filter(|l| l.starts_with("8,")) {
        writeln!(more, "1{}", &line[1..]).expect("a string takes all");
    }
    sandbox.write("mine/epochs.csv", &format!("{epochs}{more}"));
    sandbox.write(
        "scenario.toml",
        "workloads = [\"./mine\"]\ncluster.pairs = [[8, 768]]\nsearch.strategies = [\"oracle\"]\n\
         [spot]\nexponential_mean_h = 100\non_loss = \"shrink\"\n",
    );
    sandbox.run(&["check", "scenario.toml"]).success();
    sandbox.run(&["run", "scenario.toml"]).success();
}

/// A value that occurs nowhere in the shipped scenarios.
fn odd_value() -> impl Strategy<Value = String> {
    select(vec![
        "[]",
        "[[]]",
        "{}",
        "\"\"",
        "0",
        "1",
        "-1",
        "2",
        "7",
        "16",
        "1e-9",
        "0.5",
        "1e9",
        "1e300",
        "nan",
        "inf",
        "true",
        "[1]",
        "[1, 1]",
        "[8, 16]",
        "[0.5, 2]",
        "[[8, 512]]",
        "[[8, 512, 3]]",
        "[\"oracle\"]",
        "\"e2-standard-4\"",
        "\"measured\"",
        "\"shrink\"",
        "\"go-on\"",
        "\"each-vm\"",
        "\"extrapolate\"",
        "\"leave-out\"",
        "\"keep-local-batch\"",
        "\"event\"",
        "{ from = 1, to = 9 }",
        "[[0, 1], [1, 0.3]]",
        "9223372036854775807",
        "4294967295",
        "2026-01-01",
    ])
    .prop_map(str::to_owned)
}

/// Replaces values of shipped scenarios, and leaves out whole lines.
fn a_mutant() -> impl Strategy<Value = (PathBuf, String)> {
    let line = (any::<prop::sample::Index>(), prop::option::of(odd_value()));
    let small = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default();
        name != "gpu-catalogue" && name != "thousands"
    };
    let files: Vec<PathBuf> = shipped().into_iter().filter(small).collect();
    (select(files), prop::collection::vec(line, 1..4)).prop_map(|(path, changes)| {
        let text = std::fs::read_to_string(&path).expect("it is readable");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (at, value) in changes {
            let line = at.get(&lines).clone();
            let index = at.index(lines.len());
            lines[index] = match (line.split_once(" = "), value) {
                (Some((key, _)), Some(value)) => format!("{key} = {value}"),
                _ => String::new(),
            };
        }
        (path, lines.join("\n"))
    })
}

/// Clusters of all kinds, possible or not.
fn a_life() -> impl Strategy<Value = String> {
    let count = || select(vec![1u32, 2, 3, 4, 7, 8, 9, 12, 16, 20, 21, 40]);
    let pair = (count(), select(vec![1u32, 64, 384, 512, 700, 1024, 1025]));
    let sync = select(vec![
        "\"bsp\"",
        "{ backup = { spare = 2 } }",
        "{ ssp = { slack = 3 } }",
        "{ asp = { servers = 1, service_s = 0.01 } }",
        "{ flexible = { after_s = 1 } }",
        "{ speculative = { quantile = 0.9, spare = 1 } }",
        "{ local-sgd = { period = 4 } }",
    ]);
    let batching = select(vec!["\"uniform\"", "\"static\"", "{ dynamic = {} }"]);
    let mix = select(vec![
        (2u32, 6u32),
        (4, 4),
        (8, 8),
        (15, 1),
        (10, 10),
        (1, 2),
        (20, 5),
    ]);
    let kind = (mix, batching, any::<bool>(), any::<bool>());
    let spot = (
        select(vec!["wait", "go-on", "shrink"]),
        count(),
        select(vec!["exponential_mean_h = 5", "lifetime = \"gcp-2019\""]),
    );
    let elastic = (count(), count());
    (
        prop::collection::vec(pair, 1..3),
        prop::option::of(sync),
        prop::option::of(kind),
        prop::option::of(spot),
        prop::option::of(elastic),
        select(vec!["refuse", "leave-out", "extrapolate"]),
        prop::option::of(select(vec!["keep-batch", "keep-local-batch"])),
    )
        .prop_map(|(pairs, sync, kind, spot, elastic, outside, resize)| {
            let pairs: Vec<[u32; 2]> = pairs.into_iter().map(|(k, b)| [k, b]).collect();
            let mut text = String::from(
                "workloads = [\"scavenger-resnet18\"]\n\
                 search = { strategies = [\"oracle\", \"partial\"], objectives = [\"time\"] }\n\
                 vm.slow = { like = \"e2-standard-4\", compute_scale = 3 }\n",
            );
            let mut line = |key: &str, value: String| {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{key} = {value}");
            };
            match &kind {
                Some(_) => line("cluster.batch", format!("[{}]", pairs[0][1])),
                None => line("cluster.pairs", format!("{pairs:?}")),
            }
            line("cluster.outside", format!("{outside:?}"));
            if let Some(resize) = resize {
                line("cluster.resize", format!("{resize:?}"));
            }
            if let Some(sync) = sync {
                line("sync", sync.to_owned());
            }
            if let Some(((one, other), batching, market, servers)) = kind {
                let market = if market { "spot" } else { "on-demand" };
                let servers = if servers {", servers = { vm = \"e2-standard-4\", vms = 2 }"} else {""};
                line(
                    "kind.k",
                    format!(
                        "{{ mix = {{ e2-standard-4 = {one}, slow = {other} }}, batching = {batching}, \
                         market = {market:?}{servers} }}"
                    ),
                );
            }
            if let Some((on_loss, fewest, life)) = spot {
                line(
                    "spot",
                    format!("{{ {life}, on_loss = {on_loss:?}, fewest_workers = {fewest} }}"),
                );
            }
            if let Some((most, fewest)) = elastic {
                line(
                    "elastic",
                    format!(
                        "{{ prices = [[0, 1], [1, 0.3], [2, 1]], grow_at = 0.5, shrink_above = 0.9, \
                         most_vms = {most}, fewest_vms = {fewest} }}"
                    ),
                );
            }
            text
        })
}

/// More configurations than this are not planned here.
const MOST: usize = 2_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 32, ..ProptestConfig::default() })]

    #[test]
    fn random_clusters_that_are_passed_can_be_planned(text in a_life()) {
        if let Ok(scenario) = load(&text, Path::new(".")) {
            plans(&scenario, &text);
        }
    }

    #[test]
    fn altered_scenarios_panic_nowhere_and_those_that_are_passed_can_be_planned((path, text) in a_mutant()) {
        let folder = path.parent().expect("it has one");
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let Ok(scenario) = load(&text, folder) else { return };
            let configurations: usize = scenario.workloads().iter().map(|w| w.1.len()).sum();
            if configurations < MOST {
                plans(&scenario, &text);
            }
        }));
        prop_assert!(outcome.is_ok(), "panicked on {}\n{text}", path.display());
    }
}

/// Otherwise the test above would show nothing.
#[test]
fn the_generator_makes_both_sound_and_unsound_clusters() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut passed = 0;
    for _ in 0..100 {
        let text = a_life()
            .new_tree(&mut runner)
            .expect("there is one")
            .current();
        passed += usize::from(load(&text, Path::new(".")).is_ok());
    }
    assert!((5..95).contains(&passed), "{passed}");
}
