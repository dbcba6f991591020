//! Published figures compared with ours.
//!
//! - [`functions`]: the functions of the model for expressions ([`scavsim_read::expression`]), by name.
//! - [`reproduce`]: a paper's folder, its expressions, verdicts; independent of any paper.

pub mod functions;
pub mod reproduce;
