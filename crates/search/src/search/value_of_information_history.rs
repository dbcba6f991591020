//! Search by the value of information with earlier runs of other jobs: whatever would surely have done better on them,
//! beliefs that they shape or a plainer rule, is followed. Without other jobs, and where steps can be looked at, it is the
//! plain strategy.

use super::other_jobs::OtherJobs;
use super::selection::{SIMPLE, SearchRule, Selection};
use super::trials::check_size;
use super::value_of_information::{self, ValueOfInformation};
use super::{BuildResult, Past, Recipe, Task};
use scavsim_base::settings;

/// Most configurations whose beliefs are pooled: that takes the cube of them for each program.
const MOST_POOLED: usize = 512;

settings! {
    /// Settings of search by the value of information with earlier runs of other jobs.
    pub struct ValueOfInformationHistorySettings {}

    name: "value-of-information-history",
    what: "value-of-information, or what would surely have been better on other jobs: the same with their runs in its beliefs, or a plainer rule",
    formula: "probes: runs to the target, while what they are expected to save over R runs is more than they cost; means and covariances pooled over other jobs",
    source: "this project; Bonilla, Chai & Williams 2007, Rice 1976",
    example: "search.strategies = [\"value-of-information-history\"]",
}

impl Recipe for ValueOfInformationHistorySettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        check_size(task, value_of_information::MOST)?;
        // A look at steps tells more than any other job.
        if let Some(looking) = value_of_information::by_looks(task, past, usize::MAX, None) {
            return looking;
        }
        let Ok(others) = OtherJobs::take_some(task, past) else {
            return Ok(Box::new(ValueOfInformation::default()));
        };
        let mut rules = vec![SearchRule::ValueOfInformation];
        if task.space.len() <= MOST_POOLED {
            rules.push(SearchRule::ValueOfInformationPooled);
        }
        rules.extend_from_slice(SIMPLE);
        Selection::ready(rules, others)
    }
}
