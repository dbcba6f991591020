//! Clusters that change while they train.
//!
//! In: a configuration as groups of VMs, the terms they are rented on, how its workers come
//! together, and what one replica deals. Out: the steps to the target through all losses,
//! replacements, checkpoints and changes of size, on the job's clock and in its ledger.
//!
//! - [`terms`]: what is agreed on VMs that the provider may take away.
//! - [`cluster`]: a configuration's groups of VMs and its step process at every size.
//! - [`balance`]: batches of unlike workers that suit their speed.
//! - [`build`]: from a configuration of a workload to its cluster.
//! - [`setup`]: kinds of clusters, before any configuration is known.
//! - [`roster`]: which VMs there are at a moment, and when the next is lost or ready.
//! - [`market`]: losses that take several VMs at once.
//! - `run`: training through it all; `members`: who is there meanwhile; `saving`: when checkpoints are written;
//!   `trial`: the time of an update where no formula tells it.
//! - [`totals`]: what came of it, for the statistical price.

pub mod balance;
pub mod build;
pub mod cluster;
pub mod market;
mod members;
pub mod roster;
mod run;
mod saving;
pub mod setup;
pub mod terms;
pub mod totals;
mod trial;

pub use cluster::{Group, LiveCluster, Size};
pub use roster::Roster;
pub use setup::{Kind, Setup};
pub use terms::{Checkpoints, Chief, Elastic, Keeps, Losses, OnLoss, Pause, Spot, Write};
pub use totals::Totals;
