//! Answers of a workload outside its measurements: scaled VM types, laws, memory, and a noise scale over training.

use scavsim::cluster::World;
use scavsim::configuration::Configuration;
use scavsim::experiment::Plan;
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::{self, Overrides, Scenario};
use scavsim::search::{Forecast, Past, WorkloadFacts};
use scavsim::space::Space;
use scavsim::testbed::{History, JobTrial, Length, Metered, SimulatedCluster, Terms};
use scavsim::training::Fidelity;
use scavsim::units::SimTime;
use scavsim::workload::law::goodput;
use scavsim::workload::{Provenance, Reach, Workload};

use crate::sandbox::Sandbox;

const WORKLOAD: &str = r#"
name = "small"
model = "m"
data_set = "d"
target = "t"
citation = "c"
accuracy = "a"
licence = "l"
step_measured = "barrier"
[constants]
samples_per_epoch = { value = 10000, origin = "stated", source = "s" }
cold_start_steps = { value = 10, origin = "stated", source = "s" }
probe_steps = { value = 5, origin = "stated", source = "s" }
restore_s = { value = 1, origin = "stated", source = "s" }
worker_memory_gib = { value = 16, origin = "stated", source = "s" }
[laws.steps.gpu]
compute.affine = { base_s = 0.1, per_sample_s = 0.01 }
communication.linear = { base_s = 0.05, per_worker_s = 0.02 }
overlap.p-norm = { exponent = 2 }
[laws.epochs]
goodput = { initial_batch = 40, target_progress = 2000 }
"#;

const STEPS: &str = "vm,workers,batch,step_s,communication_s,origin,source
gpu,1,10,0.2,,measured,s
gpu,1,40,0.5,,measured,s
gpu,4,40,0.3,0.1,measured,s
gpu,4,160,0.55,0.05,measured,s
gpu/4,4,40,0.25,0.05,measured,s
gpu/4,8,80,0.35,0.15,measured,s
gpu/1-3,4,40,0.31,0.1,measured,s
";

const EPOCHS: &str = "batch,epochs,origin,source
10,7,measured,s
40,8,measured,s
160,10,measured,s
";

const PHI: &str = "batch,progress,noise_scale_samples,origin,source
40,1000,20,measured,s
40,2000,2000,measured,s
160,1000,80,measured,s
160,2000,2000,measured,s
";

/// A sandbox with the workload `small` in a folder.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("small")).expect("the sandbox is writable");
    sandbox.write("small/workload.toml", WORKLOAD);
    sandbox.write("small/steps.csv", STEPS);
    sandbox.write("small/epochs.csv", EPOCHS);
    sandbox.write("small/phi.csv", PHI);
    sandbox
}

fn load(sandbox: &Sandbox, text: &str) -> Result<Scenario, String> {
    let mut diagnostics = Diagnostics::default();
    let prices = "pricing.policies = [\"paper-fixed\"]\n";
    let source = Source::new(
        "test.toml",
        format!("workloads = [\"./small\"]\n{prices}{text}"),
    );
    scenario::load(
        &source,
        &sandbox.path("."),
        Overrides::default(),
        &mut diagnostics,
    )
    .ok_or_else(|| diagnostics.render(false))
}

fn scenario(text: &str) -> Scenario {
    load(&sandbox(), text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn workload() -> Workload {
    scenario("cluster.outside = \"leave-out\"").workloads()[0]
        .0
        .clone()
}

fn at(vm: &str, workers: u32, batch: u32) -> Configuration {
    Configuration {
        vm: vm.into(),
        workers,
        batch,
    }
}

#[test]
fn by_default_every_measured_point_with_an_even_placement_is_there() {
    let scenario = scenario("cluster.outside = \"leave-out\"");
    let all = &scenario.workloads()[0].1;
    // 80 samples are between the measured batches of φ and epochs; a single worker needs no φ.
    assert_eq!(all.len(), 6, "{all:?}");
    assert!(all.contains(&at("gpu/4", 8, 80)) && !all.contains(&at("gpu/1-3", 4, 40)));
    let uneven = self::scenario("cluster.vm = [\"gpu/1-3\"]");
    assert_eq!(uneven.workloads()[0].1, [at("gpu/1-3", 4, 40)]);
}

#[test]
fn every_vm_of_a_placement_is_paid_for_once() {
    let scenario = scenario(
        "cluster.vm = [\"gpu/4\", \"gpu/1-3\", \"gpu\"]\ncluster.outside = \"leave-out\"\n\
         search.strategies = [\"oracle\"]",
    );
    let plan = Plan::new(&scenario).expect("a plan");
    let vms = |vm: &str, workers: u32| {
        let truths = &plan
            .arena(0)
            .expect("an arena")
            .world()
            .expect("simulated")
            .truths;
        let truth = (truths.iter())
            .find(|t| &*t.configuration.vm == vm && t.configuration.workers == workers);
        truth
            .expect("measured")
            .vm_counts()
            .map(|(_, vms)| vms)
            .sum::<u32>()
    };
    assert_eq!(vms("gpu/4", 8), 2);
    assert_eq!(vms("gpu/1-3", 4), 2);
    assert_eq!(vms("gpu", 4), 4);
    // One type of VM, for any use.
    assert_eq!(
        plan.arena(0)
            .expect("an arena")
            .world()
            .expect("simulated")
            .vms
            .len(),
        1
    );
}

#[test]
fn a_stand_in_scales_what_was_measured_and_says_so() {
    let scenario = scenario(
        "cluster.vm = [\"slow/4\"]\n\
         vm.slow = { like = \"gpu\", compute_scale = 2, network_scale = 3 }",
    );
    let (workload, configurations) = &scenario.workloads()[0];
    assert_eq!(*configurations, [at("slow/4", 4, 40), at("slow/4", 8, 80)]);
    let replay = workload
        .replay(
            &configurations[0],
            &scenario.clusters().expect("clusters").reach,
        )
        .expect("it stands in");
    assert!((replay.step.compute_s - 0.4).abs() < 1e-12);
    assert!((replay.step.communication_s - 0.15).abs() < 1e-12);
    assert_eq!(replay.epochs, 8.0);
    assert_eq!(replay.provenance, Provenance::Extrapolated);
}

#[test]
fn several_values_make_a_type_for_each_combination() {
    let scenario = scenario(
        "cluster.vm = [\"grid/4\"]\n\
         vm.grid = { like = \"gpu\", compute_scale = [1, 2], network_scale = { from = 1, to = 4, factor = 2 } }",
    );
    let vms: Vec<&str> = (scenario.workloads()[0].1.iter()).map(|c| &*c.vm).collect();
    assert_eq!(vms.len(), 12);
    assert!(vms.contains(&"grid compute 2 network 4/4"), "{vms:?}");
}

#[test]
fn outside_the_hull_the_law_answers_when_it_may() {
    let beyond = "cluster.vm = [\"gpu\"]\ncluster.pairs = [[8, 320]]\n";
    let refused = load(&sandbox(), beyond).expect_err("outside the hull");
    assert!(refused.contains("was not measured around"), "{refused}");
    let scenario = scenario(&format!("{beyond}cluster.outside = \"extrapolate\""));
    let (workload, configurations) = &scenario.workloads()[0];
    let replay = workload
        .replay(
            &configurations[0],
            &scenario.clusters().expect("clusters").reach,
        )
        .expect("by law");
    // By law, times measured/law at the edge: four workers with as many samples each.
    let by_law = |k: f64| f64::hypot(0.1 + 0.01 * 40.0, 0.05 + 0.02 * k);
    let expected = by_law(8.0) * 0.55 / by_law(4.0);
    assert!((replay.step.total_s() / expected - 1.0).abs() < 1e-12);
    // Above the largest batch its φ is constant; 10 epochs were measured there.
    let epochs = |b: f64| b * goodput::steps(40.0, b, [(1000.0, 80.0), (2000.0, 2000.0)]);
    let expected = epochs(320.0) * 10.0 / epochs(160.0);
    assert!((replay.epochs / expected - 1.0).abs() < 1e-12);
    assert_eq!(replay.provenance, Provenance::Extrapolated);
}

#[test]
fn a_measured_point_is_exact_and_a_point_between_is_not_called_measured() {
    let workload = workload();
    let replay = |at: &Configuration| workload.replay(at, &Reach::default()).expect("inside");
    let measured = replay(&at("gpu", 4, 160));
    assert_eq!((measured.step.total_s(), measured.epochs), (0.55, 10.0));
    assert_eq!(measured.provenance, Provenance::Measured);
    // Its step was measured, its epochs were not.
    assert_eq!(
        replay(&at("gpu/4", 8, 80)).provenance,
        Provenance::Interpolated
    );
}

#[test]
fn memory_limits_the_local_batch() {
    let sizes = |memory: &str| {
        let text = format!(
            "cluster.vm = [\"small-memory\"]\ncluster.workers = [4]\ncluster.local_batch = [10, 20, 40]\n\
             vm.small-memory = {{ like = \"gpu\", memory_gib = {memory} }}"
        );
        let scenario = load(&sandbox(), &text)?;
        Ok::<Vec<u32>, String>(scenario.workloads()[0].1.iter().map(|c| c.batch).collect())
    };
    assert_eq!(sizes("16"), Ok(vec![40, 80, 160]));
    assert_eq!(sizes("8"), Ok(vec![40, 80]));
    assert!(sizes("1").is_err_and(|wrong| wrong.contains("leaves no configuration")));
}

#[test]
fn local_batches_multiply_with_the_workers() {
    let scenario = scenario(
        "cluster.vm = [\"gpu\"]\ncluster.workers = [1, 4]\ncluster.local_batch = [10, 40]\n\
         cluster.outside = \"leave-out\"",
    );
    let pairs: Vec<(u32, u32)> = (scenario.workloads()[0].1.iter())
        .map(|c| (c.workers, c.batch))
        .collect();
    // The noise scale was measured from 40 samples on, which a single worker does not need.
    assert_eq!(pairs, [(1, 10), (1, 40), (4, 40), (4, 160)]);
    let one = load(
        &sandbox(),
        "cluster.vm = [\"gpu\"]\ncluster.pairs = [[1, 10]]",
    );
    assert!(one.is_ok_and(|one| one.subject.left_out().is_empty()));
}

/// Steps at φ ≪ B earn little: after the steps that bring B = 160 half-way, B = 40 is half-way too.
#[test]
fn progress_is_what_configurations_share() {
    let workload = workload();
    let configurations = [at("gpu", 4, 40), at("gpu", 4, 160)];
    let world = World::new(
        &workload,
        &configurations,
        &Reach::default(),
        &scavsim::training::Variation::default(),
    )
    .expect("inside the hull");
    let large = &world.truths[1];
    let early = goodput::steps(40.0, 160.0, [(1000.0, 80.0)]);
    let late = goodput::steps(40.0, 160.0, [(1000.0, 2000.0)]);
    let half = early / (early + late);
    assert!(half > 0.6, "{half}");
    assert!((large.steps_at(0.5) - half).abs() < 1e-12);
    assert!((large.progress_after(0.0, half) - 0.5).abs() < 1e-12);

    let plan = Plan::new(&scenario(
        "cluster.vm = [\"gpu\"]\ncluster.outside = \"leave-out\"\n\
                                    search.strategies = [\"oracle\"]",
    ))
    .expect("a plan");
    let mut cluster = SimulatedCluster::new(
        &world,
        &Terms {
            streams: plan.terms.streams,
            fidelity: Fidelity::Fast,
            start_up: SimTime::ZERO,
            interrupt: scavsim::Interrupt::default(),
        },
    );
    cluster.restart(0);
    let steps = (large.steps_to_target * half).round();
    cluster
        .probe(1, Length::Steps(steps as u64))
        .expect("half-way");
    let before = cluster.run_to_target(0).expect("a run");
    // Half of all steps at B = 40 are left: its steps make equal progress, with any φ.
    let rest = (before.net_end - before.search_end).seconds() / world.truths[0].expected_step_s;
    let all = world.truths[0].steps_to_target;
    assert!((rest / all - 0.5).abs() < 0.01, "{rest} of {all}");
}

#[test]
fn strategies_work_from_a_noise_scale() {
    let scenario = scenario(
        "cluster.vm = [\"gpu\"]\ncluster.outside = \"leave-out\"\nvariation.noise_curve = true",
    );
    let (workload, configurations) = &scenario.workloads()[0];
    let own = History::from_workload(workload, &scenario.clusters().expect("clusters").reach);
    let space = Space::of_clusters(configurations);
    let task = WorkloadFacts::from_workload(workload).task(&workload.name, &space);
    let mut past = Past::new(&own, std::slice::from_ref(&own));
    let recipe = scenario.registry.recipe("full", &scenario.settings);
    let strategy =
        (recipe.expect("a strategy").build(&task, &mut past)).expect("the workload suffices");
    let world = World::new(
        workload,
        configurations,
        &scenario.clusters().expect("clusters").reach,
        &scenario.runs_in[0].variation,
    )
    .expect("inside the hull");
    let streams = scavsim::rng::Streams::new(1);
    let mut cluster = SimulatedCluster::new(
        &world,
        &Terms {
            streams,
            fidelity: Fidelity::Fast,
            start_up: SimTime::ZERO,
            interrupt: scavsim::Interrupt::default(),
        },
    );
    cluster.restart(0);
    let mut forecast = Forecast::default();
    forecast.reset(configurations.len());
    let mut stream = streams.stream(0, scavsim::rng::Purpose::Trial(0));
    strategy
        .search(
            &task,
            &mut Metered::new(&mut cluster, space.len(), None),
            &mut stream,
            &mut forecast,
        )
        .expect("a search");
    assert!(forecast.time_s.iter().all(Option::is_some), "{forecast:?}");
}

/// A separate cluster per VM type: each has its own oracle, and none sees the other's VMs.
#[test]
fn every_vm_type_may_be_searched_by_itself() {
    let text = "replicas = 2\ncluster.vm = [\"grid/4\"]\ncluster.search = \"each-vm\"\n\
                vm.grid = { like = \"gpu\", compute_scale = { from = 1, to = 20, step = 1 } }\n\
                search.strategies = [\"oracle\", \"full\"]\nsearch.objectives = [\"time\"]";
    let scenario = scenario(text);
    let mut plan = Plan::new(&scenario).expect("a plan");
    assert_eq!(plan.arena_count(), 20);
    assert_eq!(plan.cases(), 20 * 2 * 2);
    assert_eq!(scenario.cases(), plan.cases());
    let record = |plan: &Plan, number: u64| {
        let mut evaluator = scavsim::experiment::Evaluator::new(plan);
        let record = evaluator.evaluate(plan.case(number));
        (record.oracle_vm.map(str::to_owned), record.time_h)
    };
    let before: Vec<_> = (0..plan.cases()).map(|n| record(&plan, n)).collect();
    assert_eq!(before[0].0.as_deref(), Some("grid compute 1/4"));
    assert_eq!(before[79].0.as_deref(), Some("grid compute 20/4"));
    // A dropped arena is made again, and equal.
    plan.forget_before(20);
    assert_eq!(record(&plan, 79), before[79]);
    let together = self::scenario(&text.replace("each-vm", "all"));
    assert_eq!(Plan::new(&together).expect("a plan").arena_count(), 1);
}
