//! One binary for all integration tests; a module per topic.

mod documented;
mod fidelity;
mod replay;
mod reproduction;
