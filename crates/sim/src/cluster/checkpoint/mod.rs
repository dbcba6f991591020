//! When a job saves its state, and how long it takes with losses.
//!
//! In: the life of a VM ([`Lifetime`]), what a checkpoint and a restart cost, work left. Out: the work
//! until the next checkpoint, and expected run times. All in hours. Pure mathematics.
//!
//! - [`policy`]: what a job asks: how much work until the next checkpoint.
//! - [`periodic`]: always as much.
//! - [`young_daly`]: the interval that suits losses at a constant rate.
//! - [`dynamic`]: the work that suits the VM's age, by dynamic programming.
//! - [`since_start`]: the same by the time since the start, as published.
//! - [`drawn`]: jobs on VMs whose lives are drawn, event by event: what the formulas are checked against.
//! - [`run_time`]: expected run times with and without checkpoints, in closed form.
//!
//! [`Lifetime`]: scavsim_data::cloud::lifetimes::Lifetime

pub mod choice;
pub mod drawn;
pub mod dynamic;
pub mod periodic;
pub mod policy;
pub mod run_time;
pub mod since_start;
pub mod young_daly;

pub(crate) use choice::between_losses_h;
pub use dynamic::{DynamicSchedule, LossOdds, ScheduleError, Task};
pub use periodic::Periodic;
pub use policy::Policy;
pub use since_start::SinceStart;
pub use young_daly::YoungDaly;
