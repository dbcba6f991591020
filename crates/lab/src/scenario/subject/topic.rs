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
use scavsim_search::search::{LayerModel, Task, WorkloadFacts};
use scavsim_search::testbed::{Environment, History};
use scavsim_sim::cluster::Setup;
use scavsim_sim::engine::Parallelism;
use scavsim_sim::training::barrier_waits::BarrierWaits;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    /// Place of its name among those of the subject.
    pub(crate) choice: usize,
    pub(crate) configurations: Range<usize>,
}

pub(crate) struct SearchKnowledge<'s> {
    pub(crate) workload: &'s str,
    pub(crate) space: Cow<'s, Space>,
    pub(crate) figures: WorkloadFacts,
    pub(crate) own: History,
    /// Histories of all workloads of a service.
    pub(crate) stored: Cow<'s, [History]>,
    /// The model of the configurations that profiles of layers make, where there is one.
    pub(super) layer_model: Option<&'s dyn LayerModel>,
    /// Shares of a run in its cheap versions, if any.
    pub(super) fidelities: Vec<f64>,
}

impl<'s> SearchKnowledge<'s> {
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
            layer_model: None,
            fidelities: Vec::new(),
        }
    }

    /// The strategy's task, without limits.
    pub(in crate::scenario) fn task(&self) -> Task<'_> {
        let mut task = self.figures.task(self.workload, &self.space);
        task.layer_model = self.layer_model;
        task.fidelities = &self.fidelities;
        task
    }
}

pub(crate) struct PreparedSearch<'s> {
    pub(crate) known: SearchKnowledge<'s>,
    pub(crate) ground: Box<dyn Environment>,
    pub(crate) fleet: Fleet<'s>,
}

#[derive(Clone, Copy)]
pub(crate) struct SearchPreparation<'p> {
    pub(crate) setting: &'p Setting,
    /// Waits for the slowest worker, shared by all settings of the same variation; made on demand.
    pub(crate) waits: &'p OnceLock<BarrierWaits>,
    pub(crate) hands: Parallelism,
}

/// Answers of all subjects, from the scenario file to the searched environment.
pub(crate) trait Topic: fmt::Debug + Send + Sync {
    fn form(&self) -> &'static Form;

    /// Names in results, each with its number of configurations.
    fn choices(&self) -> Vec<(&str, usize)>;

    /// Program behind one of these names, where several are runs of one.
    fn program(&self, _choice: usize) -> Option<&str> {
        None
    }

    /// In the order of results.
    fn searches(&self) -> Vec<Search> {
        let all = self.choices().into_iter().enumerate();
        all.map(|(choice, (_, count))| Search {
            choice,
            configurations: 0..count,
        })
        .collect()
    }

    /// Searches that decide for all whether a strategy can be used.
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

    fn study(&self) -> Option<&Arc<Study>> {
        None
    }

    fn rentals<'s>(&'s self, setup: &'s Setup) -> Rentals<'s>;

    fn unnamed_policy(&self, _file: &ScenarioFile) -> &str {
        LISTED
    }

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

    /// Place of a VM type among those to choose from.
    fn place_of(&self, file: &ScenarioFile, vm: &str) -> Option<Range<usize>> {
        prices::place_in_cluster(file, vm)
    }

    fn setup(&self, file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Setup {
        setup::read(file, &[], &[], complaints)
    }

    /// Adds one more setting, and checks what depends on it.
    fn add_setting(
        &mut self,
        _file: &ScenarioFile,
        _setting: &Setting,
        _complaints: &mut Complaints<'_>,
    ) {
    }

    /// Keeps, of the configurations under each name, the places that are given, where there can be fewer.
    fn keep(&mut self, _kept: &mut dyn FnMut(&str, usize) -> Vec<usize>) {}

    /// Hides earlier runs of what is searched and of its program's other inputs.
    fn leave_own_out(&mut self) {}

    fn identity(&self) -> Option<(&'static str, Value)> {
        None
    }

    fn impossible(&self) -> Option<String> {
        None
    }

    /// Hashes of further files that decide results.
    fn hashes(&self) -> &[String] {
        &[]
    }
}
