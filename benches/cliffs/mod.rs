//! Settings at which a path was once much slower than at neighbouring ones.

use std::hint::black_box;
use std::io;

use scavsim::experiment::{Evaluator, Plan};
use scavsim::search::Objective;

use crate::reference;
use crate::table::{Goal, Path};

/// Strategies of a case of `fast`.
const STRATEGIES: [&str; 4] = ["oracle", "full", "partial", "no-search"];

/// One path per setting: its name, its keys, and the maximum microseconds of a case.
const SETTINGS: [(&str, &[&str], f64); 9] = [
    ("plain", &[], 1.3),
    ("vm_sigma 0.05", &["variation.vm_sigma = 0.05"], 20.0),
    ("straggler 1e-5", &[RARE], 10.0),
    ("both", &["variation.vm_sigma = 0.05", RARE], 30.0),
    (
        "drift 60 s",
        &["variation.drift = { sigma = 0.2, period_s = 60 }"],
        30.0,
    ),
    ("ssp", &["sync.ssp = { slack = 3 }"], 20.0),
    ("asp", &["sync.asp = { service_s = 0.001 }"], 20.0),
    (
        "speculative",
        &["sync.speculative = { quantile = 0.95 }"],
        20.0,
    ),
    ("flexible", &["sync.flexible = { after_s = 1 }"], 20.0),
];

const RARE: &str = "variation.straggler = { probability = 1e-5, factor = 10 }";

/// Plans of the settings, each with its name and its goal.
pub fn plans(share: u64) -> Vec<(String, Plan, f64)> {
    let plan = |&(name, set, us): &(&str, &[&str], f64)| {
        let replicas = match name {
            "plain" => 2_000,
            "ssp" | "speculative" | "flexible" => 4,
            _ => 40,
        };
        let replicas = (replicas / share).max(1);
        let plan = reference::plan_with(&STRATEGIES, &[Objective::Time], replicas, set);
        (format!("case in fast, {name}"), plan, us)
    };
    SETTINGS.iter().map(plan).collect()
}

/// A case of each.
pub fn paths(plans: &[(String, Plan, f64)]) -> Vec<Path<'_>> {
    (plans.iter())
        .map(|(name, plan, us)| cases(name, plan, Goal::Microseconds(*us)))
        .collect()
}

/// Whole cases, as in a sweep: search, run, bills, the oracle's run, the record.
pub fn cases<'p>(name: &str, plan: &'p Plan, goal: Goal) -> Path<'p> {
    let mut evaluator = Evaluator::new(plan);
    Path::new(name, (plan.cases(), "case"), goal, move || {
        for number in 0..plan.cases() {
            black_box(evaluator.evaluate(plan.case(number)));
        }
    })
}

/// Whole cases with each record as a row of CSV.
pub fn rows<'p>(name: &str, plan: &'p Plan, goal: Goal) -> Path<'p> {
    let mut evaluator = Evaluator::new(plan);
    Path::new(name, (plan.cases(), "case"), goal, move || {
        let mut csv = csv::Writer::from_writer(io::sink());
        for number in 0..plan.cases() {
            let record = evaluator.evaluate(plan.case(number));
            csv.serialize(record).expect("nowhere takes everything");
        }
    })
}
