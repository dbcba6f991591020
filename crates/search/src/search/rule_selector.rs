//! Which simple rule was best on earlier jobs, by what each would have come to there over all runs: the rule for this job, too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::other_jobs::OtherJobs;
use super::selection::{SIMPLE, Selection};
use super::{Past, Recipe, Strategy, Task, UnusableStrategy};
use scavsim_base::{Declaration, Declared};

/// Settings of the strategy `rule-selector`.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RuleSelectorSettings {}

impl Declared for RuleSelectorSettings {
    const DECLARATION: Declaration = Declaration {
        name: "rule-selector",
        what: "of average-best, cheapest, dearest, cheapest@3 and dearest@3 the one that would have been best on other jobs",
        formula: "probes: those of the rule of the least mean total on other jobs, each judged without its own program",
        source: "Rice, The algorithm selection problem, 1976",
        example: "search.strategies = [\"rule-selector\"]",
    };
}

impl Recipe for RuleSelectorSettings {
    fn build(
        &self,
        task: &Task<'_>,
        past: &mut Past<'_>,
    ) -> Result<Box<dyn Strategy>, UnusableStrategy> {
        let others = OtherJobs::take_from_past(task, past)?;
        Ok(Box::new(Selection::new(SIMPLE.to_vec(), others)))
    }
}
