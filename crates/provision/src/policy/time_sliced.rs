//! The time to the deadline in equal slices, each with its share of the work, greedy in each.

use super::{Policy, order};
use crate::life::desk::Desk;

/// Time-sliced.
#[derive(Debug)]
pub struct TimeSliced {
    /// Seconds of a slice.
    pub slice_s: f64,
}

impl Policy for TimeSliced {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        let slices = (desk.elapsed_s() / self.slice_s).floor() + 1.0;
        let end_s = (slices * self.slice_s).min(desk.deadline_s());
        let due_s = desk.work_s() * end_s / desk.deadline_s() - desk.done_s();
        let left_s = end_s - desk.elapsed_s();
        let has_spot = (desk.running()).is_some_and(|place| place.market == crate::life::Market::Spot);
        let start_up_s = match desk.running() {
            Some(_) => desk.start_up_left_s(),
            None => desk.changeover_s(),
        };
        if has_spot {
            return;
        }
        if due_s <= 0.0 && desk.running().is_some() {
            desk.stop();
        }
        let on_demand_must_run = due_s > 0.0 && due_s + start_up_s + desk.tick_s() > left_s;
        if on_demand_must_run && desk.running().is_some() {
            return;
        }
        let zones = order::by_price(desk, desk.checkpoint());
        if !order::try_in_order(desk, &zones) && on_demand_must_run {
            let zone = desk.checkpoint().unwrap_or_else(|| order::cheapest_on_demand(desk));
            desk.go_on_demand(zone);
        }
    }
}
