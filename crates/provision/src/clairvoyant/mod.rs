//! The least that a job can cost whoever knows the market: a lower bound of all policies.
//!
//! It is a shortest path with a resource: states are ticks and machines, the resource is work, in nanoseconds. Starts, bills,
//! checkpoints and losses are those of a life. It is solved as such problems are (Handler and Zang 1980; Dumitrescu and
//! Boland 2003):
//!
//! - `instance`: states, and the steps from one tick to the next.
//! - `relaxation`: lower bounds of what the rest costs, from work at a price.
//! - `frontier`: work done against money spent, without what is no better in either.
//! - `search`: forwards in time, without what the lower bounds exclude.

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

/// What is known of the least cost of a life.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// Lower bound of a run's cost in USD: of runs that are in time, or late at a price, none costs less. Where `is_exact`, the
    /// least cost, reduced by at most 10⁻⁹ of it for errors of rounding.
    pub bound_usd: f64,
    /// Whether the cheapest schedule was found and proven to be it.
    pub is_exact: bool,
    /// What the cheapest schedule that was found comes to.
    pub outcome: Outcome,
}

/// The least cost of a life in a window. `None` where the work cannot be done in time, or, if being late has a price, in the window
/// at all.
pub fn optimum(window: Window<'_>, job: &Job) -> Option<Optimum> {
    let schedule = search::cheapest(&Instance::new(window, job))?;
    let outcome = live(window, job, &mut Follower(&schedule.ticks));
    Some(Optimum {
        bound_usd: schedule.bound_usd,
        is_exact: schedule.is_exact,
        outcome,
    })
}

/// The cheapest schedule that was found, with what happens when in it.
pub fn watch_optimum(window: Window<'_>, job: &Job) -> Option<(Outcome, Timeline)> {
    let schedule = search::cheapest(&Instance::new(window, job))?;
    Some(watch(window, job, &mut Follower(&schedule.ticks)))
}

/// A policy that follows a schedule.
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
