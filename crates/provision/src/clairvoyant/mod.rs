//! The least cost of a job with full knowledge of the market: a lower bound of all policies.
//!
//! A shortest path with a resource (Handler and Zang 1980; Dumitrescu and Boland 2003): states are ticks and machines, the resource is
//! work, in nanoseconds. `instance` has states and steps, `relaxation` lower bounds of the rest, `frontier` work done against money
//! spent; `search` goes forwards in time, without what the bounds exclude.

mod frontier;
mod instance;
mod relaxation;
mod search;

use crate::job::Job;
use crate::policy::{Net, Policy};
use crate::policy_run::outcome::Outcome;
use crate::policy_run::policy_view::PolicyView;
use crate::policy_run::timeline::Timeline;
use crate::policy_run::{Market, live, watch};
use crate::world::Window;
use instance::Instance;
use search::Rental;

#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// Lower bound in USD over runs in time, or late at a price. Where `is_exact`, the least cost, less at most 10⁻⁹ of it for rounding.
    pub bound_usd: f64,
    /// Whether the cheapest schedule was found and proven.
    pub is_exact: bool,
    /// Outcome of the cheapest schedule found.
    pub outcome: Outcome,
}

/// The least cost of a life. `None` where the work cannot be done in time or, if being late has a price, in the window.
pub fn optimum(window: Window<'_>, job: &Job) -> Option<Optimum> {
    let schedule = search::cheapest(&Instance::new(window, job))?;
    let outcome = live(window, job, &mut Follower(&schedule.ticks));
    Some(Optimum {
        bound_usd: schedule.bound_usd,
        is_exact: schedule.is_exact,
        outcome,
    })
}

/// The cheapest schedule found, as a life with its timeline.
pub fn watch_optimum(window: Window<'_>, job: &Job) -> Option<(Outcome, Timeline)> {
    let schedule = search::cheapest(&Instance::new(window, job))?;
    Some(watch(window, job, &mut Follower(&schedule.ticks)))
}

#[derive(Debug)]
struct Follower<'s>(&'s [Option<Rental>]);

impl Policy for Follower<'_> {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let Some(rental) = self.0.get(view.tick()) else {
            // What rounding has left is done by what it has.
            return;
        };
        if rental.is_none_or(|rental| rental.is_start) {
            view.stop();
        }
        match *rental {
            Some(Rental { place, form, .. }) if place.market == Market::Spot => {
                view.try_spot_as(place.zone, form);
            }
            Some(Rental { place, form, .. }) => {
                view.go_on_demand_as(place.zone, form);
            }
            None => {}
        }
    }

    fn net(&self) -> Net {
        Net::None
    }
}
