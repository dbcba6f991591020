//! Policies beside each other on the same markets: a scenario file with `[policy]` → lives → a table.
//!
//! - [`form`]: what such a file says.
//! - `checking`: how mistakes are told; `forms`, `market`: forms of a job and markets in such a file, checked.
//! - [`check`]: names, lengths and deadlines, with every mistake at once.
//! - [`run`]: the lives, on all threads; [`size`]: how much that is.
//! - [`policy_metrics`]: what they come to; [`paired_difference`](mod@paired_difference): what one costs more than another; [`overlap`]: how many of them are
//!   independent.
//! - [`rows`]: lives by column.
//! - [`door`]: studies from Rust, with policies of one's own.

pub mod check;
mod checking;
pub mod door;
pub mod form;
mod forms;
mod market;
pub mod overlap;
pub mod paired_difference;
pub mod policy_metrics;
pub mod rows;
pub mod run;
pub mod size;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::job::Job;
use crate::policy::Recipe;
use crate::world::World;
use crate::world::process::Process;
use scavsim_read::input::{Source, toml};

/// A study, checked.
#[derive(Debug)]
pub struct Study {
    /// Name of the study.
    pub name: String,
    /// What it is on, in a sentence.
    pub about: String,
    /// Where that is from.
    pub source: String,
    /// Seed of what is drawn.
    pub seed: u64,
    /// Policies by name, in the order of tables.
    pub policies: Vec<(String, Box<dyn Recipe>)>,
    /// Settings, each of which has a table of its own.
    pub settings: Vec<Setting>,
}

/// One job on one world, from several starts.
#[derive(Debug)]
pub struct Setting {
    /// What is done.
    pub job: Job,
    /// Where.
    pub world: World,
    /// Where lives begin, and what they meet.
    pub lives: AvailabilitySource,
    /// Ticks that a life may take.
    pub ticks: usize,
}

/// What the lives of a setting meet.
#[derive(Debug, Clone)]
pub enum AvailabilitySource {
    /// The traces, from some ticks on.
    Traces(Vec<usize>),
    /// Availability drawn from a process per zone, so many times.
    Drawn(Vec<Process>, u64),
}

/// Lives that are run before what they came to is handed on.
const BLOCK: usize = 256;

impl AvailabilitySource {
    /// Numbers of all lives in blocks, so that memory does not grow with them.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let count = self.count();
        (0..count)
            .step_by(BLOCK)
            .map(move |from| from..(from + BLOCK).min(count))
    }

    /// How many lives each policy has.
    pub fn count(&self) -> usize {
        match self {
            AvailabilitySource::Traces(starts) => starts.len(),
            AvailabilitySource::Drawn(_, replicas) => *replicas as usize,
        }
    }
}

impl Study {
    /// Whether a source is one of a study: it has a table `policy`.
    pub fn is_in(source: &Source) -> bool {
        toml::is_written(source, "policy")
    }

    /// Ends the wait for policies that are programs when somebody raises the flag.
    pub fn stop_by(&mut self, flag: Option<Arc<AtomicBool>>) {
        for (_, recipe) in &mut self.policies {
            recipe.stop_by(flag.clone());
        }
    }

    /// Programs that its policies are, each with its name.
    pub fn programs(&self) -> Vec<String> {
        let named = |(name, own): &(String, Box<dyn Recipe>)| {
            let program = own.program()?;
            Some(format!("`{name}`: {program}"))
        };
        self.policies.iter().filter_map(named).collect()
    }

    /// The first policy of which nothing is expected any more, and why.
    pub fn hopeless(&self) -> Option<String> {
        let mut all = self.policies.iter();
        all.find_map(|(name, recipe)| {
            let why = recipe.hopeless()?;
            Some(format!(
                "policy `{name}`: ten lives failed in the same way: {why}"
            ))
        })
    }

    /// Lives in all settings, each under all policies.
    pub fn lives(&self) -> usize {
        self.settings.iter().map(|one| one.lives.count()).sum()
    }

    /// Lives of all policies in all settings.
    pub fn cases(&self) -> usize {
        self.lives() * self.policies.len()
    }
}

impl Setting {
    /// Names of its zones, a blank between them.
    pub fn zone_names(&self) -> String {
        self.names_of_zones().join(" ")
    }

    fn names_of_zones(&self) -> Vec<&str> {
        let zones = self.world.zones.iter();
        zones.map(|zone| zone.name.as_str()).collect()
    }

    /// Zones of the setting, and what it asks for, in words.
    pub fn description(&self) -> String {
        let job = &self.job;
        let forms: Vec<&str> = job.forms.iter().map(|form| form.name.as_str()).collect();
        let forms = match forms.len() {
            0 | 1 => String::new(),
            _ => format!(", as {}", forms.join(", ")),
        };
        format!(
            "{:.1} h of work in {:.1} h, changeover {:.0} s, in {}{forms}",
            job.work_s / 3600.0,
            job.deadline_s / 3600.0,
            job.changeover_s,
            self.names_of_zones().join(", "),
        )
    }
}
