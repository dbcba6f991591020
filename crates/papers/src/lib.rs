//! Published figures beside ours.
//!
//! - [`functions`]: what expressions ([`scavsim_read::expression`]) ask of the model, by name.
//! - [`reproduce`]: a paper's folder, its expressions, verdicts; it knows no paper.

pub mod functions;
pub mod reproduce;
