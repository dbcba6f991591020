//! Published figures compared with ours: a paper's folder (its figures as expressions, scenarios, tables) gives one row per
//! figure with the difference and a verdict. A new paper is a folder; this code is independent of any paper.

pub mod cells;
pub mod claims;
pub mod compare;
pub mod comparison;
pub mod constants;
pub mod evidence;
pub mod expectations;
pub mod form;
pub mod names;
pub mod paper;
pub mod readings;
pub mod render;
pub mod stage;
pub mod tally;

pub use claims::Claim;
pub use compare::compare;
pub use comparison::{Comparison, Verdict};
pub use constants::Constant;
pub use evidence::Evidence;
pub use paper::Paper;
pub use stage::Size;
pub use tally::Tally;
