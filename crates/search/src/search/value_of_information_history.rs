//! Search by the value of information with earlier runs of other jobs: they shape what is believed beforehand, and where a plainer
//! rule would have come to less on them, that is followed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::others::Others;
use super::selection::{Rule, SIMPLE, Selection};
use super::{Depends, Forecast, Past, Recipe, Strategy, Task, Unusable};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_base::{Declaration, Declared};

/// Settings of search by the value of information with earlier runs of other jobs.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ValueOfInformationHistorySettings {}

impl Declared for ValueOfInformationHistorySettings {
    const DECLARATION: Declaration = Declaration {
        name: "value-of-information-history",
        what: "value-of-information with beliefs that earlier runs of other jobs shape, or the plainer rule that would have been best on them",
        formula: "probes: runs to the target, while what they are expected to save over R runs is more than they cost; means and covariances pooled over other jobs",
        source: "this project; Bonilla, Chai & Williams 2007, Rice 1976",
        example: "search.strategies = [\"value-of-information-history\"]",
    };
}

impl Recipe for ValueOfInformationHistorySettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        super::value_of_information::check_size(task)?;
        let others = Others::take(task, past)?;
        let mut rules = vec![Rule::ValueOfInformationPooled, Rule::ValueOfInformation];
        rules.extend_from_slice(SIMPLE);
        Ok(Box::new(WithHistory(Selection::new(rules, others))))
    }
}

struct WithHistory(Selection);

impl Strategy for WithHistory {
    fn depends(&self) -> Depends {
        Depends::BOTH
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        self.0.search(task, testbed, stream, forecast)
    }
}
