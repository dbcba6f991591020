//! When a job saves its state, and how long it takes with losses.
//!
//! In: the life of a VM ([`Lifetime`]), what a checkpoint and a restart cost, work left. Out: the work
//! until the next checkpoint, and expected run times. All in hours. Pure mathematics: no events, no draws.
//!
//! - [`policy`]: what a job asks: how much work until the next checkpoint.
//! - [`periodic`]: always as much.
//! - [`young_daly`]: the interval that suits losses at a constant rate.
//! - [`dynamic`]: the work that suits the VM's age, by dynamic programming.
//! - [`run_time`]: expected run times with and without checkpoints, in closed form.
//!
//! [`Lifetime`]: crate::cloud::lifetimes::Lifetime

pub mod choice;
pub mod dynamic;
pub mod periodic;
pub mod policy;
pub mod run_time;
pub mod young_daly;

pub(crate) use choice::between_losses_h;
pub use dynamic::{Dynamic, Losses, Refused, Task};
pub use periodic::Periodic;
pub use policy::Policy;
pub use young_daly::YoungDaly;
