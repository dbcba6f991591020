//! Published figures beside ours.
//!
//! In: a paper's scenario, or a file of its own kind, and its table of expected figures. Out: one
//! row per figure with the difference and a verdict. A new paper is a file, a table and one entry in
//! [`papers`]; code only for a quantity that no paper had before.
//!
//! - [`papers`]: the papers that can be reproduced, one entry each; [`paper`]: what such an entry is.
//! - [`expectations`]: the table of expected figures; [`selector`]: which cell a figure is of.
//! - [`figures`]: what they are compared with: quantities by name, and what all kinds of them share.
//! - [`stage`]: a paper's scenario, ready to be asked.
//! - [`quantity`]: how each quantity of a scenario is computed, by name; [`transient`]: those of kinds of clusters whose
//!   VMs are taken away while they train.
//! - [`compare`](mod@compare): figure against figure; [`comparison`]: how it came out.
//! - [`render`]: as text, JSON or Markdown.

pub mod compare;
pub mod comparison;
pub mod expectations;
pub mod figures;
pub mod paper;
pub mod papers;
pub mod quantity;
pub mod render;
pub mod selector;
pub mod stage;
pub mod transient;

pub use comparison::{Comparison, Verdict};
pub use paper::{Paper, compare};
pub use papers::PAPERS;
