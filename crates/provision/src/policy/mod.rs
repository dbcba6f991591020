//! Policies: each decides, tick by tick, where a job goes on. One file and one line in [`registry`] each.

pub mod greedy;
pub mod on_demand;
pub mod order;
pub mod price_threshold;
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

    /// Whether the job goes on demand at the last moment that keeps its deadline, whatever the policy says.
    fn has_safety_net(&self) -> bool {
        true
    }
}
