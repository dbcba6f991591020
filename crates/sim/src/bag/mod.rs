//! Bags of independent jobs on transient VMs: some jobs side by side, each on some VMs, until enough of them are done.
//!
//! In: how many jobs, how long each, on which terms VMs are held and lost. Out: when the bag is done, which VMs were held
//! until then and what for. It knows no price and no strategy.
//!
//! - [`terms`]: what a bag is, and on which terms it runs.
//! - [`reuse`]: whether a VM that has run a job gets the next.
//! - [`notice`]: when a loss is noticed. [`logged_bags`]: as it was logged, with bags that were.
//! - [`run`]: a bag from its first request to its last job; [`slots`]: where it stands; `rental`: its VMs; [`vms`]: those that
//!   were held.
//! - [`formula`]: what a job costs in expectation, by formula.

pub mod formula;
pub mod logged_bags;
pub mod notice;
mod rental;
pub mod reuse;
pub mod run;
pub mod slots;
pub mod terms;
pub mod vms;

pub use notice::Notice;
pub use reuse::Reuse;
pub use run::BagEnd;
pub use slots::{BagJob, BagRunSpec, Run};
pub use terms::{Bag, BagChoices, BagSize, Loss, Surrogate};
