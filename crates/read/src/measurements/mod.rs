//! Measured steps in any supported file: recognised by its contents, and written as a table of `vm`, `workers`, `batch` and
//! `step_s`. A row keeps its line of the measurement. A new kind is a function and a line in `KINDS`.

mod export;
mod json;
mod log;
mod own_table;
mod steps;
mod words;

use std::sync::Arc;

use crate::input::{Diagnostics, Source};
use steps::{MeasurementFile, TableResult};
pub use steps::{Recognised, RunFacts};

/// Returns `None` for a file of another kind.
type MeasurementReader = fn(&MeasurementFile<'_>, &RunFacts<'_>) -> Option<TableResult>;
const KINDS: &[MeasurementReader] = &[
    log::read_megatron,
    log::read_deepspeed,
    log::refuse_nccl,
    log::read_trainer_summary,
    json::read,
    export::read_tensorboard,
    export::read_wandb,
    export::read_lightning,
    export::read_ultralytics,
    export::refuse_optuna,
    log::read_progress_bars,
    own_table::read,
];

/// Recognises a file and reads it; `None` after a mistake.
pub fn recognise(
    source: &Arc<Source>,
    facts: &RunFacts<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Recognised> {
    let file = &MeasurementFile::new(source);
    match KINDS.iter().find_map(|read| read(file, facts)) {
        None => Some(Recognised {
            table: Arc::clone(source),
            sentence: None,
            says_batch: false,
            says_unit: false,
        }),
        Some(Ok(recognised)) => Some(recognised),
        Some(Err(mistake)) => {
            diagnostics.push(mistake);
            None
        }
    }
}
