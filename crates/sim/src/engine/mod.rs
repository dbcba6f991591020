//! The discrete-event kernel: a simulated clock and a deterministic event queue.
//!
//! It knows nothing of machine learning, clusters or prices. Events are plain values; equal times
//! leave the queue in the order in which they entered, so a run is a function of its input.
//!
//! - [`queue`]: the queue and the clock it drives.
//! - `lane`: events that are scheduled together.
//! - `sort`: how these are sorted.
//! - [`interrupt`]: how both are stopped from outside.
//! - [`parallelism`]: whether what is computed once is shared out among threads.

pub mod interrupt;
mod lane;
pub mod parallelism;
pub mod queue;
mod sort;

pub use interrupt::Interrupt;
pub use parallelism::Parallelism;
pub use queue::Queue;
