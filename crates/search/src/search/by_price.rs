//! What an optimiser of prices takes that knows nothing of the job: the lowest price per hour, or the highest, unseen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Depends, Forecast, Past, Recipe, Strategy, Task, Unusable};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_base::{Declaration, Declared};

/// Settings of the strategy `cheapest`: none.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheapestSettings {}

/// Settings of the strategy `dearest`: none.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DearestSettings {}

impl Declared for CheapestSettings {
    const DECLARATION: Declaration = Declaration {
        name: "cheapest",
        what: "the lowest price per hour, without a look at the job",
        formula: "probes: none; if the lowest price fails, the next",
        source: "usual baseline",
        example: "search.strategies = [\"cheapest\"]",
    };
}

impl Recipe for CheapestSettings {
    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        Ok(Box::new(ByPrice { sign: 1.0 }))
    }
}

impl Declared for DearestSettings {
    const DECLARATION: Declaration = Declaration {
        name: "dearest",
        what: "the highest price per hour, without a look at the job",
        formula: "probes: none; if the highest price fails, the next",
        source: "usual baseline",
        example: "search.strategies = [\"dearest\"]",
    };
}

impl Recipe for DearestSettings {
    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        Ok(Box::new(ByPrice { sign: -1.0 }))
    }
}

struct ByPrice {
    /// 1 for the lowest, −1 for the highest.
    sign: f64,
}

impl Strategy for ByPrice {
    fn depends(&self) -> Depends {
        Depends::PRICES
    }

    fn search(
        &self,
        task: &Task<'_>,
        _: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let hour = |at: usize| Some(self.sign * task.prices?.usd_per_hour(at)?);
        let priced = (0..task.space.len()).filter_map(|at| Some((at, hour(at)?)));
        let mut order: Vec<(usize, f64)> = priced.collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let mut order = order.into_iter().map(|(at, _)| at);
        forecast.decided = order.next();
        forecast.instead.extend(order);
        match forecast.decided {
            Some(_) => Ok(()),
            None => {
                let why = "no configuration has a price before it was run";
                Err(Stop::Failed(why.to_owned()))
            }
        }
    }
}
