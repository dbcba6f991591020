//! scavsim: a discrete-event simulator of machine-learning training on rented clusters.
//!
//! It replays measured per-step costs and SGD-noise curves over cluster configurations and pricing
//! policies, and judges how well a search strategy picks a configuration, against an oracle that
//! knows the truth. Same scenario, same seed, same bytes, whatever the number of cores.
//!
//! # A run
//!
//! A [`Scenario`] is the text that the program `scavsim` reads from a file; `docs/scenario.md` has every
//! key. Running it gives one [`Record`] per case, `docs/records.md` has every column.
//!
//! ```
//! use scavsim::Scenario;
//!
//! let scenario = Scenario::parse(
//!     r#"
//!     replicas = 20
//!     workloads = ["scavenger-resnet18"]
//!     variation.step_cv = 0.05
//!
//!     [search]
//!     strategies = ["oracle", "full", "random"]
//!     objectives = ["cost"]
//!     "#,
//! )?;
//! let mut regret = 0.0;
//! let finished = scenario.run(|record| {
//!     if record.strategy == "random" {
//!         regret += record.regret_cost.unwrap_or(0.0) / 20.0;
//!     }
//! })?;
//! assert_eq!((finished.cases, finished.failed), (3 * 20, 0)); // strategies × replicas
//! assert!(regret > 0.0, "drawing four of sixteen at random costs something");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Doors
//!
//! Everything that may be relied on stands on this page.
//!
//! - [`Scenario`]: parse, open, run. [`Options`]: with strategies, prices and workloads of one's own.
//!   [`Interrupt`]: stopped from outside. [`Mistakes`]: all that is wrong with a text, with places, each a [`Diagnostic`].
//! - [`Record`] and [`OwnedRecord`]: what came of a case; [`Finished`]: of all.
//! - [`Strategy`], which a [`Recipe`] in a [`Registry`] builds for a [`Task`]. It searches a [`Space`] on a
//!   [`Testbed`], and leaves a [`Forecast`]. What it [`Depends`] on is told; what it takes of the [`Past`] is counted.
//!   [`Spoken`]: one in another language, by a [`Conversation`] in lines of JSON.
//! - [`VmPrice`]: what a VM costs.
//!
//! `examples/` has a program for each of the three that one may bring: `own_strategy`, `own_price`, `own_workload`.
//!
//! # Features
//!
//! All are on by default and decide no result. `cli`: the program, and the files and tables that it writes;
//! `parquet`: records as Parquet; `arrow`: records as Arrow in memory (`RecordBatches`); `completions`: scripts for shells. A library needs none of them:
//! `default-features = false` leaves out half of all packages.
//!
//! # Rooms
//!
//! In reading order; `docs/architecture.md` says more.
//!
//! - `scenario`: what a user writes, checked.
//! - `experiment`: scenario → cases → parallel run → records; the oracle and the accounting.
//! - `search`: strategies, the models they fit, objectives.
//! - `testbed`: what a strategy can touch.
//! - `parallel`: models cut over GPUs, from profiles of their layers; `plans`: those as configurations.
//! - `bag`: bags of independent jobs on transient VMs.
//! - `job`: the life of a job; `cluster`: what a configuration is; `training`: how workers step, as
//!   events, in three fidelities.
//! - `usage`: which VMs were held, and what for.
//! - `workload`, `cloud`, `pricing`: what is trained, where, at what price.
//! - `engine`: clock and event queue; knows no machine learning.
//! - `space`: the configurations to choose from, over named axes; `grid`: real runs of them.
//! - `input`, `configuration`, `units`, `rng`, `stats`: shared vocabulary.
//!
//! With `cli`: `expression` is a small language of figures, `functions` what it asks of the model;
//! `import` makes measurements into workloads, with `fit` for the laws; `advise` decides on them; `report` writes result
//! files and tables; `reproduce` puts published figures beside ours; `cli` has one file per command.

// What a room offers is listed whole, whether or not another room takes all of it; with `inside` a name that
// a file does not use is reported as ever.
#![cfg_attr(not(feature = "inside"), allow(unused_imports))]
// Without the program some of what it alone asks for is left.
#![cfg_attr(not(feature = "cli"), allow(dead_code))]

pub use cloud::{Fleet, Machine, Market, VmType};
pub use door::{Options, RunError, Scenario};
pub use engine::Interrupt;
#[cfg(feature = "arrow")]
pub use experiment::RecordBatches;
pub use experiment::{Ending, Finished, OwnedRecord, Record, Status};
pub use input::{Diagnostic, Mistakes};
pub use pricing::{NoPrice, Rented, VmPrice};
pub use rng::Stream;
pub use search::{
    Conversation, Depends, Forecast, Limits, Objective, Offer, Past, Prices, Recipe, Registry,
    Spoken, Strategy, Taken, Task, Unusable,
};
pub use space::{Axis, Kind as AxisKind, NoSpace, Space};
pub use testbed::{Extent, History, Observation, PastRun, Spent, Stop, Target, Testbed};

#[cfg(feature = "cli")]
pub mod cli;
mod door;

// Private, so that the compiler says what nobody uses. This project's own tests and benches look inside.
cfg_if::cfg_if! {
    if #[cfg(feature = "inside")] {
        #[cfg(feature = "cli")]
        pub mod advise;
        pub mod bag;
        pub mod cloud;
        pub mod cluster;
        #[cfg(feature = "cli")]
        pub mod compare;
        pub mod configuration;
        pub mod engine;
        pub mod experiment;
        #[cfg(feature = "cli")]
        pub mod expression;
        pub mod fit;
        #[cfg(feature = "figures")]
        pub mod figure;
        #[cfg(feature = "cli")]
        pub mod functions;
        pub mod grid;
        #[cfg(feature = "cli")]
        pub mod import;
        pub mod input;
        pub mod job;
        #[cfg(feature = "cli")]
        pub mod latency;
        #[cfg(feature = "figures")]
        pub mod page;
        pub mod parallel;
        pub mod plans;
        pub mod pricing;
        #[cfg(feature = "cli")]
        pub mod report;
        #[cfg(feature = "cli")]
        pub mod reproduce;
        pub mod rng;
        pub mod scenario;
        pub mod search;
        pub mod space;
        pub mod stats;
        pub mod testbed;
        pub mod training;
        pub mod units;
        pub mod usage;
        #[cfg(feature = "cli")]
        pub mod validate;
        pub mod workload;
    } else {
        #[cfg(feature = "cli")]
        mod advise;
        mod bag;
        mod cloud;
        mod cluster;
        #[cfg(feature = "cli")]
        mod compare;
        mod configuration;
        mod engine;
        mod experiment;
        #[cfg(feature = "cli")]
        mod expression;
        mod fit;
        #[cfg(feature = "figures")]
        mod figure;
        #[cfg(feature = "cli")]
        mod functions;
        mod grid;
        #[cfg(feature = "cli")]
        mod import;
        mod input;
        mod job;
        #[cfg(feature = "cli")]
        mod latency;
        #[cfg(feature = "figures")]
        mod page;
        mod parallel;
        mod plans;
        mod pricing;
        #[cfg(feature = "cli")]
        mod report;
        #[cfg(feature = "cli")]
        mod reproduce;
        mod rng;
        mod scenario;
        mod search;
        mod space;
        mod stats;
        mod testbed;
        mod training;
        mod units;
        mod usage;
        #[cfg(feature = "cli")]
        mod validate;
        mod workload;
    }
}

// The code in the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
