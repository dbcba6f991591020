//! How long VMs take to start, workers to join again, and checkpoints to be written.
//!
//! In: tables of `data/clouds/delays/`. Out: delays in seconds, each a mean with a spread that can be drawn.
//!
//! - [`delay`]: a positive time around its mean.
//! - [`startup`]: from the request of a VM until it runs.
//! - [`restart`]: until a worker trains that joins or joins again.
//! - [`checkpoint_write`]: writing a checkpoint of so many MB.

pub mod checkpoint_write;
pub mod delay;
pub mod restart;
pub mod startup;

pub use checkpoint_write::CheckpointWrite;
pub use delay::Delay;
pub use restart::Restart;
pub use startup::Startup;
