//! Spot while there is any, on demand from the last moment that keeps the deadline.

use super::{Policy, order};
use crate::life::desk::Desk;

/// Greedy with a safety net.
#[derive(Debug, Default)]
pub struct Greedy;

impl Policy for Greedy {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        if desk.running().is_none() {
            let zones = order::by_price(desk, desk.checkpoint());
            order::try_in_order(desk, &zones);
        }
    }
}
