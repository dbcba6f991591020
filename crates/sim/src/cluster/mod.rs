//! What a configuration of a workload is as a cluster, before any run.
//!
//! In: a workload, configurations, what varies at random, how clusters live. Out: per configuration the
//! truth about its steps at every size that it may come to, and what a replica deals to it.
//!
//! - [`world`]: everything about a workload's configurations that is computed once; `truth`: what is true of one,
//!   [`truths`]: of all, or of very many as far as somebody asks.
//! - [`random_effects`]: what one replica deals to one configuration; `whole_steps`: of steps to the target.
//! - [`setup`]: kinds of clusters, before any configuration is known; [`terms`]: what is agreed on VMs that
//!   the provider may take away.
//! - [`groups`]: a configuration's groups of VMs and its step process at every size; [`sizes`]: from a
//!   configuration to that; `trial`: the time of an update where no formula tells it.
//! - [`batching`]: unequal workers, and the policies that set their batches; [`balance`]: on which batches
//!   those settle; [`levelling`]: where machines differ by luck.
//! - [`checkpoint`]: when a job saves its state.

pub mod balance;
pub mod batching;
pub mod checkpoint;
pub mod groups;
pub mod levelling;
pub mod random_effects;
pub mod setup;
pub mod sizes;
pub mod terms;
mod trial;
mod truth;
pub mod truths;
mod whole_steps;
pub mod world;

pub use groups::{Cluster, Group, Size};
pub use setup::{AvailabilityLevel, Kind, Setup};
pub use terms::{Checkpoints, Chief, Elastic, Keeps, Losses, OnLoss, Pause, Spot, Write};
pub use truth::Truth;
pub use truths::Truths;
pub use world::World;
