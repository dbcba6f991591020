//! Partial search, by its name in the slides of Scavenger.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::partial::PartialSettings;
use super::{BuildResult, Past, Recipe, Task};
use scavsim_base::{Declaration, Declared};

/// Settings of partial search by its other name.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct OnlineSettings(PartialSettings);

impl Declared for OnlineSettings {
    const DECLARATION: Declaration = Declaration {
        name: "online",
        what: "`partial` by another name, with settings of its own",
        formula: "as `partial`",
        source: "slides of Tyagi & Sharma, Scavenger, CCGrid 2023",
        example: "strategy.online = { progress = 0.01 }",
    };
}

impl Recipe for OnlineSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        self.0.build(task, past)
    }
}
