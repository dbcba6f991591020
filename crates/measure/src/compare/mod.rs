//! Comparisons of strategies over scenarios, objectives, runs of a job, and parts of grids: a [`Comparison`] has a block per
//! objective and number of runs. It does not depend on the number of threads.

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

/// What to compare, in addition to the scenarios.
#[derive(Debug, Clone)]
pub struct ComparisonQuestion {
    /// Numbers of runs of the job; each is a block.
    pub repeats: Vec<u64>,
    /// Number of random halves of its configurations instead of each workload; 0: the whole.
    pub parts: u32,
    /// Name of the reference strategy; by default all pairs are compared, and those with the best are reported.
    pub against: Option<String>,
}

/// Knowledge of a strategy before it searches, other than configurations, machines, R and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorKnowledge {
    pub strategy: String,
    /// Whether it knows the objective, and prices.
    pub depends: Depends,
    /// Mean number of earlier runs that it used over cases.
    pub known_runs: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CompetitionUnit {
    pub scenario: String,
    /// Workload or job.
    pub workload: String,
    /// The program of the run: its runs are drawn again, or given a sign, together.
    pub program: String,
    pub policy: String,
    /// Number of the half of its configurations, from 1; 0: all.
    pub part: u32,
    /// Share of cases that may fail: the share that may miss limits in the scenario.
    pub may_fail: f64,
}

/// All strategies for one objective and one number of runs of the job.
#[derive(Clone)]
pub struct Block {
    pub objective: Objective,
    pub repeats: u64,
    pub units: Vec<CompetitionUnit>,
    /// The results of each, in the order of the scenarios.
    pub entries: Vec<Entry>,
    /// Index of the strategy that was named beforehand as the reference.
    pub against: Option<usize>,
}

#[derive(Clone)]
pub struct Comparison {
    /// By objective, then by runs.
    pub blocks: Vec<Block>,
    /// Replicas of each case.
    pub replicas: u64,
    pub told: Vec<PriorKnowledge>,
    /// Mean time of each strategy for a search, on the clock of this machine: not part of any result.
    pub took: Vec<(String, Duration)>,
}

impl Block {
    /// Number of jobs of R runs after which the earlier runs of an entry break even, compared with the best entry without
    /// any: history / (R · (its net − own net)); `None` if it saves nothing.
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
