use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::form::{Form, Reading};
use crate::experiment::PlanError;
use crate::scenario::Setting;
use crate::scenario::complaints::Complaints;
use crate::scenario::file::ScenarioFile;
use crate::scenario::prices::{self, Rentals};
use crate::scenario::setup;
use scavsim_data::cloud::Fleet;
use scavsim_data::pricing::Policy;
use scavsim_data::pricing::builtin::LISTED;
use scavsim_data::space::Space;
use scavsim_provision::study::Study;
use scavsim_search::search::{Task, WorkloadFacts};
use scavsim_search::testbed::{Environment, History};
use scavsim_sim::cluster::Setup;
use scavsim_sim::engine::Parallelism;
use scavsim_sim::plans::Choices;
use scavsim_sim::training::barrier_waits::BarrierWaits;

/// Configurations that are searched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    /// The place of its name among those of the subject.
    pub(crate) choice: usize,
    pub(crate) configurations: Range<usize>,
}

/// What everybody knows of a search before it begins.
pub(crate) struct SearchKnowledge<'s> {
    /// The name of what is searched.
    pub(crate) workload: &'s str,
    pub(crate) space: Cow<'s, Space>,
    pub(crate) figures: WorkloadFacts,
    /// Earlier runs of the workload.
    pub(crate) own: History,
    /// Earlier runs of all workloads that a service has seen.
    pub(crate) stored: Cow<'s, [History]>,
    /// The plans by which a model is cut over GPUs, where these are the configurations.
    pub(super) plans: Option<&'s Choices>,
    /// Shares of a run that its cheap versions have, where there are any.
    pub(super) fidelities: Vec<f64>,
}

impl<'s> SearchKnowledge<'s> {
    /// A search of which no earlier run tells anything.
    pub(super) fn without_history(
        workload: &'s str,
        space: &'s Space,
        figures: WorkloadFacts,
    ) -> SearchKnowledge<'s> {
        SearchKnowledge {
            workload,
            space: Cow::Borrowed(space),
            figures,
            own: History {
                workload: workload.to_owned(),
                ..History::default()
            },
            stored: Cow::Borrowed(&[]),
            plans: None,
            fidelities: Vec::new(),
        }
    }

    /// What a strategy is asked, without limits.
    pub(in crate::scenario) fn task(&self) -> Task<'_> {
        let mut task = self.figures.task(self.workload, &self.space);
        task.plans = self.plans;
        task.fidelities = &self.fidelities;
        task
    }
}

pub(crate) struct PreparedSearch<'s> {
    /// What everybody knows of it.
    pub(crate) known: SearchKnowledge<'s>,
    /// The truth.
    pub(crate) ground: Box<dyn Environment>,
    pub(crate) fleet: Fleet<'s>,
}

/// In which setting a search is prepared, and on how many threads.
#[derive(Clone, Copy)]
pub(crate) struct SearchPreparation<'p> {
    pub(crate) setting: &'p Setting,
    /// Waits for the slowest worker, shared by all settings of the same variation; made by who needs them.
    pub(crate) waits: &'p OnceLock<BarrierWaits>,
    pub(crate) hands: Parallelism,
}

/// What all subjects answer, from the scenario file to the environment that is searched.
pub(crate) trait Topic: fmt::Debug + Send + Sync {
    fn form(&self) -> &'static Form;

    /// The names of what is searched, as results have them, each with the number of its configurations.
    fn choices(&self) -> Vec<(&str, usize)>;

    /// The program that is run under one of these names on one of its inputs, where there are several.
    fn program(&self, _choice: usize) -> Option<&str> {
        None
    }

    /// All searches of a setting, in the order of results.
    fn searches(&self) -> Vec<Search> {
        let all = self.choices().into_iter().enumerate();
        all.map(|(choice, (_, count))| Search {
            choice,
            configurations: 0..count,
        })
        .collect()
    }

    /// The searches that tell of all whether a strategy can be used.
    fn representatives(&self) -> Vec<Search> {
        self.searches()
    }

    fn known<'s>(&'s self, search: &Search, setup: &Setup) -> SearchKnowledge<'s>;

    /// A search with its environment.
    ///
    /// # Errors
    /// Where a configuration is outside of what was measured; none after the scenario's own check.
    fn prepared<'s>(
        &'s self,
        search: &Search,
        preparing: SearchPreparation<'_>,
    ) -> Result<PreparedSearch<'s>, PlanError>;

    /// The policies that are run where nothing is searched.
    fn study(&self) -> Option<&Arc<Study>> {
        None
    }

    /// What may be rented.
    fn rentals<'s>(&'s self, setup: &'s Setup) -> Rentals<'s>;

    /// The pricing policy of a scenario that names none.
    fn unnamed_policy(&self, _file: &ScenarioFile) -> &str {
        LISTED
    }

    /// Reports policies without a price for something that may be rented.
    fn check_prices(
        &self,
        policies: &[Policy],
        reading: &Reading<'_>,
        rentals: &Rentals<'_>,
        complaints: &mut Complaints<'_>,
    ) {
        let place = |vm: &str| self.place_of(reading.file, vm);
        let asked = reading.file.pricing.policies.as_ref();
        prices::all_priced(policies, asked, rentals, place, complaints);
    }

    /// Where the file says that a VM type is to choose from.
    fn place_of(&self, file: &ScenarioFile, vm: &str) -> Option<Range<usize>> {
        prices::place_in_cluster(file, vm)
    }

    fn setup(&self, file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Setup {
        setup::read(file, &[], &[], complaints)
    }

    /// Takes in one more setting, and checks what depends on it.
    fn add_setting(
        &mut self,
        _file: &ScenarioFile,
        _setting: &Setting,
        _complaints: &mut Complaints<'_>,
    ) {
    }

    /// Keeps of the configurations under each name the places that are said, where there can be fewer.
    fn keep(&mut self, _kept: &mut dyn FnMut(&str, usize) -> Vec<usize>) {}

    /// Forgets earlier runs of whatever is searched, and of other inputs of its program, while it is searched.
    fn leave_own_out(&mut self) {}

    /// What the manifest of a run says of it.
    fn identity(&self) -> Option<(&'static str, Value)> {
        None
    }

    /// A sentence on configurations that cannot be.
    fn impossible(&self) -> Option<String> {
        None
    }

    /// Hashes of files besides the scenario and its includes that decide its results.
    fn hashes(&self) -> &[String] {
        &[]
    }
}
