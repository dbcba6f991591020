//! Spot machines only, whatever becomes of the deadline.

use super::{Net, Policy, order};
use crate::life::desk::Desk;

/// Spot only: waits while no zone has machines.
#[derive(Debug, Default)]
pub struct SpotOnly;

impl Policy for SpotOnly {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        if desk.running().is_none() {
            let zones = order::by_price(desk, desk.checkpoint());
            order::try_in_order(desk, &zones);
        }
    }

    fn net(&self) -> Net {
        Net::None
    }
}
