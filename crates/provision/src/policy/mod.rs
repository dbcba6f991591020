//! Policies: each decides, tick by tick, where a job goes on. One file and one line in [`registry`] each.

pub mod cost_to_go;
pub mod greedy;
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
    /// It goes on demand, unless it has spot machines that work: when they are lost there is still time.
    Patient,
    /// It goes on demand, from whatever it has.
    Strict,
}
