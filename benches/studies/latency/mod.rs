//! Srifty's question on similar measurements: how long a step is in an unseen set-up, and whether a choice by such
//! predictions meets a limit on time or money.
//!
//! In: measured workloads. Out: for each way of hiding set-ups the errors of the predictions, and the results of choices by
//! them. The predictions use no hidden data.
//!
//! - [`hidden`]: set-ups hidden in four ways, and predictions. [`choices`]: choices within limits. [`text`](mod@text): a document of both.

pub mod choices;
pub mod hidden;
pub mod text;
