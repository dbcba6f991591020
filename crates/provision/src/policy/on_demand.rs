//! On demand from the first to the last tick.

use serde::Deserialize;

use super::{Policy, Recipe};
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::{Declaration, Declared};

/// On demand only.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OnDemandOnly {}

impl Policy for OnDemandOnly {
    fn decide(&mut self, desk: &mut PolicyView<'_, '_>) {
        if desk.running().is_none() {
            let zone = desk.cheapest_on_demand(desk.work_s());
            desk.go_on_demand(zone);
        }
    }
}

impl Declared for OnDemandOnly {
    const DECLARATION: Declaration = Declaration {
        name: "on-demand",
        what: "machines on demand from the first to the last tick",
        formula: "wherever the whole costs least",
        source: "common practice",
        example: "policy.names = [\"on-demand\"]",
    };
}

impl Recipe for OnDemandOnly {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
