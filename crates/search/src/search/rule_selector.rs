//! Which simple rule was best on earlier jobs, by what each would have come to there over all runs: the rule for this job, too.

use super::other_jobs::OtherJobs;
use super::selection::{SIMPLE, Selection};
use super::{BuildResult, Past, Recipe, Task};
use scavsim_base::settings;

settings! {
    /// Settings of the strategy `rule-selector`.
    pub struct RuleSelectorSettings {}

    name: "rule-selector",
    what: "of average-best, cheapest, dearest, cheapest@3 and dearest@3 the one that would have been best on other jobs",
    formula: "probes: those of the rule of the least mean total on other jobs, each judged without its own program",
    source: "Rice, The algorithm selection problem, 1976",
    example: "search.strategies = [\"rule-selector\"]",
}

impl Recipe for RuleSelectorSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let others = OtherJobs::take_some(task, past)?;
        Selection::ready(SIMPLE.to_vec(), others)
    }
}
