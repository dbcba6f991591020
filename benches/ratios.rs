//! CPU time of the paths as ratios to the hand-written loop of the same rounds.
//!
//! `cargo bench --bench ratios`. All paths are timed in every round, one after the other, so that a
//! change of the machine's pace meets all of them; the ratio is taken round by round. It prints
//! and never fails on time: goals are for people, machines differ. Behind the table: what many
//! policies cost relative to one, and the peak memory of long sweeps, with `SCAVSIM_LONG_SWEEPS=1`
//! also of ten million cases.

mod protocols;
mod reference;
mod sweeps;

use std::hint::black_box;

use cpu_time::ProcessTime;
use reference::{Alone, Training};
use scavsim::experiment::{Evaluator, Plan};
use scavsim::search::Objective;
use scavsim::training::Fidelity;
use scavsim::usage::Usage;

/// What a path is measured in and against.
#[derive(Clone, Copy)]
enum Goal {
    /// Nanoseconds per worker-step; at most this many times the reference.
    Ratio(f64),
    /// Nanoseconds per run; at most this many microseconds.
    Microseconds(f64),
    /// Nanoseconds per case; no goal of its own.
    None,
}

/// One line of the table.
struct Path<'a> {
    name: String,
    /// Units of work in one call: worker-steps, runs or cases.
    units: u64,
    goal: Goal,
    work: Box<dyn FnMut() + 'a>,
    /// CPU nanoseconds per unit, one per round.
    seen: Vec<f64>,
}

impl<'a> Path<'a> {
    fn new(name: impl Into<String>, units: u64, goal: Goal, work: impl FnMut() + 'a) -> Self {
        Path {
            name: name.into(),
            units,
            goal,
            work: Box::new(work),
            seen: Vec::new(),
        }
    }

    fn measure(&mut self) {
        let start = ProcessTime::now();
        (self.work)();
        let spent = start.elapsed();
        self.seen.push(spent.as_nanos() as f64 / self.units as f64);
    }
}

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
    let mut bags = reference::shipped("bags.toml");
    bags.strategies = vec!["oracle".to_owned()];
    let bags = Plan::new(&bags).expect("the bags can be planned");
    assert_same_workload();
    let mut paths = training(share);
    let first = paths.len();
    paths.extend(protocols(share));
    let other_references: Vec<usize> = (first..paths.len()).step_by(2).collect();
    for (name, plan) in &strategies {
        paths.push(alone(name, plan));
        paths.push(judged(
            &format!("{name}, record and oracle"),
            plan,
            Goal::Microseconds(10.0),
        ));
    }
    paths.push(bag(&bags, 5_000 / share));
    paths.push(judged("sweep, one thread", &sweep, Goal::None));

    for path in &mut paths {
        (path.work)(); // warm up: fill caches, grow buffers
    }
    for _ in 0..rounds {
        paths.iter_mut().for_each(Path::measure);
    }
    print(&paths, &other_references, rounds);
    drop(paths);
    sweeps::prices(rounds, share);
    sweeps::memory(trial);
}

/// Whatever is compared must train the same thing: the mean step, to 1 % (over 9 standard errors).
fn assert_same_workload() {
    let steps = 20_000;
    let expected = steps as f64 * reference::stepping().mean_step_s(1.0);
    let agrees = |seconds: f64| (seconds / expected - 1.0).abs() < 0.01;
    assert!(agrees(reference::run(steps)));
    for fidelity in [Fidelity::Event, Fidelity::Step, Fidelity::Fast] {
        assert!(agrees(Training::new(fidelity).run(steps)));
    }
}

/// The reference and the three fidelities on its workload.
fn training(share: u64) -> Vec<Path<'static>> {
    let workers = u64::from(reference::WORKERS);
    let steps = 20_000 / share;
    let mut paths = vec![Path::new(
        "reference loop",
        steps * workers,
        Goal::None,
        move || {
            black_box(reference::run(black_box(steps)));
        },
    )];
    for (fidelity, goal) in [(Fidelity::Event, 1.3), (Fidelity::Step, 0.15)] {
        let mut training = Training::new(fidelity);
        let name = format!("{}, {steps} steps", fidelity.name());
        paths.push(Path::new(
            name,
            steps * workers,
            Goal::Ratio(goal),
            move || {
                black_box(training.run(black_box(steps)));
            },
        ));
    }
    for steps in [1_000, 30_000, 1_000_000] {
        let mut training = Training::new(Fidelity::Fast);
        let (name, runs) = (format!("fast, {steps} steps"), 50_000 / share);
        paths.push(Path::new(name, runs, Goal::Microseconds(1.0), move || {
            for _ in 0..runs {
                black_box(training.run(black_box(steps)));
            }
        }));
    }
    paths
}

/// Other protocols: the hand-written loop, then the engine's.
fn protocols(share: u64) -> Vec<Path<'static>> {
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
        // Both must simulate the same thing.
        let ratio = engine.run(20_000) / by_hand(20_000);
        assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio}");
        let units = steps * workers;
        paths.push(Path::new(
            format!("{name}, by hand"),
            units,
            Goal::None,
            move || {
                black_box(by_hand(black_box(updates)));
            },
        ));
        paths.push(Path::new(
            format!("{name}, event"),
            units,
            Goal::Ratio(1.5),
            move || {
                black_box(engine.run(black_box(updates)));
            },
        ));
    }
    paths
}

/// A strategy by itself: search, choice, run to the target.
fn alone<'p>(name: &str, plan: &'p Plan) -> Path<'p> {
    let mut alone = Alone::new(plan);
    let name = format!("{name}, search and run");
    Path::new(name, plan.replicas, Goal::Microseconds(10.0), move || {
        for replica in 0..plan.replicas {
            black_box(alone.run(replica));
        }
    })
}

/// Whole cases, as a sweep evaluates them: search, run, bills, the oracle's run, the record.
fn judged<'p>(name: &str, plan: &'p Plan, goal: Goal) -> Path<'p> {
    let mut evaluator = Evaluator::new(plan);
    Path::new(name, plan.cases(), goal, move || {
        for number in 0..plan.cases() {
            black_box(evaluator.evaluate(plan.case(number)));
        }
    })
}

/// A bag of 100 jobs on the VMs of `scenarios/bags.toml`, from its first request to its last job.
fn bag(plan: &Plan, runs: u64) -> Path<'_> {
    let arena = plan.arena(0).expect("the bag can be planned");
    let mut site = arena.ground.open(&plan.terms);
    let mut usage = Usage::default();
    Path::new(
        "bag of 100 jobs",
        runs,
        Goal::Microseconds(100.0),
        move || {
            for replica in 0..runs {
                site.restart(replica);
                let line = site.run_to_target(2).expect("it ends");
                site.usage_until_target(&line, &mut usage);
                black_box(&usage);
            }
        },
    )
}

/// `references` are the paths, besides the first, that the one behind each is compared with.
fn print(paths: &[Path<'_>], references: &[usize], rounds: usize) {
    println!(
        "CPU time, {rounds} interleaved rounds: median of the time, median [min–max] of the ratio"
    );
    println!(
        "to the hand-written loop's worker-step in the same round; K = 16. `event` of a protocol:"
    );
    println!("to the loop written by hand for that protocol");
    println!();
    println!(
        "{:<28} {:>10}  {:<11} {:>24}  {:>8}  within?",
        "path", "CPU ns", "per", "ratio [min–max]", "goal"
    );
    for (number, path) in paths.iter().enumerate() {
        let is_reference = number == 0 || references.contains(&number);
        let reference = match references.iter().find(|&&r| r + 1 == number) {
            Some(&by_hand) => &paths[by_hand].seen,
            None => &paths[0].seen,
        };
        let ns = Spread::of(path.seen.clone());
        let ratio = Spread::of(
            path.seen
                .iter()
                .zip(reference)
                .map(|(a, b)| a / b)
                .collect(),
        );
        let (per, goal, within) = match path.goal {
            Goal::Ratio(goal) => (
                "worker-step",
                format!("≤ {goal}"),
                Some(ratio.median <= goal),
            ),
            Goal::Microseconds(us) => ("run", format!("≤ {us} µs"), Some(ns.median <= us * 1e3)),
            Goal::None if is_reference => ("worker-step", String::new(), None),
            Goal::None => ("case", String::new(), None),
        };
        println!(
            "{:<28} {:>10.1}  {:<11} {:>24}  {:>8}  {}",
            path.name,
            ns.median,
            per,
            ratio.to_string(),
            goal,
            within.map_or("", |w| if w { "yes" } else { "NO" }),
        );
        if per == "case" {
            println!("{:<28} {:>10.0}  cases/s", "", 1e9 / ns.median);
        }
    }
}

/// Median and range.
struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        let median = scavsim::stats::median(&mut values).unwrap_or(f64::NAN);
        Spread {
            median,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if self.median < 10.0 { 3 } else { 1 };
        let [median, least, most] =
            [self.median, self.least, self.most].map(|v| format!("{v:.digits$}"));
        write!(f, "{median} [{least}–{most}]")
    }
}
