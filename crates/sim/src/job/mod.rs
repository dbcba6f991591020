//! The life of a job: request VMs → start-up → restore → train → release, through all losses, replacements, checkpoints and
//! changes of size, on the job's clock and in its ledger.

pub mod lifecycle;
mod members;
pub mod outlook;
mod present_vms;
mod run;
pub mod sketch;
mod stage;
pub mod totals;
mod work;

pub use lifecycle::{Job, TrainingResult};
pub use outlook::Outlook;
pub use sketch::{Sketch, SketchResult};
pub use totals::Totals;
