//! Turns measurements of others, and of the user, into workload folders: a [`Draft`] in memory, and a [`Report`] of what was
//! read, dropped, fitted and assumed. Every mistake in the input has its place; nothing is written if there is one.
//!
//! A new format is a file here and a subcommand in `cli/import.rs`. A script next to a published data set converts it to one
//! of these formats, such as `data/workloads/make_pollux.py`.

mod csv_text;
pub mod draft;
pub mod figure;
pub mod folder;
pub mod grid;
mod law_text;
pub mod layers;
pub mod market;
pub mod model;
pub mod prices;
pub mod profile;
pub mod report;
pub mod trial;

use scavsim_read::input::{Diagnostic, Diagnostics};

pub use draft::Draft;
pub use report::Report;

#[derive(Debug, Clone)]
pub struct ImportResult {
    pub draft: Draft,
    pub report: Report,
    /// The measurements themselves, by configuration.
    pub runs: Vec<MeasuredRun>,
}

/// A single measurement of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRun {
    pub vm: String,
    pub workers: u32,
    /// Samples of all workers in a step.
    pub batch: u32,
    pub step_s: f64,
    pub epochs: Option<f64>,
}

fn refuse(option: &str, legal: &str, diagnostics: &mut Diagnostics) {
    let title = format!("--{option} is invalid");
    diagnostics.push(Diagnostic::general(title).with_help(format!("expected {legal}")));
}
