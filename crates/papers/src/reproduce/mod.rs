//! Published figures beside ours.
//!
//! In: a paper's folder: what it is, its figures as expressions, its scenarios and tables. Out: one row per figure with
//! the difference and a verdict. A new paper is a folder; nothing here knows one.
//!
//! - [`paper`]: a folder of the library or of a reader, read; its form is in [`form`].
//! - [`expectations`]: the table of published figures.
//! - [`evidence`]: what a row says for the model; [`tally`]: how many say what; [`constants`]: what was chosen, and on which rows.
//! - [`readings`]: what a claim is read as; [`claims`]: in how many readings it holds.
//! - [`names`]: what expressions can name: the model's functions, the paper's own, its tables.
//! - [`stage`]: a scenario of a paper, read with what the paper sets beside it.
//! - [`compare`](mod@compare): figure against figure; [`comparison`]: how it came out.
//! - [`render`]: as text, JSON or Markdown; [`cells`]: a row of it.

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
