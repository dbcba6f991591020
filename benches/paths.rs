//! Wall time of the paths, one by one, to find the effect of a change.
//!
//! `cargo bench --bench paths`; a filter follows `--`. For ratios and goals see `ratios.rs`.

// The ratios use all of it.
#[allow(dead_code)]
mod reference;

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use reference::{Alone, Training};
use scavsim::experiment::{Evaluator, Plan};
use scavsim::input::{Diagnostics, Source};
use scavsim::rng::{LargestLogNormal, Streams, UnitLogNormal};
use scavsim::scenario::{self, Overrides};
use scavsim::search::Objective;
use scavsim::testbed::Timeline;
use scavsim::testbed::{JobTrial, SimulatedCluster};
use scavsim::training::Fidelity;

/// The training workload of the reference, K = 16.
fn training(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("training");
    let worker_steps = |steps: u64| Throughput::Elements(steps * u64::from(reference::WORKERS));
    let steps = 2_000;
    group.throughput(worker_steps(steps));
    let law = reference::compute();
    group.bench_function(BenchmarkId::new("by hand", steps), |b| {
        b.iter(|| reference::by_hand(&law, reference::WORKERS, black_box(steps)));
    });
    for (fidelity, steps) in [(Fidelity::Event, steps), (Fidelity::Fast, 20_000)] {
        let mut training = Training::new(reference::WORKERS, fidelity);
        group.throughput(worker_steps(steps));
        group.bench_function(BenchmarkId::new(fidelity.name(), steps), |b| {
            b.iter(|| training.run(black_box(steps)));
        });
    }
}

/// One strategy on 16 configurations, `fast`: alone (search, choice, run), and as a case of a sweep (additionally the bills,
/// the oracle's run in this replica, the record).
fn strategies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("strategy");
    for name in ["full", "partial"] {
        let plan = reference::plan(&[name], &[Objective::Time], 1_000);
        let mut replicas = (0..plan.replicas).cycle();
        let mut next = move || replicas.next().unwrap_or(0);
        let mut alone = Alone::new(&plan);
        group.bench_function(BenchmarkId::new(name, "search and run"), |b| {
            b.iter(|| alone.run(next()));
        });
        let mut evaluator = Evaluator::new(&plan);
        group.bench_function(BenchmarkId::new(name, "record and oracle"), |b| {
            b.iter(|| {
                black_box(evaluator.evaluate(plan.case(next())));
            });
        });
    }
}

/// 10,000 cases on one thread: four strategies and the oracle, 2,000 replicas each.
fn sweep(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sweep");
    let strategies = ["oracle", "full", "partial", "same-job", "random"];
    let plan = reference::plan(&strategies, &[Objective::Knee], 2_000);
    assert_eq!(plan.cases(), 10_000);
    let mut evaluator = Evaluator::new(&plan);
    group.throughput(Throughput::Elements(plan.cases()));
    group.sample_size(20);
    group.bench_function(BenchmarkId::new("one thread", plan.cases()), |b| {
        b.iter(|| {
            for number in 0..plan.cases() {
                black_box(evaluator.evaluate(plan.case(number)));
            }
        });
    });
}

/// ImageNet to its target on 64 spot VMs with a mean lifetime of 15.4 h, a loss about every quarter of an hour, a checkpoint
/// every half hour, `fast`; the name shows the length and the number. Goal: a day of it below 1 ms.
fn losses(criterion: &mut Criterion) {
    let text = "workloads = [\"pollux-imagenet\"]\n\
                cluster = { vm = [\"g4dn.12xlarge\"], pairs = [[64, 2400]], outside = \"extrapolate\" }\n\
                variation = { step_cv = 0.1, epoch_cv = 0.02 }\n\
                pricing = { policies = [\"aws-2026-own\"] }\n\
                search = { strategies = [\"oracle\"], objectives = [\"time\"] }\n\
                [spot]\nexponential_mean_h = 15.4\nreplacement_s = 90\n\
                checkpoint = { periodic-s = 1800 }\ncheckpoint_write_s = 5\n";
    let mut diagnostics = Diagnostics::default();
    let scenario = scenario::load(
        &Source::new("losses", text),
        Path::new("."),
        Overrides::default(),
        &mut diagnostics,
    );
    let scenario = scenario.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let world = &plan.arena(0).expect("an arena").world().expect("simulated");
    let mut cluster = SimulatedCluster::new(world, &plan.terms);
    let mut run = |replica| {
        cluster.restart(replica);
        cluster.run_to_target(0).expect("no stall")
    };
    let lines: Vec<_> = (0..100).map(&mut run).collect();
    let mean = |of: fn(&Timeline) -> f64| lines.iter().map(of).sum::<f64>() / lines.len() as f64;
    let label = format!(
        "{:.0} h, {:.0} losses",
        mean(|line| line.net_end.hours()),
        mean(|line| f64::from(line.lost_vms)),
    );
    let mut replica = 0;
    criterion.bench_function(&format!("64 spot VMs/{label}"), |b| {
        b.iter(|| {
            replica += 1;
            black_box(run(replica))
        });
    });
}

/// Single draws. The largest of K costs the same for every K; `DRAW_ALL_UP_TO` in
/// `training/slowest.rs` is the K up to which drawing all of them is cheaper.
fn samplers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sampler");
    let streams = Streams::new(1);
    let mut stream = reference::stream(streams);
    group.bench_function("stream and first uniform", |b| {
        b.iter(|| reference::stream(black_box(streams)).uniform());
    });
    group.bench_function("uniform", |b| b.iter(|| stream.uniform()));
    group.bench_function("normal", |b| b.iter(|| stream.normal()));
    let factor = UnitLogNormal::from_sigma(0.3);
    group.bench_function("lognormal", |b| {
        b.iter(|| black_box(factor).sample(&mut stream));
    });
    for count in [1, 16] {
        let law = LargestLogNormal::new(count, 0.3).expect("a moderate sigma");
        group.bench_function(BenchmarkId::new("largest by slices", count), |b| {
            b.iter(|| law.sample(&mut stream));
        });
    }
    group.bench_function("making slices", |b| {
        b.iter(|| LargestLogNormal::new(black_box(16), 0.3));
    });
    group.bench_function("largest at once/16", |b| {
        b.iter(|| stream.largest_normal(black_box(16)));
    });
    for workers in 2..=6 {
        group.bench_function(BenchmarkId::new("largest at once", workers), |b| {
            b.iter(|| stream.largest_normal(black_box(workers)));
        });
        group.bench_function(BenchmarkId::new("largest of all", workers), |b| {
            b.iter(|| {
                (0..black_box(workers))
                    .map(|_| stream.normal())
                    .fold(f64::NEG_INFINITY, f64::max)
            });
        });
    }
}

criterion_group! {
    name = paths;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = training, strategies, sweep, losses, samplers
}
criterion_main!(paths);
