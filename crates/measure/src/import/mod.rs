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
//! - [`trial`]: whether a scenario takes what was made.
//!
//! One file per form:
//!
//! - [`profile`]: a table of the user's own measurements.
//! - [`layers`]: seconds and bytes of a model's layers, for plans that cut it over GPUs.
//! - [`model`]: the architecture of a model from its `config.json`.
//! - [`market`]: traces of spot availability, made into a market that policies meet.
//! - [`prices`]: prices of others, made into a table that a scenario names.
//! - [`grid`]: real runs over configurations, not made into a workload but replayed as they are.
//!
//! A new form is a file here and a subcommand in `cli/import.rs`. A published data set becomes the table of one of these by a
//! script beside it, such as `data/workloads/make_pollux.py`.

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
}

fn refuse(option: &str, legal: &str, diagnostics: &mut Diagnostics) {
    let title = format!("--{option} is not possible");
    diagnostics.push(Diagnostic::general(title).with_help(format!("expected {legal}")));
}
