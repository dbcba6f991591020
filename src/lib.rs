//! scavsim: a discrete-event simulator of machine-learning training on rented clusters.
//!
//! It replays measured per-step costs and SGD-noise curves over cluster configurations and pricing
//! policies, and judges how well a search strategy picks a configuration, against an oracle that
//! knows the truth.
//!
//! The rooms, in reading order:
//! - [`scenario`]: what a user writes, checked.
//! - [`experiment`]: scenario → cases → parallel run → records; the oracle and the accounting.
//! - [`search`]: strategies, the models they fit, objectives.
//! - [`testbed`]: what a strategy can touch.
//! - [`job`]: the life of a job; [`cluster`]: what a configuration is; [`training`]: how workers step, as
//!   events, in three fidelities.
//! - [`usage`]: which VMs were held, and what for.
//! - [`workload`], [`cloud`], [`pricing`]: what is trained, where, at what price.
//! - [`engine`]: clock and event queue; knows no machine learning.
//! - [`import`]: measurements made into workloads, with [`fit`] for the laws.
//! - [`report`]: result files and tables; [`reproduce`]: published figures beside ours.
//! - [`cli`]: one file per command.
//! - [`space`]: the configurations to choose from, over named axes; [`grid`]: real runs of them.
//! - [`input`], [`checked`], [`configuration`], [`shape`], [`units`], [`rng`], [`stats`]: shared vocabulary.

pub use cloud::{Fleet, Market, VmType};
pub use experiment::{Ending, Finished, OwnedRecord, Record, RunError, Status};
pub use input::{Diagnostic, Mistakes};
pub use pricing::{NoPrice, Rented, VmPrice};
pub use rng::Stream;
pub use scenario::{Options, Scenario};
pub use search::{
    Depends, Forecast, Limits, Objective, Offer, Past, Prices, Recipe, Registry, Strategy, Taken,
    Task, Unusable,
};
pub use space::{Axis, Space};
pub use testbed::{Extent, History, Observation, PastRun, Spent, Stop, Target, Testbed};

pub mod checked;
#[cfg(feature = "cli")]
pub mod cli;
pub mod cloud;
pub mod cluster;
pub mod configuration;
pub mod engine;
pub mod experiment;
#[cfg(feature = "cli")]
pub mod fit;
pub mod grid;
#[cfg(feature = "cli")]
pub mod import;
pub mod input;
pub mod job;
pub mod pricing;
#[cfg(feature = "cli")]
pub mod report;
#[cfg(feature = "cli")]
pub mod reproduce;
pub mod rng;
pub mod scenario;
pub mod search;
pub mod shape;
pub mod space;
pub mod stats;
pub mod testbed;
pub mod training;
pub mod units;
pub mod usage;
pub mod workload;
