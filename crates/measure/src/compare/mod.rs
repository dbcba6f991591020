//! Strategies beside each other, over scenarios, objectives, runs of a job, and parts of grids: a [`Comparison`] has a block
//! per objective and number of runs. It is the same whatever the number of threads.

pub(crate) mod blocks;
mod curve;
pub mod data;
pub mod judge;
pub(crate) mod parts;
pub mod run;
pub mod tally;
pub mod text;

use std::time::Duration;

use scavsim_search::search::{Depends, Objective};

pub use run::{ComparisonOptions, NoComparison, NotedCase, compare, compare_noting};
pub use tally::{CaseMetrics, Entry, Tally};

/// What is compared, besides the scenarios.
#[derive(Debug, Clone)]
pub struct ComparisonQuestion {
    /// How often the job is run; each number is a block.
    pub repeats: Vec<u64>,
    /// Random halves of its configurations in place of each workload; 0: the whole.
    pub parts: u32,
    /// Name of the strategy that the others are held against; without it, all pairs are, and those with the best are told.
    pub against: Option<String>,
}

/// What a strategy is told before it searches, besides configurations, machines, R and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorKnowledge {
    pub strategy: String,
    /// Whether it is told the objective, and prices.
    pub depends: Depends,
    /// Earlier runs that it took, in the mean over cases.
    pub known_runs: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CompetitionUnit {
    pub scenario: String,
    /// Workload or job.
    pub workload: String,
    /// The program that it is a run of: what is drawn again, or given a sign, as one.
    pub program: String,
    pub policy: String,
    /// Which half of its configurations, from 1; 0: all.
    pub part: u32,
    /// Share of cases that may fail: what the scenario lets miss its limits.
    pub may_fail: f64,
}

/// All strategies by one objective, of a job that is run so often.
#[derive(Clone)]
pub struct Block {
    pub objective: Objective,
    pub repeats: u64,
    pub units: Vec<CompetitionUnit>,
    /// How each did, in the order of the scenarios.
    pub entries: Vec<Entry>,
    /// Place of the strategy that was named beforehand for the others to be held against.
    pub against: Option<usize>,
}

#[derive(Clone)]
pub struct Comparison {
    /// By objective, then by runs.
    pub blocks: Vec<Block>,
    /// Replicas of each case.
    pub replicas: u64,
    pub told: Vec<PriorKnowledge>,
    /// What each strategy took for a search, in the mean, on the clock of this machine: no part of any result.
    pub took: Vec<(String, Duration)>,
}

impl Block {
    /// Jobs of R runs after which what the earlier runs of an entry had come to is paid back, against the best entry without
    /// any: history / (R · (its net − own net)); `None` where it saves nothing.
    pub fn pays_after(&self, at: usize) -> Option<f64> {
        let own = &self.entries[at];
        let history = own.mean(Tally::history).filter(|history| *history > 0.0)?;
        let is_sound = |entry: &&Entry| entry.is_sound(&self.units);
        let without = (self.entries.iter()).filter(|entry| entry.mean(Tally::history) == Some(0.0));
        let nets = without
            .filter(is_sound)
            .filter_map(|entry| entry.mean(Tally::net));
        let saved = nets.min_by(f64::total_cmp)? - own.mean(Tally::net)?;
        (saved > 0.0).then(|| history / (self.repeats as f64 * saved))
    }
}
