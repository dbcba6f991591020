//! The time to the deadline in equal slices, each with its share of the work, greedy in each.

use super::{Policy, order};
use crate::policy_run::Market;
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;
use scavsim_base::units::SimTime;
use scavsim_read::input::checked::Positive;

settings! {
    /// Time-sliced.
    pub struct TimeSliced {
        /// Hours of a slice.
        pub slice_h: Positive = Positive::new(6.0).expect("it is positive"),
    }

    name: "time-sliced",
    what: "the time to the deadline in equal slices, each with its share of the work; greedy in each",
    formula: "due at the end of a slice: work x its end / deadline",
    source: "Wu and others, NSDI 2024",
    example: "policy.names = [\"time-sliced\"]",
}

impl Policy for TimeSliced {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if (view.running()).is_some_and(|place| place.market == Market::Spot) {
            return;
        }
        let (times, slice) = (
            view.times(),
            SimTime::from_seconds(3600.0 * self.slice_h.get()),
        );
        let slice = slice.nanoseconds().max(1);
        let ns = |time: SimTime| i128::from(time.nanoseconds());
        let end = (times.now.nanoseconds() / slice + 1).saturating_mul(slice);
        let end = SimTime::from_nanoseconds(end).min(times.deadline);
        let start_up = match view.running() {
            Some(_) => times.start_up_left,
            None => times.changeover,
        };
        // Work that is due at the end of the slice, times the deadline.
        let due = ns(times.work) * ns(end) - ns(times.done) * ns(times.deadline);
        let spare = ns(end) - ns(times.now + start_up + times.tick);
        if due <= 0 && view.running().is_some() {
            view.stop();
        }
        let on_demand_must_run = due > 0 && due > spare * ns(times.deadline);
        if on_demand_must_run && view.running().is_some() {
            return;
        }
        if !order::try_by_price(view, view.checkpoint()) && on_demand_must_run {
            let due_s = due as f64 / ns(times.deadline) as f64 / 1e9;
            view.go_on_demand(view.cheapest_on_demand(due_s));
        }
    }
}
