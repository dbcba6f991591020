//! What the strategy comes to on measured grids, for any number of runs of the job; and what becomes of it without each of
//! its parts and with every constant halved and doubled:
//! `cargo test --lib value_of_information::on_grids -- --ignored --nocapture`.
//!
//! Its constants were chosen on the jobs that [`is_tuned_on`] names; the others were kept apart.

use std::sync::{Arc, OnceLock};

use super::{Constants, ValueOfInformation};
use crate::grid::{Job, Outcome, library};
use crate::search::{Figures, Forecast, Objective, Prices, Strategy, Task};
use crate::testbed::{Extent, Observation, Spent, Stop, Target, Testbed};
use scavsim_base::rng::{Purpose, StrategyKey, Streams};
use scavsim_data::cloud::{Fleet, Machine};
use scavsim_data::configuration::Shape;
use scavsim_read::input::Diagnostics;

/// Whether constants were chosen with a job in view.
fn is_tuned_on(grid: &str, job: &str) -> bool {
    match grid {
        "scout" => job.contains("huge"),
        grid => grid == "trimtuner-cnn",
    }
}

/// Runs of a job, replayed; what they cost and how many reached the target.
struct Replay<'j> {
    job: &'j Job,
    objective: Objective,
    spent: Spent,
    value: f64,
    reached: u64,
}

impl Replay<'_> {
    fn value(&self, at: usize, seconds: f64) -> f64 {
        match self.objective {
            Objective::Time => seconds,
            _ => self.job.cost_usd(at, 0, seconds).expect("a rule of costs"),
        }
    }
}

impl Testbed for Replay<'_> {
    fn cold_start(&mut self, _: usize, _: u64) -> Result<(), Stop> {
        unreachable!("a whole run has none")
    }

    fn probe(&mut self, at: usize, extent: Extent) -> Result<Observation, Stop> {
        let run = self.job.runs(at)[0];
        let seconds = match extent {
            Extent::Usd(usd) | Extent::ToTargetForUsd(usd) => {
                run.time_s * (usd / self.value(at, run.time_s)).min(1.0)
            }
            Extent::Seconds(seconds) | Extent::ToTargetInSeconds(seconds) => {
                seconds.min(run.time_s)
            }
            Extent::ToTarget => run.time_s,
            other => unreachable!("{other:?} is no run to the target"),
        };
        let target = match run.outcome {
            _ if seconds < run.time_s => Target::MoreThan(seconds),
            Outcome::Reached => Target::Reached(seconds),
            Outcome::Unreached => Target::MoreThan(seconds),
            Outcome::Failed => Target::Failed(seconds),
        };
        let seen = Observation {
            step_s: run.step_s,
            target,
            ..Observation::default()
        };
        self.reached += u64::from(matches!(seen.target, Target::Reached(_)));
        self.value += self.value(at, seconds);
        self.spent.seconds += seconds;
        Ok(seen)
    }

    fn spent(&mut self) -> Spent {
        self.spent
    }
}

struct Known<'j>(&'j Job);

impl Prices for Known<'_> {
    fn run_usd(&self, at: usize, seconds: f64) -> Option<f64> {
        self.0.cost_usd(at, 0, seconds)
    }
}

fn machines(job: &Job) -> Vec<Option<Machine>> {
    let fleet = Fleet::listed();
    (0..job.space.len())
        .map(|at| fleet.machine(Shape::parse(job.space.vm(at)?).ok()?.vm_type))
        .collect()
}

/// (Σ runs of the search + (R − those that reached the target)⁺·choice)/(R·best) − 1.
fn net(job: &Job, objective: Objective, runs: u64, constants: &Constants, blind: bool) -> f64 {
    let machines = machines(job);
    let known = Known(job);
    let mut task: Task<'_> = Figures::of_job(job).task(&job.name, &job.space);
    task.repeats = runs;
    task.looks_cost_a_run = true;
    task.objective = Some(objective);
    task.prices = Some(&known);
    if !blind {
        task.machines = &machines;
    }
    let mut testbed = Replay {
        job,
        objective,
        spent: Spent::new(0.0, None),
        value: 0.0,
        reached: 0,
    };
    let strategy = ValueOfInformation {
        budget: usize::MAX,
        constants: constants.clone(),
        priors: OnceLock::new(),
    };
    let mut forecast = Forecast::default();
    forecast.reset(job.space.len());
    let mut stream = Streams::new(1).stream(
        0,
        Purpose::Strategy(StrategyKey::of("value-of-information")),
    );
    (strategy.search(&task, &mut testbed, &mut stream, &mut forecast)).expect("a search");
    let value = |at: usize| testbed.value(at, job.runs(at)[0].time_s);
    let reaches = |at: &usize| job.runs(*at)[0].outcome == Outcome::Reached;
    let best = (0..job.space.len())
        .filter(reaches)
        .map(value)
        .fold(f64::INFINITY, f64::min);
    let chosen = forecast.decided.expect("one reached the target");
    let left = runs.saturating_sub(testbed.reached) as f64;
    (testbed.value + left * value(chosen)) / (runs as f64 * best) - 1.0
}

/// Jobs of a family, of those that were tuned on or of the others.
fn jobs(family: &str, tuned: bool) -> Vec<Arc<Job>> {
    let grids: &[&str] = match family {
        "trimtuner" => &["trimtuner-cnn", "trimtuner-rnn"],
        _ => &["scout"],
    };
    let mut all = Vec::new();
    for name in grids {
        let mut diagnostics = Diagnostics::default();
        let grid = library::load(name, &mut diagnostics).expect("a shipped grid");
        let wanted = grid.default_jobs.iter().map(|&place| &grid.jobs[place]);
        let kept = wanted.filter(|job| is_tuned_on(name, &job.name) == tuned);
        all.extend(kept.map(|job| Arc::new(job.clone())));
    }
    all
}

fn mean(jobs: &[Arc<Job>], objective: Objective, runs: u64, constants: &Constants) -> f64 {
    let all = jobs
        .iter()
        .map(|job| net(job, objective, runs, constants, false));
    all.sum::<f64>() / jobs.len() as f64
}

#[test]
fn the_jobs_that_constants_were_chosen_on_are_apart_from_the_others() {
    let count = |family, tuned| jobs(family, tuned).len();
    assert_eq!((count("scout", true), count("scout", false)), (9, 9));
    assert_eq!(
        (count("trimtuner", true), count("trimtuner", false)),
        (1, 1)
    );
}

/// Mean overhead over the optimum at 1, 10 and 100 runs; bounds are what was measured and a tenth.
#[test]
fn overheads_are_what_they_were() {
    let constants = Constants::default();
    let mut beyond = Vec::new();
    for (family, tuned, objective, bounds) in BOUNDS {
        let jobs = jobs(family, *tuned);
        for (runs, bound) in [1, 10, 100].into_iter().zip(bounds) {
            let found = mean(&jobs, *objective, runs, &constants);
            println!("{family} tuned {tuned} {objective:?} {runs}: {found:.3}");
            if found > bound * 1.1 + 0.01 {
                beyond.push(format!("{family} {tuned} {objective:?} {runs}: {found}"));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

/// Family, whether constants were chosen on its jobs, and what was measured.
const BOUNDS: &[(&str, bool, Objective, [f64; 3])] = &[
    ("scout", true, Objective::Cost, [0.77, 0.61, 0.14]),
    ("scout", true, Objective::Time, [0.09, 0.29, 0.08]),
    ("scout", false, Objective::Cost, [0.81, 0.68, 0.16]),
    ("scout", false, Objective::Time, [0.13, 0.27, 0.06]),
    ("trimtuner", true, Objective::Cost, [0.27, 0.86, 0.21]),
    ("trimtuner", false, Objective::Cost, [0.00, 0.50, 0.16]),
];

fn row(name: &str, constants: &Constants, blind: bool) {
    print!("{name:<28}");
    for family in ["scout", "trimtuner"] {
        for tuned in [true, false] {
            let jobs = jobs(family, tuned);
            for runs in [1, 10, 100] {
                let all = jobs
                    .iter()
                    .map(|job| net(job, Objective::Cost, runs, constants, blind));
                print!(" {:>6.2}", all.sum::<f64>() / jobs.len() as f64);
            }
        }
    }
    println!();
}

#[test]
#[ignore = "prints a table"]
fn without_each_part() {
    println!(
        "mean overhead by cost at 1, 10 and 100 runs: scout tuned on, apart; trimtuner tuned on, apart"
    );
    let vary = |name: &str, change: &dyn Fn(&mut Constants)| {
        let mut constants = Constants::default();
        change(&mut constants);
        row(name, &constants, false);
    };
    vary("as it is", &|_| {});
    row("machines unknown", &Constants::default(), true);
    vary("no cliffs of failure", &|c| c.cliff = 1e-9);
    vary("no sudden change", &|c| c.time.sudden = 0.0);
    vary("memory tells nothing", &|c| {
        c.time.memory.mean = 0.0;
        c.time.memory.sd = 0.0;
    });
    vary("no scarcity", &|c| c.time.scarce = 0.0);
    vary("one expert", &|c| c.scales = vec![1.0]);
    vary("an expert per pair", &|c| c.pairs = true);
    vary("runs to their end", &|c| c.caps.clear());
    vary("log-normal means", &|c| {
        (c.caution, c.parts_caution) = (1.0, 1.0)
    });
    vary("medians", &|c| (c.caution, c.parts_caution) = (0.0, 0.0));
}

#[test]
#[ignore = "prints a table"]
fn every_constant_halved_and_doubled() {
    println!(
        "mean overhead by cost at 1, 10 and 100 runs: scout tuned on, apart; trimtuner tuned on, apart"
    );
    row("as it is", &Constants::default(), false);
    let mut all = Constants::default();
    let names: Vec<String> = (all.numbers().into_iter())
        .filter(|(name, value)| {
            **value != 0.0 && !name.starts_with("look") && !name.starts_with("epochs")
        })
        .map(|(name, _)| name)
        .collect();
    for name in names {
        for factor in [0.5, 2.0] {
            let mut constants = Constants::default();
            for (other, value) in constants.numbers() {
                // Odds stay odds.
                if other == name && (*value * factor < 1.0 || !name.starts_with("fails")) {
                    *value *= factor;
                }
            }
            row(&format!("{name} × {factor}"), &constants, false);
        }
    }
}
