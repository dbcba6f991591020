//! Spot machines only, whatever becomes of the deadline.

use super::{Net, Policy, order};
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;

settings! {
    /// Spot only: waits while no zone has machines.
    pub struct SpotOnly {}

    name: "spot-only",
    what: "spot machines only; waits while no zone has any, and may be late",
    formula: "the cheapest zone first, the region of the last loss last",
    source: "common practice",
    example: "policy.names = [\"spot-only\"]",
}

impl Policy for SpotOnly {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            order::try_by_price(view, view.checkpoint());
        }
    }

    fn net(&self) -> Net {
        Net::None
    }
}
