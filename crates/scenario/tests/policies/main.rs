//! Scenarios with `[policy]`: refused ones, and the records of lives.

mod lives;
mod samples;
mod searches;
mod studies;
mod works;

use scavsim_scenario::face::{OwnedRecord, Scenario};

/// A market of one zone, drawn ten times.
const DRAWN: &str = "
job = { work_h = 5, deadline_h = 7, changeover_s = 600 }
market = { run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 10 }
";

fn records(scenario: &Scenario) -> Vec<OwnedRecord> {
    let mut all = Vec::new();
    let finished = scenario.run(|record| all.push(record.clone().into_owned()));
    assert_eq!(finished.expect("it runs").failed, 0);
    all
}

fn cost_usd(records: &[OwnedRecord], policy: &str) -> f64 {
    let own = records.iter().filter(|record| record.strategy == policy);
    let costs: Vec<f64> = own.filter_map(|record| record.cost_usd).collect();
    costs.iter().sum::<f64>() / costs.len() as f64
}
