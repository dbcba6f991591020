//! Spot machines only, whatever becomes of the deadline.

use serde::Deserialize;

use super::{Net, Policy, Recipe, order};
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::{Declaration, Declared};

/// Spot only: waits while no zone has machines.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpotOnly {}

impl Policy for SpotOnly {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            let zones = order::by_price(view, view.checkpoint());
            order::try_in_order(view, &zones);
        }
    }

    fn net(&self) -> Net {
        Net::None
    }
}

impl Declared for SpotOnly {
    const DECLARATION: Declaration = Declaration {
        name: "spot-only",
        what: "spot machines only; waits while no zone has any, and may be late",
        formula: "the cheapest zone first, the region of the last loss last",
        source: "common practice",
        example: "policy.names = [\"spot-only\"]",
    };
}

impl Recipe for SpotOnly {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
