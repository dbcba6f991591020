//! What a user writes: the scenario file, checked before anything runs.
//!
//! In: a TOML file and overrides from the command line. Out: a [`Scenario`] in which every name is
//! resolved and every configuration lies inside the measured hull, or all mistakes at once.
//!
//! - [`check`]: the file → a checked scenario; what is checked in which order.
//! - [`file`](mod@file): the form of the file, as read; the JSON Schema comes from it. [`axis`]: a list
//!   of whole values, a range, or what was measured; [`scale_axis`]: the same for positive numbers.
//! - [`include`](mod@include), `files`, `file_reader`: files that a scenario is put together from.
//! - [`declared`]: what can be named, by kind, and what it says of itself.
//! - [`library`]: scenarios that come with the program, and may be included.
//! - [`extensions`]: strategies, prices and workloads of a program's own.
//! - `complaints`: where the text is, and what was found wrong with it.
//! - `workloads`, `prices`, `strategies`: names → what they stand for; [`scenario_warnings`]: what is to be minded of them.
//! - `measured_defaults`: what `[spot]` and `[failures]` leave unsaid.
//! - [`subject`]: what a scenario is about (clusters, a grid, a bag, parallel plans), which keys it reads, and how it is
//!   searched; [`bag_table`], [`parallel_table`]: forms of two of them.
//! - [`machines`]: VM types that were not measured.
//! - `settings`: one of each for every combination of values. `setup`: how clusters live; `spot`: VMs that can be taken away; `availability`: workers that share their cores; `elastic`: clusters that follow a
//!   price; `kinds`: unlike workers, markets, servers; `sizes`: whether all of them can run.
//! - `extent`: how much of all there may be. `precision`: how well net overheads are to be known.
//! - `axes`, `configurations`, `hull`: what to choose from, inside what was measured; `left_out`: what is not, and why.

mod availability;
mod axes;
pub mod axis;
pub mod bag_table;
pub mod check;
pub mod checkpoint_choice;
mod complaints;
mod configurations;
pub mod declared;
mod elastic;
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
mod left_out;
pub mod library;
pub mod machines;
mod measured_defaults;
pub mod parallel_table;
mod precision;
mod prices;
pub mod scale_axis;
pub mod scenario_warnings;
pub mod schema;
mod settings;
mod setup;
mod sizes;
mod spot;
mod stale;
mod strategies;
pub mod subject;
mod workloads;

pub use check::{Overrides, load, load_with};
pub use extensions::Extensions;
pub use file::{ScenarioFile, SearchGrouping};
pub use left_out::LeftOut;
pub use precision::WantedPrecision;
pub use scenario_warnings::ScenarioWarnings;
pub use subject::{Clusters, Subject};

pub use machines::Machine;
use std::sync::Arc;

use scavsim_base::units::SimTime;
use scavsim_data::configuration::Configuration;
use scavsim_data::pricing::Policy;
use scavsim_data::workload::Workload;
use scavsim_search::search::{CLAIRVOYANT, Limits, Objective, Registry, Settings};
use scavsim_sim::cluster::Setup;
use scavsim_sim::training::{Fidelity, Variation};

/// A checked scenario: everything in it exists and is legal.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Name of the scenario.
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
    /// What it is about, with the configurations to choose from.
    pub subject: Subject,
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
    pub remarks: ScenarioWarnings,
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
    /// Place of the setting among all settings of the file.
    pub(crate) number: usize,
    /// Keys and values of the setting, as `spot.replacement_s=60;variation.step_cv=0.05`; empty where no key holds
    /// several values.
    pub name: String,
    pub variation: Variation,
    /// How clusters live: protocol, losses of VMs, kinds.
    pub setup: Setup,
    /// How often the job will be run, where that is said.
    pub repeats: Option<u64>,
}

impl Scenario {
    /// The clusters that it is about, if it is about such.
    pub fn clusters(&self) -> Option<&Clusters> {
        self.subject.clusters()
    }

    /// The workloads of its clusters, each with the configurations to choose from.
    pub fn workloads(&self) -> &[(Workload, Vec<Configuration>)] {
        self.clusters().map_or(&[], |own| &own.workloads)
    }

    /// The workloads of its clusters, to be changed.
    pub fn workloads_mut(&mut self) -> &mut [(Workload, Vec<Configuration>)] {
        match &mut self.subject {
            Subject::Clusters(own) => &mut Arc::make_mut(own).workloads,
            _ => &mut [],
        }
    }

    /// Configurations that are not searched although nobody asked for it, of the workloads that have such.
    pub fn left_out(&self) -> &[LeftOut] {
        self.clusters().map_or(&[], |own| &own.left_out)
    }

    /// Whether every VM type is searched by itself.
    pub fn is_across_vms(&self) -> bool {
        (self.clusters()).is_some_and(|own| own.search == SearchGrouping::EachVm)
    }

    /// Programs that its strategies are, each with its name.
    pub fn programs(&self) -> Vec<String> {
        let own = |name: &String| {
            let program = self.settings.own.get(name)?.program();
            Some(format!("`{name}`: {program}"))
        };
        let policies = self.subject.study().map(|study| study.programs());
        let strategies = self.strategies.iter().filter_map(own);
        strategies.chain(policies.into_iter().flatten()).collect()
    }

    /// Takes out strategies and policies that are programs.
    pub fn leave_out_programs(&mut self) {
        let own = &self.settings.own;
        self.strategies.retain(|name| !own.contains_key(name));
        if let Subject::Policies(policies) = &mut self.subject {
            let study = Arc::make_mut(&mut policies.study);
            study
                .policies
                .retain(|(_, recipe)| recipe.program().is_none());
            let names = || study.policies.iter().map(|(name, _)| name);
            (self.strategies).retain(|own| own == CLAIRVOYANT || names().any(|name| name == own));
        }
    }

    /// Number of cases: one per setting, workload, or VM type of it where each is searched by itself, and per
    /// policy, objective, strategy and replica.
    pub fn cases(&self) -> u64 {
        self.subject.topic().searches().len() as u64
            * self.runs_in.len() as u64
            * self.policies.len() as u64
            * self.objectives.len() as u64
            * self.strategies.len() as u64
            * self.replicas
    }
}
