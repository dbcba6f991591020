//! A checked scenario: everything in it exists and is legal.

use std::sync::Arc;

use serde::Serialize;

use super::effort::Effort;
use super::subject::{Setting, Subject};
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Policy;
use scavsim_search::search::{Limits, Objective, Registry, Settings};
use scavsim_sim::training::Fidelity;

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
    /// Copies of a scenario share it: it may hold a million configurations.
    pub subject: Arc<dyn Subject>,
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
    pub effort: Effort,
    /// BLAKE3 hash of the file's text; of several files', when it includes others.
    pub hash: String,
}

/// Wanted precision of net overheads, instead of a fixed number of replicas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WantedPrecision {
    /// Half of a 95 % interval at most, as a fraction: 0.001 is ±0.1 %.
    pub half_width: f64,
    pub most: u64,
}

/// Warnings on prices and on what strategies know, for stderr and below tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScenarioWarnings {
    /// A sentence for each default in use: prices, losses, VM types of one price.
    pub unasked: Vec<String>,
    /// Sentence on the models that `no-search` averages.
    pub averaged: Option<String>,
    /// Policies with a spot price for VMs that are never taken away.
    pub never_lost: Vec<String>,
    /// Policies whose dollars are a unit of which only ratios count.
    pub only_ratios: Vec<String>,
    /// Sentence on days and regions of listed prices, unless another warning has it.
    pub price_days: Option<String>,
    pub price_pack: Option<PricePack>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PricePack {
    pub name: String,
    pub day: String,
    pub blake3: String,
}

/// Names that a sentence lists at most.
const MOST_NAMES: usize = 4;

impl ScenarioWarnings {
    pub const NEVER_LOST: &str = "a spot price for VMs that nobody takes away here: `[spot]`, or a kind on the spot market, lets them be lost";

    pub fn all(&self) -> Vec<String> {
        self.on_stderr()
            .into_iter()
            .chain(self.averaged.clone())
            .collect()
    }

    pub fn on_stderr(&self) -> Vec<String> {
        let marked = (!self.never_lost.is_empty()).then(|| {
            let names = self.never_lost.iter().map(|name| format!("`{name}`"));
            format!(
                "{}: {}",
                ScenarioWarnings::list(names.collect()),
                ScenarioWarnings::NEVER_LOST
            )
        });
        self.unasked.iter().cloned().chain(marked).collect()
    }

    /// Names with commas; of many, the first.
    pub fn list(names: Vec<String>) -> String {
        match names.len().saturating_sub(MOST_NAMES) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
        }
    }
}

impl Scenario {
    /// The subject, to be changed in this copy alone.
    pub fn subject_mut(&mut self) -> &mut dyn Subject {
        if Arc::get_mut(&mut self.subject).is_none() {
            self.subject = self.subject.cloned();
        }
        Arc::get_mut(&mut self.subject).expect("nobody else has a new copy")
    }

    /// Strategies and policies that are programs, with their names.
    pub fn programs(&self) -> Vec<String> {
        let own = |name: &String| {
            let program = self.settings.own.get(name)?.program();
            Some(format!("`{name}`: {program}"))
        };
        let strategies = self.strategies.iter().filter_map(own);
        strategies.chain(self.subject.programs()).collect()
    }

    pub fn leave_out_programs(&mut self) {
        let own = &self.settings.own;
        self.strategies.retain(|name| !own.contains_key(name));
        let mut strategies = std::mem::take(&mut self.strategies);
        self.subject_mut().leave_out_programs(&mut strategies);
        self.strategies = strategies;
    }

    /// Number of cases: settings × workloads (or VM types, where each is searched by itself) × policies × objectives × strategies ×
    /// replicas.
    pub fn cases(&self) -> u64 {
        self.subject.searches().len() as u64
            * self.runs_in.len() as u64
            * self.policies.len() as u64
            * self.objectives.len() as u64
            * self.strategies.len() as u64
            * self.replicas
    }
}
