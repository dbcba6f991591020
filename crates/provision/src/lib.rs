//! Markets over time, and policies that decide during a run where a job goes on.
//!
//! - [`world`]: what zones offer and cost over time: traces, processes, moves between zones.
//! - [`job`]: what is to be done, until when, and what being late costs.
//! - [`forms`]: sizes and VM types that a job can run on, and how fast it is in each.
//! - [`policy_run`]: a job under a policy, tick by tick.
//! - [`policy`]: the policies, one file each.
//! - [`clairvoyant`]: the cheapest way for whoever knows what comes.
//! - [`study`]: policies beside each other.

pub mod clairvoyant;
pub mod forms;
pub mod job;
pub mod policy;
pub mod policy_run;
pub mod study;
pub mod world;

/// What users of the crate `scavsim` may rely on, of this floor.
pub mod face {
    pub use crate::policy::{Net, Policy, Recipe};
    pub use crate::policy_run::events::{Event, LastLook};
    pub use crate::policy_run::policy_view::PolicyView;
    pub use crate::policy_run::{Market, Place};
    pub use crate::study::Study;
}
