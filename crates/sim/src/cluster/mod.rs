//! What a configuration of a workload is as a cluster, before any run: the truth about its steps at every size that it may
//! come to, and what a replica deals to it.

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
pub use terms::{
    Checkpoints, Chief, Elastic, Keeps, Losses, OnLoss, Pause, RecoveryTerms, Spot, Write,
};
pub use truth::Truth;
pub use truths::Truths;
pub use world::World;
