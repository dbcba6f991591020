//! Markets over time, and policies that decide during a run where a job goes on.
//!
//! A [`job`] with its [`forms`] runs in a [`world`] under a [`policy`], tick by tick ([`policy_run`]). A [`study`] compares policies with
//! each other and with the [`clairvoyant`].

pub mod clairvoyant;
pub mod forms;
pub mod job;
pub mod policy;
pub mod policy_run;
mod record;
pub mod study;
pub mod subject;
pub mod world;

/// What users of the crate `scavsim` may rely on, of this floor.
pub mod face {
    pub use crate::policy::{Net, Policy, Recipe};
    pub use crate::policy_run::events::{Event, LastLook};
    pub use crate::policy_run::policy_view::PolicyView;
    pub use crate::policy_run::{Market, Place};
    pub use crate::study::Study;
}
