//! What a user writes: the scenario file, checked before anything runs.
//!
//! In: a TOML file and overrides from the command line. Out: a [`Scenario`] in which every name is
//! resolved and every configuration lies inside the measured hull, or all mistakes at once.
//!
//! - [`check`]: the file → a checked scenario; what is checked in which order.
//! - [`file`](mod@file): the form of the file, as read; the JSON Schema comes from it. [`axis`]: a list
//!   of whole values, a range, or what was measured; [`scale_axis`]: the same for positive numbers.
//! - [`lists`]: keys that may hold several values, and make settings or policies.
//! - [`include`](mod@include), `files`: files that a scenario is put together from.
//! - [`library`]: scenarios that come with the program, and may be included.
//! - [`given`]: strategies, prices and workloads of a program's own.
//! - `complaints`: where the text is, and what was found wrong with it.
//! - `workloads`, `prices`, `strategies`: names → what they stand for; [`remarks`]: what is to be minded of them.
//! - `bag`: a bag of jobs, and the ways to run it; [`bag_table`]: its form.
//! - `parallel`: a model that is cut over GPUs, and the plans for it; [`parallel_table`]: its form.
//! - [`machines`]: VM types that were not measured.
//! - `settings`: one of each for every combination of values. `setup`: how clusters live; `spot`: VMs that can be taken away; `availability`: workers that share their cores; `elastic`: clusters that follow a
//!   price; `kinds`: unlike workers, markets, servers; `sizes`: whether all of them can run.
//! - `excluded`: keys that mean nothing beside a grid, a bag or parallel plans. `extent`: how much of all there may be. `precision`: how well net overheads are to be known.
//! - `axes`, `configurations`, `hull`: what to choose from, inside what was measured; `left_out`: what is not, and why.

mod availability;
mod axes;
pub mod axis;
mod bag;
pub mod bag_table;
pub mod check;
mod complaints;
mod configurations;
mod elastic;
mod excluded;
mod extent;
pub mod file;
mod files;
pub mod given;
pub mod grids;
mod hull;
pub mod include;
mod kinds;
mod left_out;
pub mod library;
pub mod lists;
pub mod machines;
mod parallel;
pub mod parallel_table;
mod precision;
mod prices;
pub mod remarks;
pub mod scale_axis;
pub mod schema;
mod settings;
mod setup;
mod sizes;
mod spot;
mod stale;
mod strategies;
mod workloads;

pub use check::{Overrides, load, load_with};
pub use file::{ScenarioFile, Together};
pub use given::Given;
pub use grids::MeasuredJobs;
pub use left_out::LeftOut;
pub use precision::WantedPrecision;
pub use remarks::Remarks;

use std::ops::Range;
use std::sync::Arc;

pub use machines::Machine;
use scavsim_base::units::SimTime;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::pricing::Policy;
use scavsim_data::workload::{Reach, Workload};
use scavsim_search::search::{Limits, Objective, Registry, Settings};
use scavsim_sim::bag::{Bag, Choices};
use scavsim_sim::cluster::Setup;
use scavsim_sim::plans;
use scavsim_sim::training::{Fidelity, Variation};

/// A checked scenario: everything in it exists and is legal.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Replicas per combination; where a precision is wanted, those to begin with.
    pub replicas: u64,
    /// How well net overheads are to be known; `None` where the number of replicas is given.
    pub precision: Option<WantedPrecision>,
    /// Whether replicas 2r and 2r + 1 share their luck, the second mirrored.
    pub antithetic: bool,
    /// How finely runs are simulated.
    pub fidelity: Fidelity,
    /// The workloads, each with the configurations to choose from.
    pub workloads: Vec<(Workload, Vec<Configuration>)>,
    /// Jobs of a measured grid, instead of workloads.
    pub measured: Option<MeasuredJobs>,
    /// A bag of jobs and the ways to run it, instead of both.
    pub bag: Option<Arc<Choices>>,
    /// Plans by which a model is cut over GPUs, instead of all of these.
    pub parallel: Option<Arc<plans::Choices>>,
    /// Which configurations a search chooses between.
    pub search: Together,
    /// Workloads whose earlier runs the model of all jobs may use.
    pub stored: Vec<Workload>,
    /// VM types that were not measured.
    pub machines: Vec<Machine>,
    /// How far beyond its measurements a workload may be asked.
    pub reach: Reach,
    /// What it is run in, one after the other; one at least.
    pub runs_in: Vec<Setting>,
    /// Delay between a request of VMs and their readiness.
    pub start_up: SimTime,
    /// Pricing policies.
    pub policies: Vec<Policy>,
    /// Objectives.
    pub objectives: Vec<Objective>,
    /// Names of the strategies, the oracle possibly among them.
    pub strategies: Vec<String>,
    /// What is to be minded of its prices and of what strategies know.
    pub remarks: Remarks,
    /// Configurations that are not searched although nobody asked for it, of the workloads that have such.
    pub left_out: Vec<LeftOut>,
    /// Sentences on strategies that were named as they were called before.
    pub renamed: Vec<String>,
    /// Settings of the strategies.
    pub settings: Settings,
    /// What names of strategies stand for.
    pub registry: Registry,
    /// What no choice may exceed.
    pub limits: Limits,
    /// BLAKE3 hash of the file's text; of several files', when it includes others.
    pub hash: String,
}

/// One combination of the values of keys that hold several; everything else of a scenario is the same in all.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its keys and values, as `spot.replacement_s=60;variation.step_cv=0.05`; empty where no key holds several values.
    pub name: String,
    /// What varies at random.
    pub variation: Variation,
    /// How clusters live: protocol, losses of VMs, kinds.
    pub setup: Setup,
    /// The terms of the bag of jobs, where there is one.
    pub bag: Option<Arc<Bag>>,
    /// The terms of a job on parallel plans, where there are such.
    pub parallel: Option<Arc<plans::Terms>>,
    /// How often the job will be run, where that is said.
    pub repeats: Option<u64>,
}

impl Scenario {
    /// Searches that are neither of workloads nor of a grid: the bag, the parallel plans.
    pub fn stated(&self) -> usize {
        usize::from(self.bag.is_some()) + usize::from(self.parallel.is_some())
    }

    /// The configurations of these.
    pub fn stated_configurations(&self) -> usize {
        let bag = self.bag.as_ref().map_or(0, |bag| bag.space.len());
        let plans = self.parallel.as_ref().map_or(0, |plans| plans.space.len());
        bag + plans
    }

    /// Number of cases: one per setting, workload, or VM type of it where each is searched by itself, and per
    /// policy, objective, strategy and replica.
    pub fn cases(&self) -> u64 {
        let searches: usize = match self.search {
            Together::All => self.workloads.len(),
            Together::EachVm => (self.workloads.iter())
                .map(|(_, configurations)| by_vm(configurations).len())
                .sum(),
        };
        let measured = self.measured.as_ref().map_or(0, |m| m.jobs.len());
        (searches + measured + self.stated()) as u64
            * self.runs_in.len() as u64
            * self.policies.len() as u64
            * self.objectives.len() as u64
            * self.strategies.len() as u64
            * self.replicas
    }
}

/// Runs of configurations of one VM type.
pub fn by_vm(configurations: &[Configuration]) -> Vec<Range<usize>> {
    fn vm_type(c: &Configuration) -> &str {
        Shape::parse(&c.vm).map_or(&c.vm, |shape| shape.vm_type)
    }
    let mut start = 0;
    (configurations.chunk_by(|a, b| vm_type(a) == vm_type(b)))
        .map(|run| {
            start += run.len();
            start - run.len()..start
        })
        .collect()
}
