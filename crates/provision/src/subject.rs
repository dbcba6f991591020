//! Policies that decide during a run, as the subject of experiments. The searched problem is a world of zones here, and a replica is a
//! life of the job.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use crate::record::PolicyReplay;
use crate::study::Study;
use crate::study::job_work::JobWork;
use scavsim_data::pricing::Policy;
use scavsim_data::space::Space;
use scavsim_engine::Interrupt;
use scavsim_experiment::PlanError;
use scavsim_experiment::subject::{
    LifeReplay, Lives, PreparedSearch, Search, SearchKnowledge, SearchPreparation, Subject,
};
use scavsim_read::input::checked::Count;
use scavsim_search::search::{CLAIRVOYANT, WorkloadFacts};
use scavsim_sim::cluster::Setup;

#[derive(Debug, Clone)]
pub struct MarketPolicies {
    pub study: Arc<Study>,
    worlds: Vec<String>,
    /// Where relative paths of traces start.
    pub folder: PathBuf,
    /// Lives per policy, over the file's number.
    pub replicas: Option<Count>,
    pub work: Option<JobWork>,
}

impl MarketPolicies {
    pub fn new(study: Study, folder: PathBuf) -> MarketPolicies {
        MarketPolicies {
            worlds: study.world_names(),
            study: Arc::new(study),
            folder,
            replicas: None,
            work: None,
        }
    }

    /// The study of a subject, if it is one of policies.
    pub fn study_of(subject: &dyn Subject) -> Option<&Arc<Study>> {
        Some(&subject.downcast::<MarketPolicies>()?.study)
    }
}

impl Subject for MarketPolicies {
    fn choices(&self) -> Vec<(&str, usize)> {
        self.worlds
            .iter()
            .map(|world| (world.as_str(), 1))
            .collect()
    }

    fn known<'s>(&'s self, search: &Search, _: &Setup) -> SearchKnowledge<'s> {
        static NOTHING: LazyLock<Space> = LazyLock::new(Space::default);
        SearchKnowledge::without_history(
            &self.worlds[search.choice],
            &NOTHING,
            WorkloadFacts::default(),
        )
    }

    fn prepared<'s>(
        &'s self,
        _: &Search,
        _: SearchPreparation<'_>,
    ) -> Result<PreparedSearch<'s>, PlanError> {
        Err(PlanError::NothingToSearch)
    }

    fn lives(&self) -> Option<&dyn Lives> {
        Some(&*self.study)
    }

    fn heed(&mut self, interrupt: &Interrupt) {
        Arc::make_mut(&mut self.study).stop_by(interrupt.flag());
    }

    fn programs(&self) -> Vec<String> {
        self.study.programs()
    }

    fn leave_out_programs(&mut self, strategies: &mut Vec<String>) {
        let study = Arc::make_mut(&mut self.study);
        study
            .policies
            .retain(|(_, recipe)| recipe.program().is_none());
        let is_left = |own: &String| study.policies.iter().any(|(name, _)| name == own);
        strategies.retain(|own| own == CLAIRVOYANT || is_left(own));
    }

    fn hashes(&self) -> &[String] {
        &self.study.market.hashes
    }
}

impl Lives for Study {
    fn replay<'s>(&'s self, pricings: &'s [Policy], seed: u64) -> Box<dyn LifeReplay + 's> {
        Box::new(PolicyReplay {
            study: self,
            pricings,
            seed,
            last: None,
        })
    }

    fn hopeless(&self) -> Option<String> {
        self.policies.iter().find_map(|(name, recipe)| {
            let why = recipe.hopeless()?;
            Some(format!(
                "policy `{name}`: ten lives failed in the same way: {why}"
            ))
        })
    }
}
