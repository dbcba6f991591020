//! Parallel plans of a model as the subject of experiments.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::environment::{PlanEnvironment, workload_facts};
use crate::{Choices, Terms};
use scavsim_data::cloud::Fleet;
use scavsim_experiment::PlanError;
use scavsim_experiment::subject::{
    PreparedSearch, Search, SearchKnowledge, SearchPreparation, Subject,
};
use scavsim_sim::cluster::Setup;

#[derive(Debug, Clone)]
pub struct ModelPlans {
    pub choices: Arc<Choices>,
    /// Terms of the job in each setting.
    pub terms: Vec<Arc<Terms>>,
}

impl Subject for ModelPlans {
    fn choices(&self) -> Vec<(&str, usize)> {
        vec![(&self.choices.name, self.choices.space.len())]
    }

    fn known<'s>(&'s self, _: &Search, _: &Setup) -> SearchKnowledge<'s> {
        let choices = &*self.choices;
        let figures = workload_facts(choices);
        SearchKnowledge {
            layer_model: Some(choices),
            ..SearchKnowledge::without_history(&choices.name, &choices.space, figures)
        }
    }

    fn prepared<'s>(
        &'s self,
        search: &Search,
        preparing: SearchPreparation<'_>,
    ) -> Result<PreparedSearch<'s>, PlanError> {
        let terms = Arc::clone(&self.terms[preparing.setting.number]);
        let ground = PlanEnvironment::new(Arc::clone(&self.choices), terms);
        Ok(PreparedSearch {
            known: self.known(search, &preparing.setting.setup),
            ground: Box::new(ground.prepared(preparing.hands)),
            fleet: Fleet::listed(),
        })
    }

    fn has_fidelities(&self) -> bool {
        true
    }

    fn identity(&self) -> Option<(&'static str, Value)> {
        let Choices {
            name, space, holes, ..
        } = &*self.choices;
        let about = json!({ "name": name, "configurations": space.len(), "holes": holes.count() });
        Some(("parallel", about))
    }

    fn impossible(&self) -> Option<String> {
        let holes = &self.choices.holes;
        (holes.count() > 0).then(|| holes.to_string())
    }

    fn hashes(&self) -> &[String] {
        &self.choices.hashes
    }
}
