//! Policies: each decides, tick by tick, where a job goes on. One file and one line in [`registry`] each.

pub mod cost_to_go;
pub mod greedy;
pub mod keep_pace;
pub mod on_demand;
mod order;
pub mod price_threshold;
pub mod registry;
pub mod skynomad;
pub mod spot_only;
pub mod time_sliced;
pub mod uniform_progress;

use std::fmt;

use crate::life::desk::Desk;
use crate::world::Window;

/// Decides where a job goes on. It is asked as each tick begins, after losses.
pub trait Policy: fmt::Debug {
    /// Decides.
    fn decide(&mut self, desk: &mut Desk<'_, '_>);

    /// What keeps the deadline, whatever the policy says.
    fn net(&self) -> Net {
        Net::Patient
    }
}

/// What happens at the last moment that keeps a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Net {
    /// Nothing.
    None,
    /// The job goes on demand, unless it has spot machines that work: when they are lost there is still time.
    Patient,
    /// The job goes on demand, from whatever it has.
    Strict,
}

/// What a policy is made from: its settings.
pub trait Recipe: fmt::Debug + Send + Sync {
    /// A policy for one life.
    fn policy(&self) -> Box<dyn Policy>;

    /// A policy that is told what comes, where it is one of those; it is a bound, and nobody can have it.
    fn knowing(&self, _future: Window<'_>) -> Option<Box<dyn Policy>> {
        None
    }
}
