//! One binary for all integration tests; a module per topic.

mod fidelity;
mod replay;
mod reproduction;
