//! The least that a job can cost whoever knows what comes, and a schedule that costs as much.
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
use crate::life::desk::Desk;
use crate::life::outcome::Outcome;
use crate::life::{Market, Place, live};
use crate::policy::{Net, Policy};
use crate::world::Window;
use instance::Instance;

/// Machines that are rented in a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rental {
    /// Where, and how.
    pub place: Place,
    /// Number of the form.
    pub form: usize,
    /// Whether they are started in this tick, even in place of the same ones.
    pub is_start: bool,
}

/// What to rent when.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// What it has in each tick until the work is done; `None` where it waits.
    pub ticks: Vec<Option<Rental>>,
    /// USD that no life undercuts. What the schedule costs is above it by less than 1e-9 of it.
    pub bound_usd: f64,
    pub is_exact: bool,
}

/// The cheapest schedule through a window, and what it comes to; `None` where the work cannot be done in time, or, if being
/// late has a price, in the window at all.
pub fn optimum(window: Window<'_>, job: &Job) -> Option<(Schedule, Outcome)> {
    let schedule = search::cheapest(&Instance::new(window, job))?;
    let outcome = live(window, job, &mut Follower(&schedule));
    Some((schedule, outcome))
}

/// A policy that follows a schedule.
#[derive(Debug)]
struct Follower<'s>(&'s Schedule);

impl Policy for Follower<'_> {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        let Some(rental) = self.0.ticks.get(desk.tick()) else {
            // What rounding has left is done by what it has.
            return;
        };
        if rental.is_none_or(|rental| rental.is_start) {
            desk.stop();
        }
        match *rental {
            Some(Rental { place, form, .. }) if place.market == Market::Spot => {
                desk.try_spot_as(place.zone, form);
            }
            Some(Rental { place, form, .. }) => {
                desk.go_on_demand_as(place.zone, form);
            }
            None => {}
        }
    }

    fn net(&self) -> Net {
        Net::None
    }
}
