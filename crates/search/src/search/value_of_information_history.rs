//! Search by the value of information with earlier runs of other jobs in its beliefs. Without other jobs, on very large grids, and
//! where steps can be looked at, it is the plain strategy.

use super::other_jobs::OtherJobs;
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
    what: "value-of-information with the runs of other jobs in its beliefs, each weighed by how well it predicts them",
    formula: "probes: runs to the target, while what they are expected to save over R runs is more than they cost; means and covariances pooled over other jobs",
    source: "this project; Bonilla, Chai & Williams 2007",
    example: "search.strategies = [\"value-of-information-history\"]",
}

impl Recipe for ValueOfInformationHistorySettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        check_size(task, value_of_information::MOST)?;
        // A look at steps tells more than any other job.
        if let Some(looking) = value_of_information::by_looks(task, past, usize::MAX, None) {
            return looking;
        }
        let others = OtherJobs::take_some(task, past).ok();
        let others = others.filter(|_| task.space.len() <= MOST_POOLED);
        Ok(Box::new(others.map_or_else(
            ValueOfInformation::default,
            ValueOfInformation::pooled,
        )))
    }
}
