//! The subject of a scenario: training clusters, a measured grid, a bag of jobs, a model that is partitioned over GPUs, or
//! policies that decide during a run.
//!
//! Each subject has a file here: the keys that it reads (`Form`) and how it is read. Only this folder knows which subject a scenario has;
//! a new one is a file here and an entry of `KINDS`.

pub(crate) mod bag;
pub(crate) mod clusters;
pub(super) mod form;
pub(crate) mod grid;
mod grid_types;
pub(crate) mod plans;
pub(crate) mod policies;
mod read_subject;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use super::complaints::Complaints;
use super::file::{SEVERAL_OF_POLICIES, SEVERAL_OF_SPOT, SEVERAL_OF_VARIATION};
use super::files::Files;
use form::{Form, Reading};
pub(crate) use read_subject::ReadSubject;
use scavsim_data::pricing::charges::CHARGES;
use scavsim_read::input::toml::{Lists, Path, Tables};
use scavsim_sim::cluster::Setup;

/// A subject, and how its VMs are rented and lost in its first setting.
pub(super) type SubjectAndSetup = (Box<dyn ReadSubject>, Setup);

/// A subject's form and reader, which returns `None` after mistakes.
pub(super) struct SubjectKind {
    pub(super) form: &'static Form,
    pub(super) read: fn(&Reading<'_>, &mut Complaints<'_>) -> Option<SubjectAndSetup>,
}

/// A file has the first subject with one of its keys; by default clusters.
pub(super) const KINDS: &[SubjectKind] = &[
    SubjectKind {
        form: &policies::FORM,
        read: |file, told| Some((Box::new(policies::read(file, told)?), Setup::default())),
    },
    SubjectKind {
        form: &plans::FORM,
        read: |file, told| boxed(plans::read(file, told)?),
    },
    SubjectKind {
        form: &bag::FORM,
        read: |file, told| boxed(bag::read(file, told)?),
    },
    SubjectKind {
        form: &grid::FORM,
        read: |file, told| boxed(grid::read(file, told)?),
    },
    SubjectKind {
        form: &clusters::FORM,
        read: |file, told| boxed(clusters::read(file, told)?),
    },
];

fn boxed<T: ReadSubject>((own, setup): (T, Setup)) -> Option<SubjectAndSetup> {
    Some((Box::new(own), setup))
}

impl SubjectKind {
    pub(super) fn from_files(files: &Files) -> &'static SubjectKind {
        let has = |own: &str| files.keys.iter().any(|key| key.path == own);
        let named = KINDS.iter().find(|kind| has(kind.form.key));
        let implied =
            || (KINDS.iter()).find(|kind| kind.form.implied_by.iter().any(|key| has(key)));
        named.or_else(implied).unwrap_or(&KINDS[KINDS.len() - 1])
    }
}

/// Keys that may hold several values, as a list or a range: those that make settings, and those of policies. VM types have
/// such keys, too: [`scale_axis`](crate::scale_axis).
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
