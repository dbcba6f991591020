//! Measurements of others, and of the user, made into workload folders.
//!
//! In: the files of a source. Out: a [`Draft`], which is a workload folder in memory, and a
//! [`Report`] of what was read, dropped, fitted and assumed. Every mistake in the input comes
//! with its place; nothing is written unless there is none.
//!
//! - [`draft`]: the folder in memory, and its text; `law_text`: that of its laws.
//! - [`figure`]: numbers with as many digits as they deserve.
//! - [`folder`]: the folder on disk, whole or not at all.
//! - [`report`]: what happened, for people.
//! - `step_laws`: the law of steps, for all sources that measured them.
//! - [`trial`]: whether a scenario takes what was made.
//!
//! One file per source:
//!
//! - [`pollux`]: step times and gradient noise of the Pollux artifact.
//! - [`mlperf`]: MLPerf reference convergence points and results.
//! - [`profile`]: a table of the user's own measurements.
//! - [`layers`]: seconds and bytes of a model's layers, for plans that cut it over GPUs.
//! - [`model`]: the architecture of a model from its `config.json`.
//! - [`market`]: traces of spot availability, made into a market that policies meet.
//! - [`prices`]: prices of others, made into a table that a scenario names.
//! - [`grid`]: real runs over configurations, not made into a workload but replayed as they are.
//!
//! A new source is a file here and a subcommand in `cli/import.rs`.

pub mod draft;
pub mod figure;
pub mod folder;
pub mod grid;
mod law_text;
pub mod layers;
pub mod market;
pub mod mlperf;
pub mod model;
pub mod pollux;
pub mod prices;
pub mod profile;
pub mod report;
mod step_laws;
pub mod trial;

use draft::Constant;
use scavsim_data::workload::Origin;
use scavsim_data::workload::head::MOST_PARAMETERS;
use scavsim_read::input::{Diagnostic, Diagnostics};

pub use draft::Draft;
pub use report::Report;

#[derive(Debug, Clone)]
pub struct ImportResult {
    pub draft: Draft,
    pub report: Report,
}

/// Steps of one probe, and until the noise reading settles, where no source says.
pub const PROBE_STEPS: f64 = 20.0;
/// See [`PROBE_STEPS`].
pub const COLD_START_STEPS: f64 = 100.0;
/// Most samples in one pass over the data.
pub const MOST_SAMPLES: u64 = 1_000_000_000_000;

fn refuse(option: &str, legal: &str, diagnostics: &mut Diagnostics) {
    let title = format!("--{option} is not possible");
    diagnostics.push(Diagnostic::general(title).with_help(format!("expected {legal}")));
}

/// The shape of VMs of a type with so many workers on each.
fn shape(vm: &str, each: u32) -> String {
    match each {
        1 => vm.to_owned(),
        each => format!("{vm}/{each}"),
    }
}

/// What `--parameters` takes.
const PARAMETERS: &str = "a whole number between 1 and 10^15";

fn not_parameters(given: u64) -> bool {
    given == 0 || given as f64 > MOST_PARAMETERS
}

fn parameters(given: u64) -> Constant {
    Constant {
        name: "parameters",
        value: given as f64,
        origin: Origin::Stated,
        source: "given when it was imported".to_owned(),
    }
}
