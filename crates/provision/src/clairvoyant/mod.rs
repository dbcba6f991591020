//! The cheapest way for whoever knows what comes: dynamic programming over the known traces, zones, forms and egress included.
//!
//! Decisions are made as ticks begin; work is counted in parts of what speed 1 does in a tick, so fine that work, start-ups and
//! speeds are whole numbers of parts where 20 in a tick are enough for that: then no way is cheaper. Else work and start-ups
//! are rounded up and speeds down, and what comes out is a way that can be gone, but may not be the cheapest.
//!
//! - `ground`: all that does not change with work done.
//! - `stride`: how far work comes in some time.
//! - `costs`: what the rest costs in a tick, from the next ones.
//! - `way`: what to rent when.
//! - `program`: those costs, backwards in time; and the way, forwards.

mod costs;
mod ground;
mod program;
mod stride;
mod way;

use crate::job::Job;
use crate::life::desk::Desk;
use crate::life::outcome::Outcome;
use crate::life::{Market, live};
use crate::policy::{Net, Policy};
use crate::world::Window;
use ground::Ground;
pub use way::{Rented, Way};

/// The cheapest way through a window, and what it comes to; `None` where the work cannot be done in time, or, if being
/// late has a price, in the window at all.
pub fn optimum(window: Window<'_>, job: &Job) -> Option<(Way, Outcome)> {
    let ground = Ground::new(window, job)?;
    let way = program::cheapest(&ground)?;
    // Whoever knows what comes writes a checkpoint before machines are lost.
    let loses_nothing = Job {
        checkpoint_every_s: None,
        ..job.clone()
    };
    let outcome = live(window, &loses_nothing, &mut Follows(&way));
    Some((way, outcome))
}

/// Follows a way.
#[derive(Debug)]
struct Follows<'w>(&'w Way);

impl Policy for Follows<'_> {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        // Start-ups end within a tick: work may be done a tick before the way says.
        let Some(Rented { place, form }) = self.0.ticks.get(desk.tick()).copied().flatten() else {
            desk.stop();
            return;
        };
        match place.market {
            Market::Spot => desk.try_spot_as(place.zone, form),
            Market::OnDemand => desk.go_on_demand_as(place.zone, form),
        };
    }

    fn net(&self) -> Net {
        Net::None
    }
}
