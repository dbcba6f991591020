//! Published figures beside ours.
//!
//! - [`expression`]: a small language of figures. [`functions`]: what expressions ask of the model, by name.
//! - [`reproduce`]: a paper's folder, its expressions, verdicts; it knows no paper.

pub mod expression;
pub mod functions;
pub mod reproduce;
