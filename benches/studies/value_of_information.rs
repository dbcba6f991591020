//! Results of the strategy `value-of-information` on measured grids, for any number of runs of the job; also without each of
//! its parts and with every constant halved and doubled.
//!
//! Its constants were chosen on the jobs for which [`is_tuned_on`] is true; the others were kept apart.

use std::fmt::Write;
use std::sync::Arc;

use scavsim::cloud::{Fleet, Machine};
use scavsim::configuration::Shape;
use scavsim::grid::{Job, Outcome, library};
use scavsim::input::Diagnostics;
use scavsim::rng::{Purpose, StrategyKey, Streams};
use scavsim::search::value_of_information::Constants;
use scavsim::search::{Forecast, Objective, Prices, Strategy, Task};
use scavsim::testbed::{Extent, Observation, SearchCost, Stop, Target, Testbed};
use serde_json::{Value, json};

/// Whether constants were chosen with a job in view.
fn is_tuned_on(grid: &str, job: &str) -> bool {
    match grid {
        "scout" => job.contains("huge"),
        grid => grid == "trimtuner-cnn",
    }
}

/// Runs of a job, replayed; their cost and the number that reached the target.
struct Replay<'j> {
    job: &'j Job,
    objective: Objective,
    spent: SearchCost,
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
        let mut seen = Observation::default();
        (seen.step_s, seen.target) = (run.step_s, target);
        self.reached += u64::from(matches!(seen.target, Target::Reached(_)));
        self.value += self.value(at, seconds);
        self.spent.seconds += seconds;
        Ok(seen)
    }

    fn spent(&mut self) -> SearchCost {
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
    let mut task: Task<'_> = job.workload_facts().task(&job.name, &job.space);
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
        spent: SearchCost::new(0.0, None),
        value: 0.0,
        reached: 0,
    };
    let strategy = constants.clone().strategy();
    let mut forecast = Forecast::default();
    forecast.reset(job.space.len());
    let mut stream = Streams::new(1).stream(
        0,
        Purpose::Strategy(StrategyKey::from_name("value-of-information")),
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

/// Jobs of a family, those that were used for tuning or the others.
pub fn jobs(family: &str, tuned: bool) -> Vec<Arc<Job>> {
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

/// Mean overhead over the optimum; `blind` to the properties of machines.
pub fn mean(
    jobs: &[Arc<Job>],
    objective: Objective,
    runs: u64,
    constants: &Constants,
    blind: bool,
) -> f64 {
    let all = (jobs.iter()).map(|job| net(job, objective, runs, constants, blind));
    all.sum::<f64>() / jobs.len() as f64
}

/// The constants with some changed, by their paths in JSON.
fn with(changes: &[(&str, Value)]) -> Constants {
    let mut all = json!(Constants::default());
    for (place, value) in changes {
        *all.pointer_mut(place).expect("a constant") = value.clone();
    }
    serde_json::from_value(all).expect("constants of the same form")
}

/// A line of a table: mean overheads of every family at 1, 10 and 100 runs.
fn row(name: &str, constants: &Constants, blind: bool) -> String {
    let mut line = format!("{name:<28}");
    for family in ["scout", "trimtuner"] {
        for tuned in [true, false] {
            let jobs = jobs(family, tuned);
            for runs in [1, 10, 100] {
                let mean = mean(&jobs, Objective::Cost, runs, constants, blind);
                // Writing to a string cannot fail.
                let _ = write!(line, " {mean:>6.2}");
            }
        }
    }
    line + "\n"
}

const HEAD: &str = "mean overhead by cost at 1, 10 and 100 runs: scout tuned on, apart; trimtuner tuned on, apart\n";

/// The table of overheads without each part of the strategy.
pub fn without_each_part() -> String {
    let variants: &[(&str, &[(&str, Value)])] = &[
        ("as it is", &[]),
        ("no cliffs of failure", &[("/cliff", json!(1e-9))]),
        ("no sudden change", &[("/time/sudden", json!(0.0))]),
        (
            "memory tells nothing",
            &[
                ("/time/memory/mean", json!(0.0)),
                ("/time/memory/sd", json!(0.0)),
            ],
        ),
        ("no scarcity", &[("/time/scarce", json!(0.0))]),
        ("one expert", &[("/scales", json!([1.0]))]),
        ("runs to their end", &[("/caps", json!([]))]),
        (
            "log-normal means",
            &[("/caution", json!(1.0)), ("/parts_caution", json!(1.0))],
        ),
        (
            "medians",
            &[("/caution", json!(0.0)), ("/parts_caution", json!(0.0))],
        ),
    ];
    let blind = row("machines unknown", &Constants::default(), true);
    let rows = (variants.iter()).map(|(name, changes)| row(name, &with(changes), false));
    HEAD.to_owned() + &rows.collect::<String>() + &blind
}

/// The table of overheads with every constant halved and doubled, except those of probes.
pub fn every_constant_varied() -> String {
    let mut numbers = Vec::new();
    leaves(&json!(Constants::default()), String::new(), &mut numbers);
    let mut text = HEAD.to_owned() + &row("as it is", &Constants::default(), false);
    for (place, value) in &numbers {
        let name = place[1..].replace('/', ".");
        if *value == 0.0 || name.starts_with("look") || name.starts_with("epochs") {
            continue;
        }
        for factor in [0.5, 2.0] {
            let mut varied = value * factor;
            // Odds must stay valid.
            if varied >= 1.0 && name.starts_with("fails") {
                varied = *value;
            }
            let constants = with(&[(place, json!(varied))]);
            text += &row(&format!("{name} × {factor}"), &constants, false);
        }
    }
    text
}

/// All numbers that are no counts, with their paths.
fn leaves(value: &Value, place: String, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(all) => {
            (all.iter()).for_each(|(key, inner)| leaves(inner, format!("{place}/{key}"), found));
        }
        Value::Array(all) => {
            (all.iter().enumerate())
                .for_each(|(at, inner)| leaves(inner, format!("{place}/{at}"), found));
        }
        Value::Number(number) if number.is_f64() => {
            found.extend(number.as_f64().map(|number| (place, number)));
        }
        _ => {}
    }
}
