//! Published figures beside ours.
//!
//! In: a paper's scenario, or a file of its own kind, and its table of expected figures. Out: one
//! row per figure with the difference and a verdict. A new paper is a file, a table and one entry in
//! [`papers`]; code only for a quantity that no paper had before.
//!
//! - [`papers`]: the papers that can be reproduced.
//! - [`expectations`]: the table of expected figures; [`selector`]: which cell a figure is of.
//! - [`stage`]: the paper's scenario, ready to be asked.
//! - [`quantity`]: how each quantity of a scenario is computed, by name.
//! - [`transient`]: quantities of kinds of clusters whose VMs are taken away while they train.
//! - [`unequal`]: the same for clusters of unequal workers, from a file of jobs and clusters.
//! - [`preemptions`]: for jobs on VMs that are taken away, from a file of lives, jobs and policies.
//! - [`transient_gpus`]: for asynchronous training on GPU VMs that can be revoked.
//! - [`comparison`]: figure against figure, and the verdict.
//! - [`render`]: as text, JSON or Markdown.

pub mod comparison;
pub mod expectations;
pub mod papers;
pub mod preemptions;
pub mod quantity;
pub mod render;
pub mod selector;
pub mod stage;
pub mod transient;
pub mod transient_gpus;
pub mod unequal;

pub use comparison::{Comparison, Verdict, compare};
pub use papers::{PAPERS, Paper};
