//! What a scenario is about, as experiments see it: the searches, what is known of them, their environments.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::case::Case;
use super::known_jobs::KnownJobs;
use super::plan_error::PlanError;
use super::record::Record;
use scavsim_data::cloud::Fleet;
use scavsim_data::pricing::Policy;
use scavsim_data::space::Space;
use scavsim_engine::{Interrupt, Parallelism};
use scavsim_read::input::toml::Swept;
use scavsim_search::search::{LayerModel, Task, WorkloadFacts};
use scavsim_search::testbed::{Environment, History};
use scavsim_sim::cluster::Setup;
use scavsim_sim::training::Variation;
use scavsim_sim::training::barrier_waits::BarrierWaits;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Place of its name among those of the subject.
    pub choice: usize,
    pub configurations: Range<usize>,
}

pub struct SearchKnowledge<'s> {
    pub workload: &'s str,
    pub space: Cow<'s, Space>,
    pub figures: WorkloadFacts,
    pub own: History,
    /// Histories of all workloads of a service.
    pub stored: Cow<'s, [History]>,
    /// The model of the configurations that profiles of layers make, where there is one.
    pub layer_model: Option<&'s dyn LayerModel>,
    /// Shares of a run in its cheap versions, if any.
    pub fidelities: Vec<f64>,
}

impl<'s> SearchKnowledge<'s> {
    pub fn without_history(
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
    pub fn task(&self) -> Task<'_> {
        let mut task = self.figures.task(self.workload, &self.space);
        task.layer_model = self.layer_model;
        task.fidelities = &self.fidelities;
        task
    }
}

pub struct PreparedSearch<'s> {
    pub known: SearchKnowledge<'s>,
    pub ground: Box<dyn Environment>,
    pub fleet: Fleet<'s>,
}

/// One combination of the values of keys that hold several.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Place among all settings of the file.
    pub number: usize,
    /// Keys and values, as `spot.replacement_s=60;variation.step_cv=0.05`; empty where no key holds several values.
    pub name: String,
    /// Keys of the scenario that hold several values, each with the value of this setting where that is a number.
    pub swept: Swept,
    pub variation: Variation,
    /// Protocol, losses of VMs, kinds of clusters.
    pub setup: Setup,
    pub repeats: Option<u64>,
    pub known_jobs: KnownJobs,
}

#[derive(Clone, Copy)]
pub struct SearchPreparation<'p> {
    pub setting: &'p Setting,
    /// Waits for the slowest worker, shared by all settings of the same variation; made on demand.
    pub waits: &'p OnceLock<BarrierWaits>,
    pub hands: Parallelism,
}

/// A VM type, and its values of keys by which VM types differ.
pub type SweptVm<'s> = (&'s str, Vec<(&'static str, Option<f64>)>);

pub trait ClonedSubject {
    /// A copy of its own, to be changed.
    fn cloned(&self) -> Arc<dyn Subject>;
}

impl<S: Subject + Clone> ClonedSubject for S {
    fn cloned(&self) -> Arc<dyn Subject> {
        Arc::new(self.clone())
    }
}

/// What a scenario is about: clusters, a grid, a bag, plans, policies.
pub trait Subject: Any + ClonedSubject + fmt::Debug + Send + Sync {
    /// Names in results, each with its number of configurations: workloads, jobs of the grid, the bag, the model.
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

    /// Columns of the records that no case of it fills.
    fn never_filled(&self) -> &'static [&'static str] {
        &[]
    }

    /// VM types that keys of the scenario tell apart, each with its values of these keys.
    fn swept_vms(&self) -> Vec<SweptVm<'_>> {
        Vec::new()
    }

    /// Whether VM types of a workload are searched each by itself.
    fn is_across_vms(&self) -> bool {
        false
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

    /// The lives that contenders go through, where there is nothing to search.
    fn lives(&self) -> Option<&dyn Lives> {
        None
    }

    /// Ends what takes long once `interrupt` is raised.
    fn heed(&mut self, _interrupt: &Interrupt) {}

    /// Whether `fidelity` says how it is simulated.
    fn has_fidelities(&self) -> bool {
        false
    }

    /// Programs of users that it starts, each with its name.
    fn programs(&self) -> Vec<String> {
        Vec::new()
    }

    /// Keeps contenders that are no programs, of itself and of `strategies`.
    fn leave_out_programs(&mut self, _strategies: &mut Vec<String>) {}

    /// Keeps, of the configurations under each name, the places that `kept` returns for the name and their number.
    fn keep(&mut self, _kept: &mut dyn FnMut(&str, usize) -> Vec<usize>) {}

    /// Hides earlier runs of what is searched and of its program's other inputs. Without other jobs, as on simulated clusters, nothing
    /// changes.
    fn leave_own_out(&mut self) {}

    /// Sentences on configurations that are left out unasked.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// Key and value in the manifest of a run; workloads have their own.
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

impl dyn Subject {
    /// The subject as what it is, if it is a `T`.
    pub fn downcast<T: Subject>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    pub fn downcast_mut<T: Subject>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }

    /// Names in results.
    pub fn names(&self) -> Vec<&str> {
        let choices = self.choices();
        choices.into_iter().map(|(name, _)| name).collect()
    }

    pub fn configurations(&self) -> usize {
        self.choices().iter().map(|(_, count)| count).sum()
    }
}

/// Lives that all contenders go through together, in place of searches.
pub trait Lives {
    /// `seed`: of the experiment.
    fn replay<'s>(&'s self, pricings: &'s [Policy], seed: u64) -> Box<dyn LifeReplay + 's>;

    /// Why a contender is given up, once it is.
    fn hopeless(&self) -> Option<String> {
        None
    }
}

/// Keeps what contenders of the same life share.
pub trait LifeReplay {
    /// Fills the record of a case, whose replica is the number of the life.
    fn fill(&mut self, case: &Case, record: &mut Record<'_>);
}
