//! Spot while there is any, on demand from the last moment that keeps the deadline.

use super::{Policy, order};
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;

settings! {
    /// Greedy with a safety net.
    pub struct Greedy {}

    name: "greedy",
    what: "spot machines while there are any, on demand from the last moment that keeps the deadline",
    formula: "the cheapest zone first, the region of the last loss last",
    source: "Wu and others, NSDI 2024",
    example: "policy.names = [\"greedy\"]",
}

impl Policy for Greedy {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            order::try_by_price(view, view.checkpoint());
        }
    }
}
