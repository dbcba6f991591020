//! The cost of many policies, and of many cases.
//!
//! - [`prices`]: a sweep under all policies with a constant rate compared with one under a single policy.
//! - [`memory`]: the peak of sweeps of growing length.

use std::hint::black_box;
use std::io;
use std::process::{Command, Stdio};

use cpu_time::ProcessTime;
use scavsim::experiment::simulation::Simulation;
use scavsim::experiment::{Evaluator, Plan};
use scavsim::pricing::{Policy, RentedVmType, builtin};
use scavsim::search::Objective;
use scavsim::training::Fidelity;

use crate::reference;
use crate::table::Spread;

/// Maximum cost of many policies, relative to one.
const GOAL: f64 = 1.3;

/// Policies under which the bill is VM-time, to the second, times a price: they move no choice.
fn constant_rates() -> Vec<Policy> {
    let probe = |policy: &Policy, seconds: f64, workers: u32| {
        let fleet = scavsim::cloud::Fleet::listed();
        let tariff = policy
            .tariff(&[RentedVmType::as_priced("e2-standard-4")], &fleet)
            .ok()?;
        let held = std::iter::once((0, workers));
        Some(tariff.run_usd(held, 100, seconds))
    };
    let is_constant = |policy: &Policy| {
        let one = probe(policy, 3600.5, 1)?;
        let long = probe(policy, 1_000.0 * 3600.5, 1)?;
        let wide = probe(policy, 3600.5, 7)?;
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
        Some(near(long, 1_000.0 * one) && near(wide, 7.0 * one))
    };
    let (policies, _) = builtin::policies();
    policies
        .into_iter()
        .filter(|policy| is_constant(policy) == Some(true))
        .collect()
}

/// CPU nanoseconds of all cases, by their use.
fn nanoseconds(plan: &Plan, rows: bool) -> f64 {
    let mut evaluator = Evaluator::new(plan);
    let mut csv = csv::Writer::from_writer(io::sink());
    let start = ProcessTime::now();
    for number in 0..plan.cases() {
        let record = black_box(evaluator.evaluate(plan.case(number)));
        if rows {
            csv.serialize(record).expect("nowhere takes everything");
        }
    }
    start.elapsed().as_nanos() as f64
}

/// CPU nanoseconds of only the simulation behind all cases: searches and runs, no bill, no record.
fn simulated_nanoseconds(plan: &Plan) -> f64 {
    let arena = plan.arena(0).expect("an arena");
    let mut evaluator = Evaluator::new(plan);
    let runs: Vec<(usize, usize)> = (0..plan.cases())
        .map(|number| {
            let case = plan.case(number);
            let record = evaluator.evaluate(case);
            let chosen = (record.chosen_workers, record.chosen_batch);
            let space = &arena.space;
            let choice =
                (0..space.len()).find(|&at| (space.workers(at), space.batch(at)) == chosen);
            let oracle = arena.oracle[case.policy][case.objective];
            choice.zip(oracle).expect("every case has a result")
        })
        .collect();
    let mut simulation = Simulation::new(plan);
    let start = ProcessTime::now();
    for (number, (choice, oracle)) in runs.iter().enumerate() {
        let case = plan.case(number as u64);
        black_box(simulation.search(case));
        black_box(simulation.run(case, *choice)).expect("no stall");
        black_box(simulation.run_alone(case, *oracle)).expect("no stall");
    }
    start.elapsed().as_nanos() as f64
}

/// Prints the cost of all constant rates relative to one, per fidelity, strategy and replica.
pub fn prices(rounds: usize, share: u64) {
    let policies = constant_rates();
    println!();
    println!(
        "Cost of a sweep under {} policies with a constant rate, relative to one; objective time",
        policies.len()
    );
    println!("goal: simulation ≤ {GOAL}; a bill and a record per case come on top");
    println!(
        "{:<22} {:>10}  {:>21}  {:<7} {:>21} {:>21}",
        "strategy and fidelity",
        "CPU µs one",
        "simulation",
        "within?",
        "with bills",
        "and CSV rows"
    );
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        for strategy in ["full", "partial"] {
            let replicas = match fidelity {
                Fidelity::Fast => 2_000 / share,
                Fidelity::Event => 1,
            };
            let plan = |policies: &[Policy]| {
                let mut scenario = reference::scenario(&[strategy], &[Objective::Time], replicas);
                (scenario.policies, scenario.fidelity) = (policies.to_vec(), fidelity);
                Plan::new(&scenario).expect("every policy has a price")
            };
            let (one, all) = (plan(&policies[..1]), plan(&policies));
            let mut seen = [const { Vec::new() }; 4];
            let rounds = if fidelity == Fidelity::Fast {
                rounds
            } else {
                rounds.min(3)
            };
            for _ in 0..rounds {
                let alone = nanoseconds(&one, false);
                seen[0].push(alone / replicas as f64 / 1e3);
                seen[1].push(nanoseconds(&all, false) / alone);
                seen[2].push(nanoseconds(&all, true) / nanoseconds(&one, true));
                seen[3].push(simulated_nanoseconds(&all) / simulated_nanoseconds(&one));
            }
            let [alone, billed, rows, simulated] = seen.map(Spread::of);
            println!(
                "{:<22} {:>10.1}  {:>21}  {:<7} {:>21} {:>21}",
                format!("{strategy}, {}", fidelity.name()),
                alone.median,
                simulated.to_string(),
                if simulated.median <= GOAL {
                    "yes"
                } else {
                    "NO"
                },
                billed.to_string(),
                rows.to_string(),
            );
        }
    }
}

/// Prints the peak memory of the program in sweeps of growing length; the longest only if the environment has
/// `SCAVSIM_LONG_SWEEPS`.
pub fn memory(trial: bool) {
    let long = std::env::var_os("SCAVSIM_LONG_SWEEPS").is_some();
    let lengths: &[u64] = match (trial, long) {
        (true, _) => &[1_000],
        (_, false) => &[100_000, 1_000_000],
        (_, true) => &[100_000, 1_000_000, 10_000_000],
    };
    println!();
    println!("Peak memory of `scavsim run`, 2 threads, scenarios/pricing-policies.toml");
    for cases in lengths {
        match peak(*cases) {
            Ok((cases, peak)) => println!("{cases:>10} cases {peak:>12}"),
            Err(why) => println!("{cases:>10} cases: {why}"),
        }
    }
}

/// The number of cases and the peak of a sweep of about `cases`, as counted by Linux.
fn peak(cases: u64) -> io::Result<(u64, String)> {
    let folder = tempfile::tempdir()?;
    let text = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/pricing-policies.toml"),
    )?;
    let groups = 3 * 40 * 2 * 5;
    let replicas = cases.div_ceil(groups);
    let file = folder.path().join("sweep.toml");
    std::fs::write(&file, text)?;
    let mut child = Command::new(env!("CARGO_BIN_EXE_scavsim"))
        .arg("run")
        .arg(&file)
        .args(["--jobs", "2", "--replicas", &replicas.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // The kernel drops the peak with the process: it is read until then.
    let status = format!("/proc/{}/status", child.id());
    let mut peak = "not known here".to_owned();
    while child.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        if let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
            peak = line.trim().to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Ok((replicas * groups, peak))
}
