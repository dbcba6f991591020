//! Keys of a scenario file that a subject reads; other keys are mistakes.

use std::path::Path;
use std::sync::Arc;

use crate::complaints::Complaints;
use crate::extensions::Extensions;
use crate::file::ScenarioFile;
use crate::files::Files;
use scavsim_data::pricing::Policy;
use scavsim_experiment::scenario::Scenario;
use scavsim_read::input::checked::Count;
use scavsim_read::input::toml::Key;
use scavsim_read::input::{Diagnostics, Source};

/// Keys that every subject reads.
const COMMON: &[&str] = &["include", "unset", "name", "seed"];

/// Keys that searched subjects read.
const SEARCHED: &[&str] = &[
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

#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) key: &'static str,
    /// Keys that imply this subject if no subject has a key of its own.
    pub(super) implied_by: &'static [&'static str],
    /// Whether it reads the keys of searches and prices.
    pub(crate) is_searched: bool,
    /// Further keys that it reads, with dots; for a table, all of its keys.
    pub(super) reads: &'static [&'static str],
    /// Keys that may hold several values, which make settings.
    pub(super) several: &'static [&'static str],
    pub(super) why: &'static str,
    /// Why other keys of `[spot]` have no effect with it.
    pub(super) why_spot: &'static str,
    pub(crate) policies: fn() -> Vec<Policy>,
}

impl Form {
    /// Whether a key, or one of its table, is read.
    pub(super) fn reads(&self, key: &str) -> bool {
        let is_below = |one: &str, other: &str| {
            one.strip_prefix(other)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let of_searches = SEARCHED.iter().filter(|_| self.is_searched);
        let mut all = COMMON.iter().chain(of_searches).chain(self.reads);
        all.any(|known| is_below(key, known) || is_below(known, key))
    }

    pub(crate) fn report_unread(&self, files: &Files, complaints: &mut Complaints<'_>) {
        let mut told: Vec<String> = Vec::new();
        for Key { path, name, value } in &files.keys {
            let is_told = told.iter().any(|table| path.starts_with(&**table));
            if is_told || self.reads(path) {
                continue;
            }
            told.push(format!("{path}."));
            // Unknown keys and wrong values were reported before.
            if complaints.is_reported(name) || complaints.is_reported(value) {
                continue;
            }
            if path == "jobs" {
                let title = "`jobs` are those of a measured grid";
                complaints.error_at(value.clone(), title, "there is no `grid`");
                continue;
            }
            let title = format!("`{path}` and `{}` exclude each other", self.key);
            let is_of_spot = path.starts_with("spot.");
            let why = if is_of_spot { self.why_spot } else { self.why };
            complaints.error_at(value.clone(), title, why);
        }
    }
}

pub(crate) type LoadScenario<'a> =
    &'a dyn Fn(&Arc<Source>, &Path, &mut Diagnostics) -> Option<Scenario>;

pub(crate) struct Reading<'a> {
    pub(crate) file: &'a ScenarioFile,
    pub(crate) files: &'a Files,
    pub(crate) given: &'a Extensions,
    pub(crate) replicas: Option<Count>,
    pub(crate) reads_well: bool,
    /// Reads and checks another scenario; `None` inside such a scenario.
    pub(crate) load: Option<LoadScenario<'a>>,
}
