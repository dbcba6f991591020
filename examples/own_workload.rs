//! A workload of one's own, built in memory: no folder, no file.
//!
//! `cargo run --example own_workload`
//!
//! Its tables are those of a workload folder (docs/import.md has each column). Here they come from
//! formulae; yours would come from measurements.

use std::fmt::Write;

use scavsim::Scenario;

/// Samples in one epoch, D.
const SAMPLES: f64 = 60_000.0;
const WORKERS: [u32; 4] = [2, 4, 8, 16];
/// Samples per step over all workers, B.
const BATCHES: [u32; 3] = [256, 512, 1024];

/// Seconds of communication in a step: a fixed part, and one that grows with the workers.
fn communication_s(workers: u32) -> f64 {
    0.040 + 0.005 * f64::from(workers)
}

/// Seconds of a step: every worker computes on B/K samples for 4 ms each, then all communicate.
fn step_s(workers: u32, batch: u32) -> f64 {
    0.004 * f64::from(batch / workers) + communication_s(workers)
}

/// Passes over the data until the target is reached: larger batches need more.
fn epochs(batch: u32) -> f64 {
    20.0 * (1.0 + f64::from(batch) / 2048.0)
}

/// Hours from the start to the target without luck, T = e·D/B · step.
fn time_h(workers: u32, batch: u32) -> f64 {
    epochs(batch) * SAMPLES / f64::from(batch) * step_s(workers, batch) / 3600.0
}

/// The head of the workload, and what holds for every configuration: value, origin, source.
const HEAD: &str = r#"
name = "digits"
model = "a small convolutional network"
data_set = "60,000 images of digits"
target = "99 % test accuracy"
citation = "own measurements"
accuracy = "exact"
licence = "own work"
step_measured = "barrier"   # a step contains the wait for the slowest worker

[constants]
samples_per_epoch = { value = 60000, origin = "measured", source = "the data set" }
cold_start_steps = { value = 100, origin = "measured", source = "until the noise settles" }
probe_steps = { value = 20, origin = "measured", source = "our choice" }
restore_s = { value = 12.0, origin = "measured", source = "restart from a checkpoint, in seconds" }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One row per configuration. `origin` says how a figure was obtained, `source` where.
    let mut steps = "vm,workers,batch,step_s,communication_s,origin,source\n".to_owned();
    let mut epoch_rows = "batch,epochs,origin,source\n".to_owned();
    for batch in BATCHES {
        writeln!(epoch_rows, "{batch},{},measured,logs", epochs(batch))?;
        for workers in WORKERS {
            let (step, communication) = (step_s(workers, batch), communication_s(workers));
            writeln!(
                steps,
                "office-pc,{workers},{batch},{step},{communication},measured,logs"
            )?;
        }
    }
    // A wrong cell would be reported with its place, as in a file: `digits/steps.csv:3:9`.
    let files = [
        ("workload.toml", HEAD.to_owned()),
        ("steps.csv", steps),
        ("epochs.csv", epoch_rows),
    ];
    // Nothing varies at random here, so that the result can be checked by hand.
    let scenario = Scenario::options().workload("digits", files).parse(
        r#"
        workloads = ["digits"]
        pricing = { policies = ["office"], define.office.usd_per_vm_hour = 0.05 }
        search = { strategies = ["oracle"], objectives = ["time", "cost", "knee"] }
        "#,
    )?;

    println!("objective  workers × batch   time     cost");
    let mut fastest_h = None;
    scenario.run(|record| {
        let (workers, batch) = (record.chosen_workers, record.chosen_batch);
        let (Some(workers), Some(batch)) = (workers, batch) else {
            return;
        };
        let (hours, usd) = (record.time_h.unwrap_or(0.0), record.cost_usd.unwrap_or(0.0));
        println!(
            "{:<9}  {workers:>7} × {batch:<5}  {hours:.2} h  {usd:.2} USD",
            record.objective
        );
        // The simulated run takes what the formula says, up to a step that is begun.
        assert!((hours / time_h(workers, batch) - 1.0).abs() < 1e-3);
        if record.objective == "time" {
            fastest_h = Some(time_h(workers, batch));
        }
    })?;

    // No configuration is faster than the one that the oracle chose.
    let all = WORKERS
        .into_iter()
        .flat_map(|k| BATCHES.map(|batch| time_h(k, batch)));
    assert_eq!(fastest_h, all.min_by(f64::total_cmp));
    Ok(())
}
