//! On demand from the first to the last tick.

use super::Policy;
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;

settings! {
    /// On demand only.
    pub struct OnDemandOnly {}

    name: "on-demand",
    what: "machines on demand from the first to the last tick",
    formula: "wherever the whole costs least",
    source: "common practice",
    example: "policy.names = [\"on-demand\"]",
}

impl Policy for OnDemandOnly {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            let zone = view.cheapest_on_demand(view.work_s());
            view.go_on_demand(zone);
        }
    }
}
