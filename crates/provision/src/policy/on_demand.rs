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
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            let zone = view.cheapest_on_demand(view.work_s());
            view.go_on_demand(zone);
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
