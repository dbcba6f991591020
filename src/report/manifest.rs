//! `manifest.json`: what a result folder was made from. Nothing in it depends on the machine, the
//! time or the number of threads.

use serde_json::{Value, json};

use crate::experiment::Finished;
use crate::scenario::Scenario;

/// Version of the scheme by which random streams are keyed and drawn.
const RNG_SCHEME: &str = "chacha8, streams keyed by (seed, purpose, replica, identity), version 1";

/// The manifest of a run of `scenario`.
pub fn value(scenario: &Scenario, finished: &Finished) -> Value {
    let workloads: Vec<Value> = (scenario.workloads.iter())
        .map(|(w, configurations)| {
            json!({
                "name": w.name,
                "data_hash": w.hash,
                "configurations": configurations.len(),
            })
        })
        .collect();
    json!({
        "schema": 1,
        "scavsim": env!("CARGO_PKG_VERSION"),
        "scenario": scenario.name,
        "scenario_hash": scenario.hash,
        "seed": scenario.seed,
        "rng": RNG_SCHEME,
        "replicas": scenario.replicas,
        "fidelity": scenario.fidelity.name(),
        "workloads": workloads,
        "policies": scenario.policies.iter().map(|p| &p.name).collect::<Vec<_>>(),
        "cases": scenario.cases(),
        "finished": finished.cases,
        "failed": finished.failed,
        "complete": !finished.interrupted,
    })
}
