//! What a user writes: the scenario file, checked before anything runs.
//!
//! In: a TOML file and overrides from the command line. Out: a [`Scenario`] in which every name is resolved and every configuration
//! lies inside the measured hull, or all mistakes at once.
//!
//! - [`check`]: the order of checks; `complaints`: their mistakes. [`file`](mod@file): the form of the file, with its JSON Schema.
//! - [`subject`]: what a scenario is about: clusters, a grid, a bag, parallel plans, policies.
//! - `setup`: how clusters live; `settings`: one for every combination of values of keys that hold several.

mod availability;
mod axes;
pub mod axis;
pub mod bag_table;
pub mod check;
mod complaints;
mod configurations;
pub mod declared;
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
    pub name: String,
    pub seed: u64,
    /// Per combination; where a precision is wanted, those to begin with.
    pub replicas: u64,
    pub precision: Option<WantedPrecision>,
    /// Whether replicas 2r and 2r + 1 share their luck, the second mirrored.
    pub antithetic: bool,
    pub fidelity: Fidelity,
    pub subject: Subject,
    /// At least one.
    pub runs_in: Vec<Setting>,
    /// Delay between a request of VMs and their readiness.
    pub start_up: SimTime,
    pub policies: Vec<Policy>,
    pub objectives: Vec<Objective>,
    /// The oracle possibly among them.
    pub strategies: Vec<String>,
    pub remarks: ScenarioWarnings,
    /// Sentences on strategies with former names.
    pub renamed: Vec<String>,
    pub settings: Settings,
    pub registry: Registry,
    pub limits: Limits,
    /// BLAKE3 hash of the file's text; of several files', when it includes others.
    pub hash: String,
}

/// One combination of the values of keys that hold several.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Place among all settings of the file.
    pub(crate) number: usize,
    /// Keys and values, as `spot.replacement_s=60;variation.step_cv=0.05`; empty where no key holds several values.
    pub name: String,
    pub variation: Variation,
    /// Protocol, losses of VMs, kinds of clusters.
    pub setup: Setup,
    pub repeats: Option<u64>,
}

impl Scenario {
    /// A sentence where gradients are stale and neither workload nor scenario gives their cost: they count as fresh.
    pub fn unpriced_staleness(&self) -> Option<String> {
        // All settings have the same protocols.
        let setup = &self.runs_in.first()?.setup;
        if setup.staleness.is_some() {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        let unpriced = self
            .workloads()
            .iter()
            .filter(|(w, _)| w.staleness.is_none());
        let unpriced = unpriced.flat_map(|(w, all)| all.iter().map(move |c| (w, c)));
        for (workload, configuration) in unpriced {
            let protocol = setup.protocol_on(&workload.name, &configuration.vm);
            let is_stale = configuration.workers > 1 && !protocol.has_barrier();
            let name = format!("`{}`", protocol.name());
            if is_stale && !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| {
            format!(
                "stale gradients under {} cost nothing, as no `staleness.per_missed_batch` is set; 0 says that they do \
                 no harm",
                names.join(", ")
            )
        })
    }

    pub fn clusters(&self) -> Option<&Clusters> {
        self.subject.clusters()
    }

    pub fn workloads(&self) -> &[(Workload, Vec<Configuration>)] {
        self.clusters().map_or(&[], |own| &own.workloads)
    }

    pub fn workloads_mut(&mut self) -> &mut [(Workload, Vec<Configuration>)] {
        match &mut self.subject {
            Subject::Clusters(own) => &mut Arc::make_mut(own).workloads,
            _ => &mut [],
        }
    }

    pub fn left_out(&self) -> &[LeftOut] {
        self.clusters().map_or(&[], |own| &own.left_out)
    }

    pub fn is_across_vms(&self) -> bool {
        (self.clusters()).is_some_and(|own| own.search == SearchGrouping::EachVm)
    }

    /// Strategies and policies that are programs, with their names.
    pub fn programs(&self) -> Vec<String> {
        let own = |name: &String| {
            let program = self.settings.own.get(name)?.program();
            Some(format!("`{name}`: {program}"))
        };
        let policies = self.subject.study().map(|study| study.programs());
        let strategies = self.strategies.iter().filter_map(own);
        strategies.chain(policies.into_iter().flatten()).collect()
    }

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

    /// Number of cases: settings × workloads (or VM types, where each is searched by itself) × policies × objectives × strategies ×
    /// replicas.
    pub fn cases(&self) -> u64 {
        self.subject.topic().searches().len() as u64
            * self.runs_in.len() as u64
            * self.policies.len() as u64
            * self.objectives.len() as u64
            * self.strategies.len() as u64
            * self.replicas
    }
}
