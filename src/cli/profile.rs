//! A table of the user's own measurements, as an argument of commands.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Failure, wrong};
use super::units;
use scavsim_import::profile::{BatchIs, ProfileOptions, RunDescription, Unit};

/// The table, and what it does not hold.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Table with vm, workers, batch, step_s; where known compute_s, communication_s, noise, epochs
    ///
    /// Also read: usual names and rates, logs of Megatron-LM, `DeepSpeed`, a Trainer and tqdm, `trainer_state.json`,
    /// `PyTorch` profiler traces, and exports of `TensorBoard`, W&B, Lightning and Ultralytics.
    pub(super) file: PathBuf,
    /// Samples in one pass over the data
    #[arg(long, value_name = "N", value_parser = units::count::<0, { u64::MAX }>)]
    samples_per_epoch: u64,
    /// Unit of the times in the table [default: s; asked about where that is not likely]
    #[arg(long)]
    unit: Option<Unit>,
    /// Whose samples `batch` counts [default: global; asked about where that is not likely]
    #[arg(long)]
    batch: Option<BatchIs>,
    /// Seconds to restore a checkpoint in a new configuration [default: 60]
    #[arg(long, value_name = "S", value_parser = units::seconds)]
    restore_s: Option<f64>,
    /// Parameters of the model, whose gradients workers exchange: other jobs learn communication by them
    #[arg(long, value_name = "N", value_parser = units::count::<0, { u64::MAX }>)]
    parameters: Option<u64>,
    /// VM type of a log or export, which does not say it
    #[arg(long, value_name = "TYPE")]
    vm: Option<String>,
    /// Workers, all together, of a log or export
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    workers: Option<u32>,
    /// Samples of all workers in a step of a log or export
    #[arg(long, value_name = "B", value_parser = units::count32::<1, 1_000_000_000>)]
    batch_size: Option<u32>,
    /// Tokens of a sample, where a table has tokens per second
    #[arg(long, value_name = "N", value_parser = units::count32::<1, 100_000_000>)]
    tokens_per_sample: Option<u32>,
}

/// Passes over data.
#[derive(Debug, Args)]
pub(super) struct EpochsArg {
    /// Passes over the data to the target, for batches without their own; of a model, over `--samples`
    #[arg(long, value_name = "N", value_parser = units::number)]
    pub(super) epochs: Option<f64>,
}

impl ProfileArgs {
    /// Refuses a scenario, and names the commands for scenarios.
    pub(super) fn refuse_scenario(&self) -> Result<(), Failure> {
        if self.file.extension().is_none_or(|ending| ending != "toml") {
            return Ok(());
        }
        let file = self.file.display();
        let help =
            format!("`scavsim run {file}` runs it, `scavsim rank {file}` ranks its configurations");
        Err(wrong(
            format!("{file} is no table of measurements, but a scenario"),
            &help,
        ))
    }

    /// Options of the import, as the workload `name`.
    pub(super) fn options(&self, name: String, epochs: Option<f64>) -> ProfileOptions {
        ProfileOptions {
            file: self.file.clone(),
            name,
            samples_per_epoch: self.samples_per_epoch,
            epochs,
            unit: self.unit,
            batch: self.batch,
            cold_start_steps: None,
            probe_steps: None,
            restore_s: self.restore_s,
            parameters: self.parameters,
            run: RunDescription {
                vm: self.vm.clone(),
                workers: self.workers,
                batch: self.batch_size,
                sequence: self.tokens_per_sample,
            },
        }
    }
}
