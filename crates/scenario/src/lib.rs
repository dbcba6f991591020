//! The user's input: the scenario file, checked before anything runs. From Rust: [`door`].
//!
//! In: a TOML file and overrides from the command line. Out: a [`Scenario`] in which every name is resolved and every configuration
//! lies inside the measured hull, or all mistakes at once.
//!
//! - [`check`]: the order of checks; `complaints`: their mistakes. [`file`](mod@file): the form of the file, with its JSON Schema.
//! - [`subject`]: the subject of a scenario: clusters, a grid, a bag, parallel plans, policies.
//! - `setup`: how clusters are rented; `settings`: one for every combination of values of keys that hold several.

mod availability;
mod axes;
pub mod axis;
pub mod bag_table;
pub mod check;
mod complaints;
mod configurations;
pub mod declared;
pub mod door;
pub mod extensions;
mod extent;
pub mod failures_table;
pub mod file;
mod file_reader;
mod files;
pub mod forms;
mod hull;
pub mod include;
mod kinds;
pub mod library;
pub mod machines;
mod measured_defaults;
pub mod parallel_table;
mod precision;
mod price_gaps;
mod prices;
pub mod scale_axis;
pub mod scenario_warnings;
pub mod schema;
mod settings;
mod setup;
mod sizes;
mod spot;
mod strategies;
pub mod subject;
mod workloads;

pub use check::{Overrides, load, load_with};
pub use extensions::Extensions;
pub use file::ScenarioFile;
pub use scavsim_clusters::ClusterScenario;
pub use scavsim_experiment::scenario::Scenario;

/// The supported API of the crate `scavsim`, from this crate and those below.
pub mod face {
    pub use scavsim_search::face::*;

    pub use crate::door::{Options, RunError, Scenario};
    #[cfg(feature = "arrow")]
    pub use scavsim_experiment::RecordBatches;
    pub use scavsim_experiment::{
        Finished, OwnedAxes, OwnedRecord, Record, RecordAxes, RunEnding, Status,
    };
}
