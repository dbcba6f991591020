//! On demand from the first to the last tick.

use super::{Policy, order};
use crate::life::desk::Desk;

/// On demand only.
#[derive(Debug, Default)]
pub struct OnDemandOnly;

impl Policy for OnDemandOnly {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        if desk.running().is_none() {
            let zone = order::cheapest_on_demand(desk);
            desk.go_on_demand(zone);
        }
    }
}
