//! The life of a job: request VMs → start-up → restore → train → release, through all losses.
//!
//! In: a cluster and what one replica deals to it. Out: the steps to the target through all losses,
//! replacements, checkpoints and changes of size, on the job's clock and in its ledger.
//!
//! - [`lifecycle`]: one job; `stage`: its clock and its books; `ledger_snapshot`: these when it came to its mark.
//! - `run`: training through it all; `work`: how far it has come; `members`: who is there meanwhile.
//! - `present_vms`: which VMs there are at a moment, and when the next is lost or ready, without a look at all of them.
//! - [`sketch`]: the same in outline, for expectations; [`outlook`]: the mean of outlines, where a formula tells it.
//! - [`totals`]: what came of it, for the statistical price.

mod ledger_snapshot;
pub mod lifecycle;
mod members;
pub mod outlook;
mod present_vms;
mod run;
pub mod sketch;
mod stage;
pub mod totals;
mod vm;
mod work;

pub(crate) use ledger_snapshot::LedgerSnapshot;
pub use lifecycle::{Job, TrainingResult};
pub use outlook::Outlook;
pub use sketch::{Sketch, SketchResult};
pub use totals::Totals;
