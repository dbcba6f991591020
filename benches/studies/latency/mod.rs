//! Srifty's question on measurements of its kind: how long a step takes in a set-up that was never seen, and whether a
//! choice by such answers keeps a limit on time or money.
//!
//! In: measured workloads. Out: per way of hiding set-ups how far off the answers are, and what choices by them come to.
//! Nothing of what is asked is known to what answers.
//!
//! - [`hidden`]: set-ups hidden in four ways, and the answers. [`choices`]: choices within limits. [`text`](mod@text): both as a document.

pub mod choices;
pub mod hidden;
pub mod text;
