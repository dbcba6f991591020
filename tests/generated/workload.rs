//! A small custom workload: some hundreds to some thousands of updates, on VM types with listed prices.

use std::fmt::Write as _;

use crate::luck::Luck;
use crate::world::{World, between};

/// Its folder.
pub const FOLDER: &str = "own";

/// The workload's files, its updates, and the seconds of a worker's step.
pub struct Own {
    pub files: Vec<(String, String)>,
    pub updates: f64,
    /// Maximum seconds of a step.
    pub step_s: f64,
    /// Whether its VM types have a law of a worker's time by cores.
    pub is_by_cores: bool,
}

/// Generates a workload for a world, whose scale it sets.
pub fn own(world: &mut World, luck: &mut Luck) -> Own {
    let worker_s = between(0.2, 60.0, luck);
    let sync_s = if luck.once_in(4) {
        0.0
    } else {
        worker_s * between(0.01, 0.5, luck)
    };
    let updates = between(150.0, 1500.0, luck).round();
    world.workers = vec![1, 2, 3, 4, 6, 8];
    world.local_batches = vec![8, 16, 32];
    (world.worker_s, world.job_h) = (worker_s, updates * (worker_s + sync_s) / 3600.0);
    let (mut steps, mut epochs, mut noise) = (
        "vm,workers,batch,step_s,communication_s,origin,source\n".to_owned(),
        "workers,batch,epochs,origin,source\n".to_owned(),
        "workers,batch,noise_normalised,origin,source\n".to_owned(),
    );
    let speeds: Vec<f64> = world.vms.iter().map(|_| between(0.5, 1.5, luck)).collect();
    for &workers in &world.workers {
        for &local in &world.local_batches {
            let batch = workers * local;
            let growth = 1.0 + 64.0 / f64::from(batch);
            writeln!(
                epochs,
                "{workers},{batch},{:.6},measured,own",
                updates * growth * f64::from(batch) / 1e5
            )
            .expect("it is in memory");
            let shrinks = 0.5 + 0.5 / f64::from(batch).sqrt();
            // One worker has no noise to average.
            if workers > 1 {
                writeln!(noise, "{workers},{batch},{shrinks:.4},measured,own")
                    .expect("it is in memory");
            }
            for (vm, speed) in world.vms.iter().zip(&speeds) {
                let compute = worker_s * speed * (0.6 + 0.4 * f64::from(local) / 16.0);
                let communicates = sync_s * f64::from(workers - 1) / 4.0;
                writeln!(
                    steps,
                    "{vm},{workers},{batch},{:.6},{communicates:.6},measured,own",
                    compute + communicates
                )
                .expect("it is in memory");
            }
        }
    }
    let constant = |name: &str, value: u32| {
        format!("{name} = {{ value = {value}, origin = \"derived\", source = \"own\" }}\n")
    };
    let mut about = "name = \"own\"\nmodel = \"none\"\ndata_set = \"none\"\ntarget = \"n updates\"\ncitation = \"own\"\n\
                     accuracy = \"exact\"\nlicence = \"none\"\nstep_measured = \"worker\"\n\n[constants]\n"
        .to_owned();
    about += &constant("samples_per_epoch", 100_000);
    about += &constant("cold_start_steps", luck.below(20) as u32);
    about += &constant("probe_steps", 2 + luck.below(20) as u32);
    about += &constant("restore_s", luck.below(30) as u32);
    // A law by cores, which need not match a measurement.
    let is_by_cores = luck.once_in(6);
    if is_by_cores {
        for vm in &world.vms {
            let sample_s = crate::world::number(worker_s / 16.0);
            about += &format!(
                "\n[laws.steps.\"{vm}\"]\ncommunication.linear = {{ base_s = 0.0, per_worker_s = {} }}\n\n[laws.steps.\"{vm}\".compute.worker]\n\
                 size = 4\nlaw = {{ sample_s = {sample_s}, speed = \"linear\", beyond_knee = 2 }}\n",
                crate::world::number(sync_s / 4.0),
            );
        }
        about += &format!(
            "\n[laws.epochs]\nconstant = {{ epochs = {:?} }}\n",
            updates / 1e3
        );
    }
    let files = [
        ("workload.toml", about),
        ("steps.csv", steps),
        ("epochs.csv", epochs),
        ("noise.csv", noise),
    ];
    Own {
        files: files
            .map(|(name, text)| (format!("{FOLDER}/{name}"), text))
            .into(),
        updates,
        step_s: 2.1 * worker_s + 1.75 * sync_s,
        is_by_cores,
    }
}
