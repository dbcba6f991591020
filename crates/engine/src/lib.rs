//! The discrete-event kernel: a simulated clock and a deterministic event queue. It is independent of machine learning,
//! clusters and prices. Equal times leave the queue in the order in which they entered, so a run is a function of its input.

pub mod interrupt;
mod lane;
pub mod parallelism;
pub mod queue;
mod sort;

pub use interrupt::Interrupt;
pub use parallelism::Parallelism;
pub use queue::Queue;
