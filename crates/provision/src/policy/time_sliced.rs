//! The time to the deadline in equal slices, each with its share of the work, greedy in each.

use serde::Deserialize;

use super::{Policy, Recipe, order};
use crate::life::Market;
use crate::life::desk::Desk;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::checked::Positive;

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
        let has_spot = (desk.running()).is_some_and(|place| place.market == Market::Spot);
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
            let zone = desk
                .checkpoint()
                .unwrap_or_else(|| order::cheapest_on_demand(desk));
            desk.go_on_demand(zone);
        }
    }
}

/// Settings of the policy `time-sliced`.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimeSlicedSettings {
    /// Hours of a slice.
    pub slice_h: Positive,
}

impl Default for TimeSlicedSettings {
    fn default() -> Self {
        TimeSlicedSettings {
            slice_h: Positive::new(6.0).expect("it is positive"),
        }
    }
}

impl Declared for TimeSlicedSettings {
    const DECLARATION: Declaration = Declaration {
        name: "time-sliced",
        what: "the time to the deadline in equal slices, each with its share of the work; greedy in each",
        formula: "due at the end of a slice: work x its end / deadline",
        source: "Wu and others, NSDI 2024",
        example: "policy.names = [\"time-sliced\"]",
    };
}

impl Recipe for TimeSlicedSettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(TimeSliced {
            slice_s: 3600.0 * self.slice_h.get(),
        })
    }
}
