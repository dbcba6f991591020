//! Spot while there is any, on demand from the last moment that keeps the deadline.

use serde::Deserialize;

use super::{Policy, Recipe, order};
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::{Declaration, Declared};

/// Greedy with a safety net.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Greedy {}

impl Policy for Greedy {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            let zones = order::by_price(view, view.checkpoint());
            order::try_in_order(view, &zones);
        }
    }
}

impl Declared for Greedy {
    const DECLARATION: Declaration = Declaration {
        name: "greedy",
        what: "spot machines while there are any, on demand from the last moment that keeps the deadline",
        formula: "the cheapest zone first, the region of the last loss last",
        source: "Wu and others, NSDI 2024",
        example: "policy.names = [\"greedy\"]",
    };
}

impl Recipe for Greedy {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
