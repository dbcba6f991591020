//! A bag of jobs as the subject of experiments.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::environment::{BagEnvironment, workload_facts};
use crate::{Bag, BagChoices};
use scavsim_data::cloud::Fleet;
use scavsim_experiment::PlanError;
use scavsim_experiment::subject::{
    PreparedSearch, Search, SearchKnowledge, SearchPreparation, Subject,
};
use scavsim_sim::cluster::Setup;

#[derive(Debug, Clone)]
pub struct BagOfJobs {
    pub choices: Arc<BagChoices>,
    /// Terms of the job in each setting.
    pub terms: Vec<Arc<Bag>>,
    pub losses_are_given: bool,
}

impl Subject for BagOfJobs {
    fn choices(&self) -> Vec<(&str, usize)> {
        vec![(&self.choices.name, self.choices.space.len())]
    }

    fn known<'s>(&'s self, _: &Search, _: &Setup) -> SearchKnowledge<'s> {
        SearchKnowledge::without_history(&self.choices.name, &self.choices.space, workload_facts())
    }

    fn prepared<'s>(
        &'s self,
        search: &Search,
        preparing: SearchPreparation<'_>,
    ) -> Result<PreparedSearch<'s>, PlanError> {
        let terms = Arc::clone(&self.terms[preparing.setting.number]);
        Ok(PreparedSearch {
            known: self.known(search, &preparing.setting.setup),
            ground: Box::new(BagEnvironment::new(terms, Arc::clone(&self.choices))),
            fleet: Fleet::listed(),
        })
    }

    fn identity(&self) -> Option<(&'static str, Value)> {
        let BagChoices { name, space, .. } = &*self.choices;
        let about = json!({ "name": name, "configurations": space.len() });
        Some(("bag", about))
    }
}
