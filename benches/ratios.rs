//! CPU time of the paths, compared with loops written by hand.
//!
//! `cargo bench --bench ratios`. It prints and never fails on time: goals are for people, machines differ. After the table:
//! the cost of many policies relative to one, and the peak memory of long sweeps, with `SCAVSIM_LONG_SWEEPS=1` also of ten
//! million cases. Other simulators are in `benches/peers/`.

mod bags;
mod cliffs;
mod losses;
mod plans;
mod protocols;
mod reference;
mod sweeps;
#[allow(dead_code, reason = "each bench takes its own of it")]
mod table;

use std::hint::black_box;

use reference::{Alone, Training};
use scavsim::experiment::Plan;
use scavsim::search::Objective;
use scavsim::training::Fidelity;
use table::{Goal, Path};

fn main() {
    // `cargo test --benches` runs the bench without `--bench`: see that it works, quickly.
    let trial =
        !std::env::args().any(|a| a == "--bench") || std::env::args().any(|a| a == "--test");
    let (rounds, share) = if trial { (1, 100) } else { (9, 1) };

    let everything = [Objective::Time, Objective::Cost, Objective::Knee];
    let sweep = reference::plan(
        &["oracle", "full", "partial", "same-job", "random"],
        &everything,
        (700 / share).max(1),
    );
    let strategies = ["full", "partial"].map(|name| {
        let plan = reference::plan(&[name], &[Objective::Time], 5_000 / share);
        (name, plan)
    });
    let cliffs = cliffs::plans(share);
    let losses = losses::Fleet::each();
    let bags = bags::plan();
    let plans = plans::Plans::new();

    let mut paths = training(share);
    let first = paths.len();
    paths.extend(protocols(first, share));
    for (name, plan) in &strategies {
        paths.push(alone(name, plan));
        let name = format!("{name}, record and oracle");
        paths.push(cliffs::cases(&name, plan, Goal::None));
    }
    paths.push(cliffs::cases(
        "sweep, one thread",
        &sweep,
        Goal::Microseconds(1.3),
    ));
    paths.push(cliffs::rows(
        "sweep, with rows of CSV",
        &sweep,
        Goal::Microseconds(2.2),
    ));
    paths.extend(cliffs::paths(&cliffs));
    paths.extend(losses.iter().map(|fleet| fleet.path(share)));
    paths.push(bags::path(&bags, 5_000 / share));
    paths.extend(plans.paths(share));

    table::measure(&mut paths, rounds);
    table::header(rounds);
    table::print(&paths);
    drop(paths);
    sweeps::prices(rounds, share);
    sweeps::memory(trial);
}

/// Number of workers, and the goal of `event` relative to the loop by hand.
const SIZES: [(u32, f64); 4] = [(4, 0.9), (16, 0.7), (64, 0.6), (1024, 0.55)];

/// The reference and both fidelities on its workload.
fn training(share: u64) -> Vec<Path<'static>> {
    let mut paths = Vec::new();
    for (workers, goal) in SIZES {
        let steps = 640_000 / u64::from(workers) / share;
        let units = (steps * u64::from(workers), "worker-step");
        let law = reference::compute();
        agree(workers, &law);
        let by_hand = paths.len();
        paths.push(Path::new(
            format!("loop by hand, K = {workers}"),
            units,
            Goal::None,
            move || {
                black_box(reference::by_hand(&law, workers, black_box(steps)));
            },
        ));
        let mut training = Training::new(workers, Fidelity::Event);
        paths.push(Path::new(
            format!("event, K = {workers}"),
            units,
            Goal::Ratio(goal, by_hand),
            move || {
                black_box(training.run(black_box(steps)));
            },
        ));
    }
    for steps in [1_000, 30_000, 1_000_000] {
        let mut training = Training::new(reference::WORKERS, Fidelity::Fast);
        let (name, runs) = (format!("fast, {steps} steps"), 50_000 / share);
        let goal = Goal::Microseconds(0.1);
        paths.push(Path::new(name, (runs, "run"), goal, move || {
            for _ in 0..runs {
                black_box(training.run(black_box(steps)));
            }
        }));
    }
    paths
}

/// All compared paths must train equally: the mean step, to 1 % (over 9 standard errors).
fn agree(workers: u32, law: &scavsim::rng::LargestLogNormal) {
    let steps = 20_000;
    let seconds = reference::by_hand(law, workers, steps);
    for fidelity in [Fidelity::Event, Fidelity::Fast] {
        let mut training = Training::new(workers, fidelity);
        let expected = steps as f64 * training.mean_step_s();
        assert!((seconds / expected - 1.0).abs() < 0.01);
        assert!((training.run(steps) / expected - 1.0).abs() < 0.01);
    }
}

/// Other protocols: the hand-written loop, then the engine's; the first is at place `first` of the table.
fn protocols(first: usize, share: u64) -> Vec<Path<'static>> {
    use protocols::{Engine, SERVICE_S, SLACK, SPARE, asp, backup, ssp};
    let workers = u64::from(reference::WORKERS);
    let steps = 20_000 / share;
    let each = [
        ("backup", format!("{{ backup = {{ spare = {SPARE} }} }}"), 1),
        ("ssp", format!("{{ ssp = {{ slack = {SLACK} }} }}"), workers),
        (
            "asp",
            format!("{{ asp = {{ service_s = {SERVICE_S} }} }}"),
            workers,
        ),
    ];
    let by_hand: [fn(u64) -> f64; 3] = [backup, ssp, asp];
    let mut paths = Vec::new();
    for ((name, sync, each_step), by_hand) in each.into_iter().zip(by_hand) {
        let updates = steps * each_step;
        let mut engine = Engine::new(&sync);
        // Both must simulate equally.
        let ratio = engine.run(20_000) / by_hand(20_000);
        assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio}");
        let units = (steps * workers, "worker-step");
        let place = first + paths.len();
        paths.push(Path::new(
            format!("{name} by hand, K = {workers}"),
            units,
            Goal::None,
            move || {
                black_box(by_hand(black_box(updates)));
            },
        ));
        paths.push(Path::new(
            format!("{name}, event, K = {workers}"),
            units,
            Goal::Ratio(1.5, place),
            move || {
                black_box(engine.run(black_box(updates)));
            },
        ));
    }
    paths
}

/// A strategy alone: search, choice, run to the target.
fn alone<'p>(name: &str, plan: &'p Plan) -> Path<'p> {
    let mut alone = Alone::new(plan);
    let goal = match name {
        "full" => Goal::Microseconds(6.0),
        _ => Goal::None,
    };
    let name = format!("{name}, search and run, 16 configurations");
    Path::new(name, (plan.replicas, "run"), goal, move || {
        for replica in 0..plan.replicas {
            black_box(alone.run(replica));
        }
    })
}
