//! A strategy that is another program, in any language: JSON lines on its standard input and output (`talk`).
//!
//! A process that repeats the numbers of lines makes one search after the other, with a process per thread; others make one search. A
//! failure of a process ends its search, never the run, and the next search begins with a new process.

mod conversation_strategy;
mod disguise;
mod talk;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::conversation_strategy::ConversationStrategy;
use self::conversation_strategy::{MAX_PROBES, MAX_SEARCH_S};
use super::{BuildResult, Past, Recipe, Task, UnusableStrategy};
use scavsim_engine::Interrupt;
use scavsim_read::input::checked::{Count, Positive};
use scavsim_talk::process::start;

scavsim_talk::program_settings! {
    /// Settings of a strategy that is another program.
    #[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
    pub struct ExternalSettings worded talk::TERMS;

    /// Probes and cold starts beyond which a search fails.
    #[serde(default = "max_probes")]
    pub max_probes: Count,
    /// Seconds beyond which a search fails; the start of a process, up to its first answer, is no part of them.
    #[serde(default = "max_search_s")]
    pub max_search_s: Positive,
    /// Whether it knows the objective, with a search for each.
    #[serde(default = "yes")]
    pub objective: bool,
    /// Whether it knows prices and what it spent, with a search for each policy.
    #[serde(default = "yes")]
    pub prices: bool,
    /// Whether it takes all earlier runs of the workload, which had to be paid for.
    #[serde(default)]
    pub earlier_runs: bool,
    /// Whether it takes all earlier runs of other jobs on the same configurations, which had to be paid for.
    #[serde(default)]
    pub other_jobs: bool,
    /// Seed of a disguise, where it is not to recognise what it is asked: names, order and units are others than the true ones.
    #[serde(skip)]
    pub disguise: Option<u64>,
    /// What ends it while it is waited for.
    #[serde(skip)]
    pub interrupt: Interrupt,
}

fn max_probes() -> Count {
    Count::new(MAX_PROBES).expect("it is above 0")
}

fn max_search_s() -> Positive {
    Positive::new(MAX_SEARCH_S).expect("it is positive")
}

fn yes() -> bool {
    true
}

impl Recipe for ExternalSettings {
    fn summary(&self) -> &str {
        "a program of one's own"
    }

    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let found = self.program().found();
        found.map_err(|why| UnusableStrategy(why.to_string()))?;
        let own = self.clone();
        let open = move || start(&own.program(), own.interrupt.flag());
        let mut spoken = ConversationStrategy::new(open)
            .earlier_runs(self.earlier_runs)
            .other_jobs(self.other_jobs);
        spoken.depends.objective = self.objective;
        spoken.depends.prices = self.prices;
        spoken.disguise = self.disguise;
        spoken.max_probes = self.max_probes.get();
        spoken.max_search_s = self.max_search_s.get();
        spoken.waiting = self.waiting.clone();
        spoken.build(task, past)
    }
}
