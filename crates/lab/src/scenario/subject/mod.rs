//! What a scenario is about: training clusters, a measured grid, a bag of jobs, a model that is cut over GPUs, or policies that decide
//! during a run.
//!
//! Each subject has a file here: the keys that it reads (`Form`), and its answers (`Topic`). Only this folder knows which subject a
//! scenario has; a new one is a file here, a variant of [`Subject`] and an entry of `KINDS`.

pub(crate) mod bag;
pub(crate) mod clusters;
pub(super) mod form;
pub(crate) mod grid;
mod grid_types;
pub(crate) mod plans;
pub(crate) mod policies;
#[cfg(test)]
mod tests;
pub(crate) mod topic;

use std::sync::{Arc, LazyLock};

use serde_json::Value;

pub use bag::BagOfJobs;
pub use clusters::Clusters;
pub use grid::MeasuredJobs;
pub use plans::ModelPlans;
pub use policies::MarketPolicies;

use super::complaints::Complaints;
use super::file::{SEVERAL_OF_POLICIES, SEVERAL_OF_SPOT, SEVERAL_OF_VARIATION};
use super::files::Files;
use form::{Form, Reading};
use scavsim_data::pricing::charges::CHARGES;
use scavsim_provision::study::Study;
use scavsim_read::input::toml::{Lists, Path, Tables};
use scavsim_sim::cluster::Setup;
use topic::Topic;

#[derive(Debug, Clone)]
pub enum Subject {
    /// Copies of a scenario share them: there may be a million.
    Clusters(Arc<Clusters>),
    Grid(MeasuredJobs),
    Bag(BagOfJobs),
    Plans(ModelPlans),
    Policies(MarketPolicies),
}

/// A subject's form and reader, which returns `None` after mistakes.
pub(super) struct SubjectKind {
    pub(super) form: &'static Form,
    pub(super) read: fn(&Reading<'_>, &mut Complaints<'_>) -> Option<(Subject, Setup)>,
}

/// A file is about the first whose key it has; else about clusters.
pub(super) const KINDS: &[SubjectKind] = &[
    SubjectKind {
        form: &policies::FORM,
        read: |file, told| {
            let read = policies::read(file, told);
            read.map(|own| (Subject::Policies(own), Setup::default()))
        },
    },
    SubjectKind {
        form: &plans::FORM,
        read: |file, told| plans::read(file, told).map(|(own, setup)| (Subject::Plans(own), setup)),
    },
    SubjectKind {
        form: &bag::FORM,
        read: |file, told| bag::read(file, told).map(|(own, setup)| (Subject::Bag(own), setup)),
    },
    SubjectKind {
        form: &grid::FORM,
        read: |file, told| grid::read(file, told).map(|(own, setup)| (Subject::Grid(own), setup)),
    },
    SubjectKind {
        form: &clusters::FORM,
        read: |file, told| {
            let read = clusters::read(file, told);
            read.map(|(own, setup)| (Subject::Clusters(Arc::new(own)), setup))
        },
    },
];

impl SubjectKind {
    pub(super) fn from_files(files: &Files) -> &'static SubjectKind {
        let has = |own: &str| files.keys.iter().any(|key| key.path == own);
        let named = KINDS.iter().find(|kind| has(kind.form.key));
        let implied =
            || (KINDS.iter()).find(|kind| kind.form.implied_by.iter().any(|key| has(key)));
        named.or_else(implied).unwrap_or(&KINDS[KINDS.len() - 1])
    }
}

/// Keys that may hold several values, as a list or a range: those that make settings, and those of policies. VM types have such keys
/// too, [`scale_axis`](crate::scenario::scale_axis).
pub(super) static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let of_forms = KINDS.iter().flat_map(|kind| kind.form.several);
    let settings = (SEVERAL_OF_SPOT.iter().chain(of_forms))
        .chain(SEVERAL_OF_VARIATION)
        .chain(&["search.repeats"]);
    let charges = CHARGES.iter().flat_map(|charge| charge.keys);
    let policies = (SEVERAL_OF_POLICIES.iter()).chain(charges.map(|(key, _)| key));
    let path = |key: &&'static str| -> Path { key.split('.').collect() };
    Lists {
        what: "settings",
        readings: settings.map(path).collect(),
        tables: Tables {
            what: "policy",
            place: vec!["pricing", "define"],
            keys: policies.map(path).collect(),
            named_in: vec!["pricing", "policies"],
        },
    }
});

impl Subject {
    pub(crate) fn topic(&self) -> &dyn Topic {
        match self {
            Subject::Clusters(own) => &**own,
            Subject::Grid(own) => own,
            Subject::Bag(own) => own,
            Subject::Plans(own) => own,
            Subject::Policies(own) => own,
        }
    }

    pub(super) fn topic_mut(&mut self) -> &mut dyn Topic {
        match self {
            Subject::Clusters(own) => Arc::<Clusters>::make_mut(own),
            Subject::Grid(own) => own,
            Subject::Bag(own) => own,
            Subject::Plans(own) => own,
            Subject::Policies(own) => own,
        }
    }

    pub fn clusters(&self) -> Option<&Clusters> {
        match self {
            Subject::Clusters(own) => Some(own),
            _ => None,
        }
    }

    pub fn study(&self) -> Option<&Arc<Study>> {
        self.topic().study()
    }

    /// Names in results: workloads, jobs of the grid, the bag, the model.
    pub fn names(&self) -> Vec<&str> {
        let choices = self.topic().choices();
        choices.into_iter().map(|(name, _)| name).collect()
    }

    pub fn configurations(&self) -> usize {
        self.topic().choices().iter().map(|(_, count)| count).sum()
    }

    /// Keeps, of the configurations under each name, the places that `kept` returns for the name and their number.
    pub fn keep(&mut self, kept: &mut dyn FnMut(&str, usize) -> Vec<usize>) {
        self.topic_mut().keep(kept);
    }

    /// Hides earlier runs of what is searched and of its program's other inputs. Without other jobs, as on simulated clusters, nothing
    /// changes.
    pub fn leave_own_out(&mut self) {
        self.topic_mut().leave_own_out();
    }

    /// Key and value in the manifest of a run; workloads have their own.
    pub fn identity(&self) -> Option<(&'static str, Value)> {
        self.topic().identity()
    }

    pub fn impossible(&self) -> Option<String> {
        self.topic().impossible()
    }

    /// Whether it reads a key of the scenario file, such as `fidelity`.
    pub fn reads(&self, key: &str) -> bool {
        self.topic().form().reads(key)
    }
}
