//! Which keys of a scenario file a subject reads: what is said of others would be lost in silence, and is an error.

use super::{FORMS, Subject};
use crate::scenario::complaints::Complaints;
use crate::scenario::file::ScenarioFile;
use crate::scenario::files::Files;
use crate::scenario::given::Given;
use crate::scenario::prices;
use scavsim_data::pricing::Policy;
use scavsim_data::pricing::builtin::LISTED;
use scavsim_sim::cluster::Setup;

/// Keys that are read whatever the subject.
const COMMON: &[&str] = &[
    "include",
    "unset",
    "name",
    "seed",
    "replicas",
    "precision",
    "most_replicas",
    "antithetic",
    "pricing",
    "search.strategies",
    "search.objectives",
    "search.repeats",
    "strategy",
    "limits.max_time_h",
    "limits.max_cost_usd",
    "limits.max_miss",
];

/// What a subject makes of a scenario file.
#[derive(Debug)]
pub(crate) struct Form {
    /// The key that makes a file one of it.
    pub(super) key: &'static str,
    /// The keys that it reads besides those that every subject does, with dots; of a table that is named, all.
    pub(super) reads: &'static [&'static str],
    /// Why others mean nothing beside it.
    pub(super) why: &'static str,
    /// The same of keys of `[spot]`.
    pub(super) why_spot: &'static str,
    /// Whether it may state itself what it costs.
    pub(super) states_prices: bool,
    /// The subject that a file describes, with how VMs live in its first setting; `None` where something is wrong, which
    /// is told.
    pub(super) read: fn(&Reading<'_>, &mut Complaints<'_>) -> Option<(Subject, Setup)>,
}

impl Form {
    /// The form of a scenario.
    pub(in crate::scenario) fn of(files: &Files) -> &'static Form {
        let has = |form: &&&Form| files.keys.iter().any(|(key, _)| key == form.key);
        FORMS.iter().find(has).unwrap_or(&FORMS[FORMS.len() - 1])
    }

    /// Whether a key means something, or a key of the table that it is.
    pub(super) fn reads(&self, key: &str) -> bool {
        let is_below = |one: &str, other: &str| {
            one.strip_prefix(other)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut all = COMMON.iter().chain(self.reads);
        all.any(|known| is_below(key, known) || is_below(known, key))
    }

    /// Reports the keys that are given and not read.
    pub(in crate::scenario) fn report_unread(
        &self,
        files: &Files,
        complaints: &mut Complaints<'_>,
    ) {
        let mut told: Vec<String> = Vec::new();
        for (key, place) in &files.keys {
            let is_told = told.iter().any(|table| key.starts_with(&**table));
            // What cannot be read at all was told before.
            if is_told || self.reads(key) || complaints.is_reported(place) {
                continue;
            }
            told.push(format!("{key}."));
            match &**key {
                "jobs" => {
                    let title = "`jobs` are those of a measured grid";
                    complaints.error_at(place.clone(), title, "there is no `grid`");
                }
                key => {
                    let title = format!("`{key}` and `{}` exclude each other", self.key);
                    let is_of_spot = key.starts_with("spot.");
                    let why = if is_of_spot { self.why_spot } else { self.why };
                    complaints.error_at(place.clone(), title, why);
                }
            }
        }
    }

    /// Reads the subject of a file.
    pub(in crate::scenario) fn read(
        &self,
        reading: &Reading<'_>,
        complaints: &mut Complaints<'_>,
    ) -> Option<(Subject, Setup)> {
        (self.read)(reading, complaints)
    }

    /// Reports what is wrong with the pricing policies where something is wrong with the subject, too.
    pub(in crate::scenario) fn check_policies(
        &self,
        reading: &Reading<'_>,
        complaints: &mut Complaints<'_>,
    ) {
        if !self.states_prices {
            reading.policies(LISTED, complaints);
        }
    }
}

/// A scenario file that is read.
pub(crate) struct Reading<'a> {
    pub(in crate::scenario) file: &'a ScenarioFile,
    pub(in crate::scenario) files: &'a Files,
    pub(in crate::scenario) given: &'a Given,
    /// Whether the file could be read without complaint.
    pub(in crate::scenario) reads_well: bool,
}

impl Reading<'_> {
    /// The pricing policies that the file names; the one called `unnamed` where it names none.
    pub(super) fn policies(
        &self,
        unnamed: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Vec<Policy>> {
        let own = &self.given.policies;
        prices::read(&self.file.pricing, own, unnamed, self.files, complaints)
    }
}
